// FFmpeg's decoders behind its mp3 parser and a small Ogg reader (RFC 3533, RFC 7845).
#include "audio/decoder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace headroom::audio {
namespace {

constexpr std::size_t kPageHead = 27;
constexpr std::size_t kLongestPacket = 256 * 1024;

float sample_of(const AVFrame& f, int i) {
  switch (f.format) {
    case AV_SAMPLE_FMT_S16:
    case AV_SAMPLE_FMT_S16P:
      // Interleaved samples lie channel beside channel.
      return static_cast<float>(reinterpret_cast<const std::int16_t*>(
                 f.data[0])[f.format == AV_SAMPLE_FMT_S16 ? i * f.ch_layout.nb_channels : i]) /
             32768.0F;
    case AV_SAMPLE_FMT_FLT:
      return reinterpret_cast<const float*>(f.data[0])[i * f.ch_layout.nb_channels];
    default:  // FLTP, what both decoders give
      return reinterpret_cast<const float*>(f.data[0])[i];
  }
}

class FfmpegDecoder : public Decoder {
 public:
  ~FfmpegDecoder() override {
    avcodec_free_context(&codec_);
    av_packet_free(&packet_);
    av_frame_free(&frame_);
  }
  int sample_rate() const override { return rate_; }
  void finish(std::vector<float>& out) override {
    if (codec_ == nullptr || avcodec_send_packet(codec_, nullptr) < 0) return;
    receive(out);
  }

 protected:
  bool open(AVCodecID id, std::string_view extra) {
    const AVCodec* decoder = avcodec_find_decoder(id);
    codec_ = decoder == nullptr ? nullptr : avcodec_alloc_context3(decoder);
    packet_ = av_packet_alloc();
    frame_ = av_frame_alloc();
    if (codec_ == nullptr || packet_ == nullptr || frame_ == nullptr) return false;
    if (!extra.empty()) {
      codec_->extradata = static_cast<std::uint8_t*>(av_mallocz(extra.size() + AV_INPUT_BUFFER_PADDING_SIZE));
      std::memcpy(codec_->extradata, extra.data(), extra.size());
      codec_->extradata_size = static_cast<int>(extra.size());
    }
    return avcodec_open2(codec_, decoder, nullptr) >= 0;
  }
  void decode(std::string_view bytes, std::vector<float>& out) {
    if (av_new_packet(packet_, static_cast<int>(bytes.size())) < 0) return;
    std::memcpy(packet_->data, bytes.data(), bytes.size());
    const bool taken = avcodec_send_packet(codec_, packet_) >= 0;
    av_packet_unref(packet_);
    if (taken) receive(out);
  }
  AVCodecContext* codec_ = nullptr;
  std::size_t skip_ = 0;  // samples still to be cut off

 private:
  void receive(std::vector<float>& out) {
    while (avcodec_receive_frame(codec_, frame_) >= 0) {
      rate_ = frame_->sample_rate;
      for (int i = 0; i < frame_->nb_samples; ++i) {
        if (skip_ > 0) {
          --skip_;
        } else {
          out.push_back(sample_of(*frame_, i));
        }
      }
      av_frame_unref(frame_);
    }
  }
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;
  int rate_ = 0;
};

class Mp3Decoder final : public FfmpegDecoder {
 public:
  ~Mp3Decoder() override {
    if (parser_ != nullptr) av_parser_close(parser_);
  }
  bool begin() {
    parser_ = av_parser_init(AV_CODEC_ID_MP3);
    return parser_ != nullptr && open(AV_CODEC_ID_MP3, {});
  }
  void feed(std::string_view bytes, std::vector<float>& out) override {
    padded_.assign(bytes);
    padded_.append(AV_INPUT_BUFFER_PADDING_SIZE, '\0');
    const auto* at = reinterpret_cast<const std::uint8_t*>(padded_.data());
    int left = static_cast<int>(bytes.size());
    while (left > 0) {
      std::uint8_t* frame = nullptr;
      int size = 0;
      const int used =
          av_parser_parse2(parser_, codec_, &frame, &size, at, left, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
      if (used < 0 || (used == 0 && size == 0)) return;
      at += used;
      left -= used;
      if (size > 0) decode({reinterpret_cast<const char*>(frame), static_cast<std::size_t>(size)}, out);
    }
  }
  void finish(std::vector<float>& out) override {
    std::uint8_t* frame = nullptr;
    int size = 0;  // the parser holds the last frame back until the next begins
    av_parser_parse2(parser_, codec_, &frame, &size, nullptr, 0, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    if (size > 0) decode({reinterpret_cast<const char*>(frame), static_cast<std::size_t>(size)}, out);
    FfmpegDecoder::finish(out);
  }

 private:
  AVCodecParserContext* parser_ = nullptr;
  std::string padded_;
};

class OpusDecoder final : public FfmpegDecoder {
 public:
  void feed(std::string_view bytes, std::vector<float>& out) override {
    buffer_ += bytes;
    while (read_page(out)) {
    }
  }

 private:
  // One whole page off the buffer's front; false: more bytes are needed.
  bool read_page(std::vector<float>& out) {
    const auto start = buffer_.find("OggS");
    if (start == std::string::npos) {
      buffer_.erase(0, buffer_.size() - std::min<std::size_t>(buffer_.size(), 3));
      return false;
    }
    buffer_.erase(0, start);
    if (buffer_.size() < kPageHead) return false;
    const std::size_t segments = static_cast<unsigned char>(buffer_[26]);
    if (buffer_.size() < kPageHead + segments) return false;
    std::size_t body = 0;
    for (std::size_t i = 0; i < segments; ++i) body += static_cast<unsigned char>(buffer_[kPageHead + i]);
    if (buffer_.size() < kPageHead + segments + body) return false;
    std::size_t at = kPageHead + segments;
    for (std::size_t i = 0; i < segments; ++i) {
      const std::size_t size = static_cast<unsigned char>(buffer_[kPageHead + i]);
      packet_ += buffer_.substr(at, size);
      at += size;
      if (size == 255 && packet_.size() < kLongestPacket) continue;  // goes on in the next segment
      take_packet(out);
      packet_.clear();
    }
    buffer_.erase(0, at);
    return true;
  }
  void take_packet(std::vector<float>& out) {
    if (packet_.starts_with("OpusHead") && packet_.size() >= 19) {
      if (opened_) return;
      opened_ = open(AV_CODEC_ID_OPUS, packet_);
      skip_ = static_cast<std::size_t>(static_cast<unsigned char>(packet_[10]) |
                                       static_cast<unsigned char>(packet_[11]) << 8);
    } else if (opened_ && !packet_.starts_with("OpusTags") && !packet_.empty()) {
      decode(packet_, out);
    }
  }
  std::string buffer_, packet_;
  bool opened_ = false;
};

}  // namespace

base::Result<std::unique_ptr<Decoder>> Decoder::create(Format format) {
  if (format == Format::kMp3) {
    auto mp3 = std::make_unique<Mp3Decoder>();
    if (mp3->begin()) return mp3;
  }
  if (format == Format::kOpus && avcodec_find_decoder(AV_CODEC_ID_OPUS) != nullptr)
    return std::make_unique<OpusDecoder>();
  return base::fail(
      base::ErrorCode::kUnsupported,
      "there is no decoder for '" + std::string(format_name(format)) + "'; mp3 and opus have one");
}

std::optional<Format> sniff_encoded(std::string_view first) {
  if (first.starts_with("OggS")) return Format::kOpus;
  const auto byte = [&first](std::size_t i) { return static_cast<unsigned char>(first[i]); };
  if (first.starts_with("ID3")) return Format::kMp3;
  if (first.size() >= 2 && byte(0) == 0xFF && (byte(1) & 0xE0) == 0xE0) return Format::kMp3;
  return std::nullopt;
}

}  // namespace headroom::audio
