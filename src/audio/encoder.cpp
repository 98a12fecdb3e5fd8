// Names and media types of the formats, and the two that need no codec; see encoder.hpp.
#include "audio/encoder.hpp"

#include <array>

#include "audio/ffmpeg_encoder.hpp"
#include "audio/pcm.hpp"
#include "audio/resampler.hpp"

namespace headroom::audio {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct FormatRow {
  Format format;
  std::string_view name;
  std::string_view content_type;
};
// audio/pcm, not audio/L16: that name means big-endian (RFC 2586).
constexpr std::array<FormatRow, 6> kFormats{{{Format::kWav, "wav", "audio/wav"},
                                             {Format::kPcm, "pcm", "audio/pcm"},
                                             {Format::kMp3, "mp3", "audio/mpeg"},
                                             {Format::kOpus, "opus", "audio/ogg; codecs=opus"},
                                             {Format::kFlac, "flac", "audio/flac"},
                                             {Format::kAac, "aac", "audio/aac"}}};

const FormatRow& row_of(Format format) {
  for (const auto& row : kFormats) {
    if (row.format == format) return row;
  }
  return kFormats[0];
}

bool is_plain(Format format) { return format == Format::kWav || format == Format::kPcm; }

class PcmEncoder final : public Encoder {
 public:
  std::string head(std::optional<std::uint64_t>) override { return {}; }
  Result<std::string> encode(std::span<const float> samples) override { return to_s16le(samples); }
  Result<std::string> finish() override { return std::string(); }
};

class WavEncoder final : public Encoder {
 public:
  WavEncoder(int sample_rate, bool streamed) : sample_rate_(sample_rate), streamed_(streamed) {}
  std::string head(std::optional<std::uint64_t> samples) override {
    std::optional<std::uint64_t> bytes;
    if (!streamed_ && samples) bytes = *samples * kBytesPerSample;
    return wav_header(sample_rate_, bytes);
  }
  Result<std::string> encode(std::span<const float> samples) override { return to_s16le(samples); }
  Result<std::string> finish() override { return std::string(); }

 private:
  int sample_rate_;
  bool streamed_;
};

}  // namespace

std::string_view format_name(Format format) { return row_of(format).name; }
std::string_view content_type(Format format) { return row_of(format).content_type; }

Result<Format> parse_format(std::string_view name) {
  for (const auto& row : kFormats) {
    if (row.name == name) return row.format;
  }
  return fail(
      ErrorCode::kUnsupported,
      "format '" + std::string(name.substr(0, 32)) + "' is unknown; use wav, pcm, mp3, opus, flac or aac",
      "unsupported_format");
}

Result<Format> check_offered(Format format) {
  if (is_plain(format) || ffmpeg_has(format)) return format;
  return fail(ErrorCode::kUnsupported,
              "format '" + std::string(format_name(format)) +
                  "' needs an encoder that this FFmpeg was built without; use wav or pcm",
              "unsupported_format");
}

std::size_t frame_samples(Format format, int sample_rate) {
  return is_plain(format) ? 1 : ffmpeg_frame_samples(format, sample_rate);
}

Result<std::unique_ptr<Encoder>> Encoder::create(Format format, int sample_rate, bool streamed) {
  if (auto ok = check_offered(format); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_sample_rate(sample_rate); !ok) return tl::unexpected(ok.error());
  if (format == Format::kPcm) return std::unique_ptr<Encoder>(new PcmEncoder());
  if (format == Format::kWav) return std::unique_ptr<Encoder>(new WavEncoder(sample_rate, streamed));
  return make_ffmpeg_encoder(format, sample_rate, streamed);
}

}  // namespace headroom::audio
