// SpeechJob: one synthesis request from admission to its last byte.
//
// Its steps run one after another on different threads (text thread, worker, loop), never two at once; only
// `gone` may arrive at any moment, so it touches nothing but what never changes or is atomic. Segments are
// synthesised one at a time and queued again by their playback deadline, so that no stream starves another
// (SPEC 1.3). Back pressure: the next segment is queued only when the socket has taken most of the last one.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/encoder.hpp"
#include "audio/resampler.hpp"
#include "base/clock.hpp"
#include "engine/engine.hpp"
#include "net/server.hpp"
#include "serve/admission.hpp"
#include "serve/metrics.hpp"
#include "serve/scheduler.hpp"
#include "serve/speech_request.hpp"

namespace headroom::serve {

struct PlannedSegment {
  engine::Segment segment;
  double pause_before_s = 0.0;
  double pause_after_s = 0.0;
};

struct SpeechPlan {
  std::vector<PlannedSegment> segments;  // at least one
  std::size_t dropped_symbols = 0;
};

// Text to segments. Called from several threads at once. An error's context is an API error code
// ("unspeakable_text", "unsupported_language") or empty for internal.
using Planner = std::function<base::Result<SpeechPlan>(const SpeechRequest&)>;

// What jobs share; outlives every job.
struct JobContext {
  engine::Engine& engine;
  Planner planner;
  Scheduler& scheduler;
  net::Loop& loop;  // for delays
  Metrics& metrics;
  const base::Clock& clock;
  std::vector<std::string> voices;
  RequestLimits limits;
  base::Duration slo;
  base::Duration max_age;
};

class SpeechJob : public std::enable_shared_from_this<SpeechJob> {
 public:
  SpeechJob(JobContext& context, std::shared_ptr<net::Exchange> exchange,
            std::unique_ptr<Admission::Ticket> ticket, std::string route, std::uint64_t number);
  // Registers for the client's departure. Call once, before prepare().
  void watch_client();
  // Parses, plans and queues the first segment. Runs on the text thread.
  void prepare();

 private:
  void queue_next();
  void run_segment();  // on a worker
  base::Result<std::vector<float>> shape(std::vector<float> samples);
  void deliver(std::vector<float> samples);  // what shape() returned
  void finish_whole();
  bool close(std::string_view outcome);  // true for the one call that ends the job
  void end(std::string_view outcome);
  void fail(const ApiFailure& failure);
  void fail(const base::Error& error);
  base::SteadyTime deadline() const;

  JobContext& context_;
  std::shared_ptr<net::Exchange> exchange_;
  std::unique_ptr<Admission::Ticket> ticket_;
  const std::string route_;
  const std::uint64_t number_;
  const base::SteadyTime arrival_;
  SpeechRequest request_;
  SpeechPlan plan_;
  std::size_t next_ = 0;
  std::unique_ptr<audio::Encoder> encoder_;
  std::optional<audio::Resampler> resampler_;
  std::vector<float> collected_;  // not streamed: everything so far, at the rate asked for
  std::uint64_t samples_out_ = 0;
  base::SteadyTime ready_{};  // parsed and planned
  base::Duration queue_time_{};
  base::Duration synthesis_time_{};
  std::optional<base::SteadyTime> first_audio_;
  std::atomic<bool> gone_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace headroom::serve
