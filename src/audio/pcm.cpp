// Float samples to 16-bit PCM bytes and WAV headers; see pcm.hpp.
#include "audio/pcm.hpp"

#include <cmath>

namespace headroom::audio {
namespace {

void put_u16(std::string& out, std::uint32_t v) {
  out.push_back(static_cast<char>(v & 0xFFU));
  out.push_back(static_cast<char>((v >> 8U) & 0xFFU));
}

void put_u32(std::string& out, std::uint32_t v) {
  put_u16(out, v & 0xFFFFU);
  put_u16(out, v >> 16U);
}

constexpr std::uint32_t kUnknownSize = 0xFFFFFFFFU;

}  // namespace

std::int16_t to_s16(float sample) {
  if (std::isnan(sample)) return 0;
  const float scaled = std::nearbyint(sample * 32767.0F);
  if (scaled >= 32767.0F) return 32767;
  if (scaled <= -32767.0F) return -32767;
  return static_cast<std::int16_t>(scaled);
}

void append_s16le(std::span<const float> samples, std::string& out) {
  const std::size_t at = out.size();
  out.resize(at + samples.size() * kBytesPerSample);
  char* p = out.data() + at;
  for (const float s : samples) {
    const auto v = static_cast<std::uint16_t>(to_s16(s));
    *p++ = static_cast<char>(v & 0xFFU);
    *p++ = static_cast<char>(v >> 8U);
  }
}

std::string to_s16le(std::span<const float> samples) {
  std::string out;
  append_s16le(samples, out);
  return out;
}

std::string wav_header(int sample_rate, std::optional<std::uint64_t> data_bytes) {
  const bool known = data_bytes && *data_bytes <= kUnknownSize - 36U;
  const std::uint32_t data = known ? static_cast<std::uint32_t>(*data_bytes) : kUnknownSize;
  const auto rate = static_cast<std::uint32_t>(sample_rate);
  std::string out;
  out.reserve(kWavHeaderBytes);
  out += "RIFF";
  put_u32(out, known ? data + 36U : kUnknownSize);
  out += "WAVEfmt ";
  put_u32(out, 16);
  put_u16(out, 1);  // PCM
  put_u16(out, 1);  // mono
  put_u32(out, rate);
  put_u32(out, rate * kBytesPerSample);
  put_u16(out, kBytesPerSample);
  put_u16(out, 16);
  out += "data";
  put_u32(out, data);
  return out;
}

}  // namespace headroom::audio
