// mp3, opus, flac and aac through libavcodec and libavformat; see encoder.hpp for the length rule.
#include "audio/ffmpeg_encoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "audio/pcm.hpp"
#include "audio/resampler.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
}

namespace headroom::audio {

using base::ErrorCode;
using base::Result;

namespace {

constexpr float kSilence = 0.00316F;  // -50 dBFS, as in join.hpp

struct CodecRow {
  Format format;
  const char* encoder;
  const char* muxer;
  AVSampleFormat samples;
  // Bits a second at 8, 16, 22.05/24 and 44.1/48 kHz: speech, mono, at what listeners take for the original.
  std::array<int, 4> bit_rate;
};
constexpr std::array<CodecRow, 4> kCodecs{{
    {Format::kMp3, "libmp3lame", "mp3", AV_SAMPLE_FMT_FLTP, {32000, 48000, 64000, 96000}},
    {Format::kOpus, "libopus", "ogg", AV_SAMPLE_FMT_FLT, {24000, 32000, 48000, 48000}},
    {Format::kFlac, "flac", "flac", AV_SAMPLE_FMT_S16, {0, 0, 0, 0}},
    {Format::kAac, "aac", "adts", AV_SAMPLE_FMT_FLTP, {32000, 48000, 64000, 96000}},
}};

const CodecRow& row_of(Format format) {
  for (const auto& row : kCodecs) {
    if (row.format == format) return row;
  }
  return kCodecs[0];
}

int bit_rate(const CodecRow& row, int rate) {
  return row.bit_rate[rate < 16000 ? 0 : rate < 22050 ? 1 : rate < 44100 ? 2 : 3];
}

// Opus has no 22,050 or 44,100 Hz (RFC 6716): the next rate above holds all of them.
int codec_rate(Format format, int rate) {
  if (format != Format::kOpus) return rate;
  return rate == 22050 ? 24000 : rate == 44100 ? 48000 : rate;
}

tl::unexpected<base::Error> broken(const char* step, int code = 0) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  if (code < 0) av_strerror(code, text.data(), text.size());
  return base::fail(ErrorCode::kInternal,
                    std::string("FFmpeg could not ") + step + (code < 0 ? ": " : "") + text.data(),
                    "encoder");
}

struct Freer {
  void operator()(AVCodecContext* p) const { avcodec_free_context(&p); }
  void operator()(AVFormatContext* p) const { avformat_free_context(p); }
  void operator()(AVFrame* p) const { av_frame_free(&p); }
  void operator()(AVPacket* p) const { av_packet_free(&p); }
  void operator()(AVIOContext* p) const {
    av_freep(&p->buffer);
    avio_context_free(&p);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Freer>;

// The bytes a muxer wrote. A whole answer may be rewritten at its start (lengths in headers).
struct Sink {
  std::string bytes;
  std::size_t at = 0;

  static int write(void* self, std::uint8_t* data, int size) {
    auto& sink = *static_cast<Sink*>(self);
    const auto n = static_cast<std::size_t>(size);
    if (sink.at + n > sink.bytes.size()) sink.bytes.resize(sink.at + n);
    std::copy_n(data, n, sink.bytes.begin() + static_cast<std::ptrdiff_t>(sink.at));
    sink.at += n;
    return size;
  }
  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    auto& sink = *static_cast<Sink*>(self);
    if (whence == AVSEEK_SIZE) return static_cast<std::int64_t>(sink.bytes.size());
    if (whence != SEEK_SET || offset < 0) return AVERROR(EINVAL);
    sink.at = static_cast<std::size_t>(offset);
    return offset;
  }
  std::string take() {
    at = 0;
    return std::exchange(bytes, {});
  }
};

class FfmpegEncoder final : public Encoder {
 public:
  FfmpegEncoder(Format format, bool streamed) : row_(row_of(format)), streamed_(streamed) {}

  Result<void> open(int sample_rate);
  std::string head(std::optional<std::uint64_t>) override { return streamed_ ? sink_.take() : std::string(); }
  Result<std::string> encode(std::span<const float> samples) override;
  Result<std::string> finish() override;
  std::size_t kept_bytes() const override { return sink_.bytes.size(); }

 private:
  Result<void> open_codec(int rate);
  Result<void> open_muxer();
  Result<void> accept(std::span<const float> samples);
  Result<void> send(std::span<const float> samples);
  Result<void> drain();
  void limit_packets();

  const CodecRow& row_;
  bool streamed_;
  bool hides_delay_ = false;  // the container cannot say how long the codec's delay is
  Sink sink_;
  std::optional<Resampler> resampler_;
  Owned<AVIOContext> io_;
  Owned<AVFormatContext> muxer_;
  Owned<AVCodecContext> codec_;
  Owned<AVFrame> frame_;
  Owned<AVPacket> packet_;
  std::vector<float> pending_;   // less than a frame
  std::uint64_t asked_ = 0;      // samples of the answer, at the codec's rate
  std::uint64_t fed_ = 0;        // of them, those the codec gets
  std::uint64_t quiet_end_ = 0;  // silent samples at the end so far
  std::uint64_t skip_left_ = 0;  // silent samples at the start that may still give way to the delay
  std::uint64_t packets_ = 0;    // written
  std::uint64_t packets_most_ = ~0ULL;
};

Result<void> FfmpegEncoder::open(int sample_rate) {
  const int rate = codec_rate(row_.format, sample_rate);
  if (rate != sample_rate) {
    auto resampler = Resampler::create(sample_rate, rate);
    if (!resampler) return tl::unexpected(resampler.error());
    resampler_.emplace(std::move(*resampler));
  }
  frame_.reset(av_frame_alloc());
  packet_.reset(av_packet_alloc());
  if (!frame_ || !packet_) return broken("allocate a frame");
  if (auto ok = open_codec(rate); !ok) return ok;
  if (auto ok = open_muxer(); !ok) return ok;
  hides_delay_ = row_.format == Format::kAac || (row_.format == Format::kMp3 && streamed_);
  if (hides_delay_) skip_left_ = static_cast<std::uint64_t>(codec_->initial_padding);
  return {};
}

Result<void> FfmpegEncoder::open_codec(int rate) {
  const AVCodec* codec = avcodec_find_encoder_by_name(row_.encoder);
  codec_.reset(codec == nullptr ? nullptr : avcodec_alloc_context3(codec));
  if (!codec_) return broken("find the encoder");
  codec_->sample_rate = rate;
  codec_->time_base = {1, rate};
  codec_->sample_fmt = row_.samples;
  const AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  av_channel_layout_copy(&codec_->ch_layout, &mono);
  codec_->bit_rate = bit_rate(row_, rate);
  codec_->thread_count = 1;
  codec_->flags |= AV_CODEC_FLAG_BITEXACT | AV_CODEC_FLAG_GLOBAL_HEADER;
  if (row_.format == Format::kFlac) codec_->frame_size = rate / 25;  // its own choice would hold back 0.2 s
  const int rc = avcodec_open2(codec_.get(), codec, nullptr);
  if (rc < 0) return broken("open the encoder", rc);
  return {};
}

Result<void> FfmpegEncoder::open_muxer() {
  AVFormatContext* made = nullptr;
  if (avformat_alloc_output_context2(&made, nullptr, row_.muxer, nullptr) < 0)
    return broken("open the muxer");
  muxer_.reset(made);
  constexpr int kBuffer = 4096;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
  io_.reset(avio_alloc_context(buffer, kBuffer, 1, &sink_, nullptr, &Sink::write,
                               streamed_ ? nullptr : &Sink::seek));
  AVStream* stream = avformat_new_stream(muxer_.get(), nullptr);
  if (!io_ || stream == nullptr) return broken("open the muxer");
  muxer_->pb = io_.get();
  // No random serial numbers, no version strings: the same samples give the same bytes.
  muxer_->flags |= AVFMT_FLAG_BITEXACT | AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_FLUSH_PACKETS;
  stream->time_base = codec_->time_base;
  if (avcodec_parameters_from_context(stream->codecpar, codec_.get()) < 0) return broken("open the muxer");
  AVDictionary* options = nullptr;
  if (row_.format == Format::kMp3) {
    av_dict_set(&options, "id3v2_version", "0", 0);
    av_dict_set(&options, "write_xing", streamed_ ? "0" : "1", 0);
  }
  if (row_.format == Format::kOpus) av_dict_set(&options, "page_duration", "100000", 0);  // microseconds
  const int rc = avformat_write_header(muxer_.get(), &options);
  av_dict_free(&options);
  if (rc < 0) return broken("write the header", rc);
  avio_flush(io_.get());
  return {};
}

Result<std::string> FfmpegEncoder::encode(std::span<const float> samples) {
  if (resampler_) {
    auto converted = resampler_->feed(samples);
    if (!converted) return tl::unexpected(converted.error());
    if (auto ok = accept(*converted); !ok) return tl::unexpected(ok.error());
  } else if (auto ok = accept(samples); !ok) {
    return tl::unexpected(ok.error());
  }
  return streamed_ ? sink_.take() : std::string();
}

Result<void> FfmpegEncoder::accept(std::span<const float> samples) {
  const auto loud = [](float v) { return std::abs(v) > kSilence; };
  asked_ += samples.size();
  const auto after_last = std::find_if(samples.rbegin(), samples.rend(), loud);
  const auto quiet = static_cast<std::uint64_t>(after_last - samples.rbegin());
  quiet_end_ = quiet == samples.size() ? quiet_end_ + quiet : quiet;
  if (skip_left_ > 0) {
    const auto window = samples.first(std::min<std::size_t>(samples.size(), skip_left_));
    const auto onset = std::find_if(window.begin(), window.end(), loud);
    const auto skipped = static_cast<std::size_t>(onset - window.begin());
    skip_left_ = onset == window.end() ? skip_left_ - skipped : 0;
    samples = samples.subspan(skipped);
  }
  fed_ += samples.size();
  pending_.insert(pending_.end(), samples.begin(), samples.end());
  const auto size = static_cast<std::size_t>(codec_->frame_size);
  std::size_t at = 0;
  for (; at + size <= pending_.size(); at += size) {
    if (auto ok = send(std::span(pending_).subspan(at, size)); !ok) return ok;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
  return {};
}

Result<void> FfmpegEncoder::send(std::span<const float> samples) {
  av_frame_unref(frame_.get());
  frame_->nb_samples = static_cast<int>(samples.size());
  frame_->format = codec_->sample_fmt;
  frame_->sample_rate = codec_->sample_rate;
  frame_->pts = static_cast<std::int64_t>(fed_ - pending_.size()) + (samples.data() - pending_.data());
  av_channel_layout_copy(&frame_->ch_layout, &codec_->ch_layout);
  if (av_frame_get_buffer(frame_.get(), 0) < 0) return broken("allocate a frame");
  if (row_.samples == AV_SAMPLE_FMT_S16) {
    auto* out = reinterpret_cast<std::int16_t*>(frame_->data[0]);
    std::transform(samples.begin(), samples.end(), out, to_s16);
  } else {
    // As loud as the PCM would be: codecs clip less kindly, and refuse what is not a number.
    auto* out = reinterpret_cast<float*>(frame_->data[0]);
    std::transform(samples.begin(), samples.end(), out,
                   [](float v) { return std::isnan(v) ? 0.0F : std::clamp(v, -1.0F, 1.0F); });
  }
  if (const int rc = avcodec_send_frame(codec_.get(), frame_.get()); rc < 0) return broken("encode", rc);
  return drain();
}

Result<void> FfmpegEncoder::drain() {
  for (;;) {
    const int rc = avcodec_receive_packet(codec_.get(), packet_.get());
    if (rc == AVERROR(EAGAIN) || rc == AVERROR_EOF) return {};
    if (rc < 0) return broken("encode", rc);
    packet_->stream_index = 0;
    av_packet_rescale_ts(packet_.get(), codec_->time_base, muxer_->streams[0]->time_base);
    const bool wanted = packet_->size == 0 || packets_++ < packets_most_;
    const int written = wanted ? av_write_frame(muxer_.get(), packet_.get()) : 0;
    av_packet_unref(packet_.get());
    if (written < 0) return broken("write a frame", written);
  }
}

// LAME ends with a frame more than the samples fill, which also hides the true padding from the muxer. Where
// the delay is hidden: one less still if that makes the length right and costs only silence.
void FfmpegEncoder::limit_packets() {
  if (fed_ == 0 || (row_.format != Format::kMp3 && row_.format != Format::kAac)) return;
  const auto frame = static_cast<std::uint64_t>(codec_->frame_size);
  const std::uint64_t raw = fed_ + static_cast<std::uint64_t>(codec_->initial_padding);
  const std::uint64_t full = (raw + frame - 1) / frame;
  const std::uint64_t cut = raw - (full - 1) * frame;
  const bool shorter = hides_delay_ && full * frame > asked_ + frame && quiet_end_ >= cut;
  packets_most_ = shorter ? full - 1 : full;
}

Result<std::string> FfmpegEncoder::finish() {
  if (resampler_) {
    auto rest = resampler_->flush();
    if (!rest) return tl::unexpected(rest.error());
    if (auto ok = accept(*rest); !ok) return tl::unexpected(ok.error());
  }
  limit_packets();
  if (!pending_.empty()) {
    if (auto ok = send(pending_); !ok) return tl::unexpected(ok.error());
    pending_.clear();
  }
  if (const int rc = avcodec_send_frame(codec_.get(), nullptr); rc < 0) return broken("end the stream", rc);
  if (auto ok = drain(); !ok) return tl::unexpected(ok.error());
  if (const int rc = av_write_trailer(muxer_.get()); rc < 0) return broken("end the file", rc);
  avio_flush(io_.get());
  return sink_.take();
}

}  // namespace

bool ffmpeg_has(Format format) {
  const CodecRow& row = row_of(format);
  return avcodec_find_encoder_by_name(row.encoder) != nullptr &&
         av_guess_format(row.muxer, nullptr, nullptr) != nullptr;
}

std::size_t ffmpeg_frame_samples(Format format, int sample_rate) {
  const int rate = codec_rate(format, sample_rate);
  switch (format) {
    case Format::kMp3:
      return rate < 32000 ? 576 : 1152;  // MPEG-2 and 2.5 have one granule a frame
    case Format::kOpus:
      return static_cast<std::size_t>(rate / 50);
    case Format::kFlac:
      return 1152;
    default:
      return 1024;
  }
}

Result<std::unique_ptr<Encoder>> make_ffmpeg_encoder(Format format, int sample_rate, bool streamed) {
  // Its remarks would go to stderr between the log's lines; what matters comes back as an error code.
  static std::once_flag quiet;
  std::call_once(quiet, [] { av_log_set_level(AV_LOG_FATAL); });
  auto encoder = std::make_unique<FfmpegEncoder>(format, streamed);
  if (auto ok = encoder->open(sample_rate); !ok) return tl::unexpected(ok.error());
  return std::unique_ptr<Encoder>(std::move(encoder));
}

}  // namespace headroom::audio
