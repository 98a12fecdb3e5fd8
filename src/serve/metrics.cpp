// Families and their help texts, on prometheus-cpp.
#include "serve/metrics.hpp"

#include <fstream>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <unistd.h>

namespace headroom::serve {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

prometheus::Histogram::BucketBoundaries seconds_buckets() {
  return {0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 60.0};
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& offered =
      BuildCounter()
          .Name("headroom_requests_offered_total")
          .Help("Synthesis requests that arrived, refused ones included")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& outcomes = BuildCounter()
                                                          .Name("headroom_requests_total")
                                                          .Help("Synthesis requests that ended, by outcome")
                                                          .Register(registry);
  prometheus::Family<prometheus::Counter>& rejections =
      BuildCounter()
          .Name("headroom_rejections_total")
          .Help("Refused requests by the reason given to the client")
          .Register(registry);
  prometheus::Gauge& outstanding = BuildGauge()
                                       .Name("headroom_outstanding_requests")
                                       .Help("Queued and running synthesis requests")
                                       .Register(registry)
                                       .Add({});
  prometheus::Gauge& queued = BuildGauge()
                                  .Name("headroom_queued_segments")
                                  .Help("Segments waiting for a worker")
                                  .Register(registry)
                                  .Add({});
  prometheus::Gauge& running = BuildGauge()
                                   .Name("headroom_running_segments")
                                   .Help("Segments being synthesised")
                                   .Register(registry)
                                   .Add({});
  prometheus::Gauge& unsent = BuildGauge()
                                  .Name("headroom_unsent_answer_bytes")
                                  .Help("Finished answers whose clients are taking them")
                                  .Register(registry)
                                  .Add({});
  prometheus::Counter& cut = BuildCounter()
                                 .Name("headroom_cut_answers_total")
                                 .Help("Answers cut because slow clients held too much of them")
                                 .Register(registry)
                                 .Add({});
  prometheus::Gauge& resident = BuildGauge()
                                    .Name("headroom_resident_memory_bytes")
                                    .Help("Resident memory of the process")
                                    .Register(registry)
                                    .Add({});
  prometheus::Histogram& first_audio =
      BuildHistogram()
          .Name("headroom_ttfab_seconds")
          .Help("Arrival of a request to its first audio byte, successes only")
          .Register(registry)
          .Add({}, seconds_buckets());
  prometheus::Histogram& synthesis = BuildHistogram()
                                         .Name("headroom_synthesis_seconds")
                                         .Help("Time of one segment in the engine")
                                         .Register(registry)
                                         .Add({}, seconds_buckets());
  prometheus::Counter& audio = BuildCounter()
                                   .Name("headroom_audio_seconds_total")
                                   .Help("Seconds of audio synthesised")
                                   .Register(registry)
                                   .Add({});
  prometheus::Family<prometheus::Counter>& accepted = BuildCounter()
                                                          .Name("headroom_requests_accepted_total")
                                                          .Help("Synthesis requests that were admitted")
                                                          .Register(registry);
  prometheus::Gauge& sessions = BuildGauge()
                                    .Name("headroom_websocket_sessions")
                                    .Help("Open WebSocket sessions, idle ones included")
                                    .Register(registry)
                                    .Add({});
  prometheus::Histogram& margin = BuildHistogram()
                                      .Name("headroom_playback_margin_seconds")
                                      .Help(
                                          "Time left before playback would have run dry when a later segment "
                                          "was ready; up to 0: underrun")
                                      .Register(registry)
                                      .Add({}, prometheus::Histogram::BucketBoundaries{
                                                   -1.0, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0});
  prometheus::Counter& late = BuildCounter()
                                  .Name("headroom_late_segments_total")
                                  .Help("Segments ready only after playback would have run dry")
                                  .Register(registry)
                                  .Add({});
  prometheus::Counter& dropped = BuildCounter()
                                     .Name("headroom_dropped_symbols_total")
                                     .Help("Characters or phonemes without a sound in the model")
                                     .Register(registry)
                                     .Add({});
  prometheus::Family<prometheus::Gauge>& stages = BuildGauge()
                                                      .Name("headroom_stage_seconds")
                                                      .Help("Start-up stages, seconds after process start")
                                                      .Register(registry);
};

Metrics::Metrics(const Build& build) : impl_(std::make_unique<Impl>()) {
  BuildGauge()
      .Name("headroom_build_info")
      .Help("Version and engine; paced=true means that no model speaks")
      .Register(impl_->registry)
      .Add({{"version", HEADROOM_VERSION},
            {"engine", build.engine},
            {"workers", std::to_string(build.workers)},
            {"paced", build.paced ? "true" : "false"}})
      .Set(1);
}
Metrics::~Metrics() = default;

void Metrics::offered(std::string_view route) {
  impl_->offered.Add({{"route", std::string(route)}}).Increment();
}
void Metrics::outcome(std::string_view route, std::string_view outcome) {
  impl_->outcomes.Add({{"route", std::string(route)}, {"outcome", std::string(outcome)}}).Increment();
}
void Metrics::rejected(std::string_view reason) {
  impl_->rejections.Add({{"reason", std::string(reason)}}).Increment();
}
void Metrics::first_audio(double seconds) { impl_->first_audio.Observe(seconds); }
void Metrics::synthesis(double seconds, double audio_seconds) {
  impl_->synthesis.Observe(seconds);
  impl_->audio.Increment(audio_seconds);
}
void Metrics::playback_margin(double seconds) {
  impl_->margin.Observe(seconds);
  if (seconds < 0.0) impl_->late.Increment();
}
void Metrics::session(int change) { impl_->sessions.Increment(change); }
void Metrics::accepted(std::string_view route) {
  impl_->accepted.Add({{"route", std::string(route)}}).Increment();
}
void Metrics::dropped_symbols(std::size_t count) { impl_->dropped.Increment(static_cast<double>(count)); }
void Metrics::stage(std::string_view name, double elapsed_s) {
  impl_->stages.Add({{"stage", std::string(name)}}).Set(elapsed_s);
}

std::string Metrics::text(const Readings& readings) {
  impl_->outstanding.Set(static_cast<double>(readings.outstanding));
  impl_->queued.Set(static_cast<double>(readings.queued));
  impl_->running.Set(static_cast<double>(readings.running));
  impl_->unsent.Set(static_cast<double>(readings.unsent_answer_bytes));
  impl_->cut.Increment(static_cast<double>(readings.cut_answers) - impl_->cut.Value());
  impl_->resident.Set(resident_bytes());
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace headroom::serve
