// AudioProbe: what a listener would have heard of an audio stream: seconds, first audible sample, pauses of a
// player.
//
// Reads WAV (16-bit PCM), raw 16-bit PCM at a known rate, and mp3 and Ogg Opus through a decoder; of anything
// else it knows only the bytes.
// Single-threaded. Audible: above -50 dBFS, |sample| > 32768 * 10^(-50/20) = 103.6. The player starts once
// 200 ms are in its buffer (or at the end), plays in real time, and after running dry starts again once 200
// ms are there: each such pause is one underrun.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/decoder.hpp"
#include "base/clock.hpp"

namespace headroom::load {

class AudioProbe {
 public:
  // 0: the format and the rate are in the stream.
  explicit AudioProbe(int pcm_sample_rate) : rate_(pcm_sample_rate) {}

  void feed(std::string_view bytes, base::SteadyTime at);
  void end(base::SteadyTime at);

  double audio_s() const { return audio_s_; }
  std::optional<base::SteadyTime> first_audible() const { return first_audible_; }
  int underruns() const { return underruns_; }
  double underrun_s() const { return underrun_s_; }

 private:
  enum class State { kStart, kHeader, kSamples, kDecoded, kUnknown };
  void read_samples(std::string_view bytes, base::SteadyTime at);
  void decode(std::string_view bytes, base::SteadyTime at, bool last);
  bool read_header();  // true once the samples begin; the rest stays in header_
  void play(double seconds, base::SteadyTime at);

  State state_ = State::kStart;
  std::string header_;
  int rate_;
  int channels_ = 1;
  std::unique_ptr<audio::Decoder> decoder_;
  std::vector<float> decoded_;
  std::string odd_;  // a sample cut in two by the end of a chunk
  double audio_s_ = 0;
  std::optional<base::SteadyTime> first_audible_;

  bool playing_ = false;
  double buffered_s_ = 0;
  base::SteadyTime last_{};
  std::optional<base::SteadyTime> dry_since_;
  int underruns_ = 0;
  double underrun_s_ = 0;
};

}  // namespace headroom::load
