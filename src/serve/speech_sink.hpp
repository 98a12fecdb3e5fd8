// SpeechSink: where the audio of one request goes, whatever the route and the transport.
//
// Calls come one at a time, in this order: begin, audio any number of times, complete; or whole alone; or
// fail, at any moment, as the last. Units are part of the names. Implementations are thread safe as far as
// on_gone and on_drained go; the rest is called by one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/api_error.hpp"

namespace headroom::serve {

// With more than this waiting for a client nothing more is made for it: about 1.4 s of 24 kHz PCM.
inline constexpr std::size_t kBufferedLimit = 64U << 10U;

struct SpeechStart {
  std::string_view content_type;
  std::string_view format;
  int sample_rate = 0;
  std::string voice;
};

// What is known of a request when its last sample is there.
struct SpeechSummary {
  struct Segment {
    double start_s = 0.0;  // in the audio of the answer
    double end_s = 0.0;
    std::size_t characters = 0;
  };
  double audio_s = 0.0;
  std::size_t characters = 0;
  std::string phonemes;
  double queue_ms = 0.0;        // arrival to the first segment's turn
  double first_audio_ms = 0.0;  // arrival to the first audio
  double synthesis_ms = 0.0;    // in the engine, all segments
  double total_ms = 0.0;
  std::vector<Segment> segments;
};

class SpeechSink {
 public:
  virtual ~SpeechSink() = default;
  virtual const std::string& request_id() const = 0;
  virtual void begin(const SpeechStart& start) = 0;
  virtual void audio(std::string bytes) = 0;
  virtual void complete(const SpeechSummary& summary) = 0;
  virtual void whole(const SpeechStart& start, std::string bytes, const SpeechSummary& summary) = 0;
  virtual void fail(const ApiFailure& failure) = 0;
  // Runs once when nobody listens any more (at once if so already).
  virtual void on_gone(std::function<void()> callback) = 0;
  // Runs once when at most `limit` bytes wait for the client, or nobody listens any more.
  virtual void on_drained(std::size_t limit, std::function<void()> callback) = 0;
};

}  // namespace headroom::serve
