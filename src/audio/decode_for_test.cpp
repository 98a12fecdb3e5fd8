// See decode_for_test.hpp.
#include "audio/decode_for_test.hpp"

#include <algorithm>
#include <cstring>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace headroom::audio {
namespace {

struct Source {
  const std::string& bytes;
  std::size_t at = 0;

  static int read(void* self, std::uint8_t* to, int size) {
    auto& s = *static_cast<Source*>(self);
    const std::size_t n = std::min(static_cast<std::size_t>(size), s.bytes.size() - s.at);
    if (n == 0) return AVERROR_EOF;
    std::memcpy(to, s.bytes.data() + s.at, n);
    s.at += n;
    return static_cast<int>(n);
  }
  static std::int64_t seek(void* self, std::int64_t offset, int whence) {
    auto& s = *static_cast<Source*>(self);
    if (whence == AVSEEK_SIZE) return static_cast<std::int64_t>(s.bytes.size());
    if (whence != SEEK_SET || offset < 0) return AVERROR(EINVAL);
    s.at = std::min(static_cast<std::size_t>(offset), s.bytes.size());
    return offset;
  }
};

float sample_of(const AVFrame& f, int i) {
  switch (f.format) {
    case AV_SAMPLE_FMT_S16:
    case AV_SAMPLE_FMT_S16P:
      return static_cast<float>(reinterpret_cast<const std::int16_t*>(f.data[0])[i]) / 32768.0F;
    case AV_SAMPLE_FMT_S32:
    case AV_SAMPLE_FMT_S32P:
      return static_cast<float>(reinterpret_cast<const std::int32_t*>(f.data[0])[i]) / 2147483648.0F;
    default:
      return reinterpret_cast<const float*>(f.data[0])[i];
  }
}

void receive(AVCodecContext* codec, AVFrame* frame, Decoded& out) {
  while (avcodec_receive_frame(codec, frame) >= 0) {
    for (int i = 0; i < frame->nb_samples; ++i) out.samples.push_back(sample_of(*frame, i));
    av_frame_unref(frame);
  }
}

}  // namespace

Decoded decode_for_test(const std::string& bytes, const char* container) {
  Decoded out;
  Source source{bytes};
  auto* io = avio_alloc_context(static_cast<unsigned char*>(av_malloc(4096)), 4096, 0, &source, &Source::read,
                                nullptr, &Source::seek);
  AVFormatContext* file = avformat_alloc_context();
  file->pb = io;
  AVCodecContext* codec = nullptr;
  AVFrame* frame = av_frame_alloc();
  AVPacket* packet = av_packet_alloc();
  if (avformat_open_input(&file, nullptr, av_find_input_format(container), nullptr) >= 0 &&
      avformat_find_stream_info(file, nullptr) >= 0 && file->nb_streams == 1) {
    const AVCodecParameters* p = file->streams[0]->codecpar;
    const AVCodec* decoder = avcodec_find_decoder(p->codec_id);
    codec = avcodec_alloc_context3(decoder);
    avcodec_parameters_to_context(codec, p);
    codec->pkt_timebase = file->streams[0]->time_base;
    if (avcodec_open2(codec, decoder, nullptr) >= 0) {
      out.codec = avcodec_get_name(p->codec_id);
      out.rate = p->sample_rate;
      while (av_read_frame(file, packet) >= 0) {
        avcodec_send_packet(codec, packet);
        av_packet_unref(packet);
        receive(codec, frame, out);
      }
      avcodec_send_packet(codec, nullptr);
      receive(codec, frame, out);
    }
  }
  avcodec_free_context(&codec);
  av_packet_free(&packet);
  av_frame_free(&frame);
  avformat_close_input(&file);
  av_freep(&io->buffer);
  avio_context_free(&io);
  return out;
}

}  // namespace headroom::audio
