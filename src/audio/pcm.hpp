// Samples to bytes: float mono to signed 16-bit little-endian PCM, and the WAV header in front of it.
//
// No dithering: the same samples always give the same bytes. Units: samples nominally in [-1, 1]; outside is
// clamped, NaN becomes 0. Pure functions, safe from any thread; they return no errors.
// Source: WAVE_FORMAT_PCM in the RIFF file format (44-byte header: RIFF, fmt of 16 bytes, data).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace headroom::audio {

inline constexpr std::size_t kBytesPerSample = 2;
inline constexpr std::size_t kWavHeaderBytes = 44;

// round-to-nearest-even of x * 32767; -1 and 1 are symmetric.
std::int16_t to_s16(float sample);
std::string to_s16le(std::span<const float> samples);
void append_s16le(std::span<const float> samples, std::string& out);

// Mono, 16 bits. data_bytes known: true sizes. Unknown (streamed): both size fields are 0xFFFFFFFF, as
// players expect of a stream whose length nobody knows yet. A length that does not fit 32 bits is written as
// 0xFFFFFFFF too.
std::string wav_header(int sample_rate, std::optional<std::uint64_t> data_bytes);

}  // namespace headroom::audio
