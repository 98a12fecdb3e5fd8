// SpeechJob: one synthesis request from admission to its last byte, whatever route it came by.
//
// Its steps run one after another on different threads (text thread, worker, loop), never two at once. Two
// things may come at any moment: cancel(), which touches nothing but what is atomic, and append(), which
// touches the lane only under its lock and the rest only while no step runs. Segments are synthesised one at
// a time and queued again by their playback deadline, so that no stream starves another (SPEC 1.3). Back
// pressure: the next segment is queued only when the client has taken most of the last one.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/encoder.hpp"
#include "audio/resampler.hpp"
#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "engine/engine.hpp"
#include "net/loop.hpp"
#include "serve/admission.hpp"
#include "serve/metrics.hpp"
#include "serve/piece_planner.hpp"
#include "serve/playback.hpp"
#include "serve/scheduler.hpp"
#include "serve/speech_plan.hpp"
#include "serve/speech_request.hpp"
#include "serve/speech_sink.hpp"

namespace headroom::serve {

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
  bool log_text = false;
};

class SpeechJob : public std::enable_shared_from_this<SpeechJob> {
 public:
  SpeechJob(JobContext& context, std::shared_ptr<SpeechSink> sink, std::unique_ptr<Admission::Ticket> ticket,
            std::string route, std::uint64_t number);
  // Registers for the client's departure. Call once, before anything else.
  void watch_client();
  // Plans a whole text and queues its first segment. Runs on the text thread.
  void prepare(ParsedRequest parsed);
  // The same for a text that comes in pieces: open() once with an empty text, then append() whole sentences,
  // the last call with `final`. Text thread.
  void open(ParsedRequest parsed);
  void append(const std::string& text, bool final);
  // Drops what is left; nothing more is said to the sink. Any thread. False: it had ended already.
  bool cancel(std::string_view outcome);
  // Nobody waits for it any more: its text need not be looked at. Any thread.
  bool ended() const { return ended_; }
  // Runs `step`; what it throws (no memory, a library's fault) ends this job with 500, not the process. Any
  // thread.
  void attempt(const std::function<void()>& step);
  // Ends it with an error that lies outside its own steps. Any thread.
  void refuse(const ApiFailure& failure);

 private:
  struct Lane {
    std::deque<PlannedSegment> waiting;
    std::size_t characters = 0;
    bool open = false;     // more text may come
    bool starved = false;  // open, nothing waits and no step runs
  };
  enum class Next { kSegment, kStarved, kEnd };

  bool set_up(ParsedRequest parsed);
  void submit();
  void run_segment();  // on a worker
  base::Result<std::vector<float>> shape(const PlannedSegment& planned, std::vector<float> samples,
                                         bool last);
  void deliver(std::vector<float> samples, bool last);  // what shape() returned
  void go_on();
  base::Result<std::string> last_bytes();
  void finish_stream();
  bool too_large();  // a whole answer; the job has then failed
  void finish_whole();
  SpeechStart start_of_answer() const;
  SpeechSummary summary() const;
  bool stale(base::SteadyTime now);
  bool close(std::string_view outcome);  // true for the one call that ends the job
  bool succeed();
  void log_end(std::string_view outcome, std::string_view error) const;
  bool end_badly(const ApiFailure& failure);
  void fail(const ApiFailure& failure);
  void fail(const base::Error& error);
  double audio_s() const;  // of the answer so far

  JobContext& context_;
  const std::shared_ptr<SpeechSink> sink_;
  std::unique_ptr<Admission::Ticket> ticket_;
  const std::string route_;
  const std::uint64_t number_;
  const base::SteadyTime arrival_;
  SpeechRequest request_;
  PiecePlanner pieces_;  // of a text in pieces; text thread only
  base::Guarded<Lane> lane_;
  std::size_t delivered_ = 0;
  std::unique_ptr<audio::Encoder> encoder_;
  std::optional<audio::Resampler> resampler_;
  std::string body_;  // not streamed: everything so far, coded
  std::uint64_t samples_out_ = 0;
  std::string phonemes_;
  std::vector<SpeechSummary::Segment> segments_;
  bool flushed_ = false;      // the resampler has given its rest
  base::SteadyTime ready_{};  // parsed and planned
  base::Duration queue_time_{};
  base::Duration synthesis_time_{};
  Playback playback_;
  std::atomic<bool> ended_{false};
};

}  // namespace headroom::serve
