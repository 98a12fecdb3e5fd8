// Resampler: changes the sample rate of a float mono stream, piece by piece, with libswresample.
//
// It does not dither, mix or change loudness. Over a whole stream (all feed() and the flush()) exactly
// round(input samples * out / in) samples come out, aligned with the input, however the input was cut into
// pieces. Units: Hz, samples. Single threaded: one object belongs to one stream. Deterministic. Errors:
// kUnsupported (context unsupported_sample_rate) for rates outside kSampleRates, kInternal if the library
// fails.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace headroom::audio {

inline constexpr int kModelRate = 24000;
inline constexpr std::array<int, 6> kSampleRates{8000, 16000, 22050, 24000, 44100, 48000};

bool is_sample_rate(int hz);
base::Result<int> check_sample_rate(std::int64_t hz);

class Resampler {
 public:
  static base::Result<Resampler> create(int in_hz, int out_hz);
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;
  ~Resampler();

  base::Result<std::vector<float>> feed(std::span<const float> samples);
  base::Result<std::vector<float>> flush();  // the end: what is still inside; the object is then spent
  int out_rate() const;

 private:
  struct State;
  explicit Resampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The samples that `in` samples become; the length rule of the class above.
std::uint64_t resampled_length(std::uint64_t in, int in_hz, int out_hz);

}  // namespace headroom::audio
