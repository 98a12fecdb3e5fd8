// Engine: turns the tokens of one segment into samples. Implementations: OpenVINO, ONNX Runtime,
// paced.
//
// It knows nothing of text, requests or scheduling. Units: samples are float32 mono at sample_rate(),
// nominally in [-1, 1]; token ids are those of the model's vocabulary WITHOUT the padding at both ends (the
// engine pads). Thread safety: synthesize() may be called from up to workers() threads at once; everything
// else is immutable after creation. Same segment, same samples, bit for bit, whatever the concurrency.
// Errors: kInvalidArgument (too many tokens, unknown voice, speed out of range), kInternal (the runtime
// failed).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace headroom::engine {

inline constexpr int kMaxTokens = 510;  // Kokoro's context is 512 with the two pads

// One part of a blend: voice name and weight; weights are normalised to sum 1. One part alone is a plain
// voice.
struct VoicePart {
  std::string name;
  float weight = 1.0F;
};
using Voice = std::vector<VoicePart>;

struct Segment {
  std::vector<std::int64_t> tokens;  // 1..kMaxTokens
  Voice voice;
  float speed = 1.0F;          // 0.25..4
  std::size_t characters = 0;  // of the text it came from; the paced engine derives its duration from it
  std::chrono::steady_clock::time_point
      ready{};        // when it could have been started; the paced engine's timeline
  bool first = true;  // it has a service of its own; false: the paced engine serves it with the one before
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual base::Result<std::vector<float>> synthesize(const Segment& segment) = 0;
  virtual int sample_rate() const = 0;
  virtual int workers() const = 0;
  virtual const std::vector<std::string>& voices() const = 0;  // sorted names
  virtual std::string_view name() const = 0;                   // "openvino", "onnxruntime", "paced"
  // Time outside the serial section that each request takes besides service (paced engine only).
  virtual std::chrono::nanoseconds overhead() const { return {}; }
};

}  // namespace headroom::engine
