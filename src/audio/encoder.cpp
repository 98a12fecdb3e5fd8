// The encoders offered now, wav and pcm, and the names of those to come; see encoder.hpp.
#include "audio/encoder.hpp"

#include <array>

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
  bool offered;
};
constexpr std::array<FormatRow, 6> kFormats{{{Format::kWav, "wav", true},
                                             {Format::kPcm, "pcm", true},
                                             {Format::kMp3, "mp3", false},
                                             {Format::kOpus, "opus", false},
                                             {Format::kFlac, "flac", false},
                                             {Format::kAac, "aac", false}}};

class PcmEncoder final : public Encoder {
 public:
  std::string head(std::optional<std::uint64_t>) override { return {}; }
  std::string encode(std::span<const float> samples) override { return to_s16le(samples); }
  std::string finish() override { return {}; }
  // Not audio/L16: that name means big-endian (RFC 2586).
  std::string_view content_type() const override { return "audio/pcm"; }
};

class WavEncoder final : public Encoder {
 public:
  WavEncoder(int sample_rate, bool streamed) : sample_rate_(sample_rate), streamed_(streamed) {}
  std::string head(std::optional<std::uint64_t> samples) override {
    std::optional<std::uint64_t> bytes;
    if (!streamed_ && samples) bytes = *samples * kBytesPerSample;
    return wav_header(sample_rate_, bytes);
  }
  std::string encode(std::span<const float> samples) override { return to_s16le(samples); }
  std::string finish() override { return {}; }
  std::string_view content_type() const override { return "audio/wav"; }

 private:
  int sample_rate_;
  bool streamed_;
};

}  // namespace

std::string_view format_name(Format format) {
  for (const auto& row : kFormats) {
    if (row.format == format) return row.name;
  }
  return "wav";
}

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
  for (const auto& row : kFormats) {
    if (row.format == format && row.offered) return format;
  }
  return fail(ErrorCode::kUnsupported,
              "format '" + std::string(format_name(format)) + "' is not offered yet; use wav or pcm",
              "unsupported_format");
}

Result<std::unique_ptr<Encoder>> Encoder::create(Format format, int sample_rate, bool streamed) {
  if (auto ok = check_offered(format); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_sample_rate(sample_rate); !ok) return tl::unexpected(ok.error());
  if (format == Format::kPcm) return std::unique_ptr<Encoder>(new PcmEncoder());
  return std::unique_ptr<Encoder>(new WavEncoder(sample_rate, streamed));
}

}  // namespace headroom::audio
