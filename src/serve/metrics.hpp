// Metrics of one instance, in Prometheus text form, and the numbers behind them.
//
// Counters count requests, never segments, unless the name says so. Units are part of the names (_seconds,
// _bytes). Thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headroom::serve {

class Metrics {
 public:
  struct Build {
    std::string engine;
    int workers = 1;
    bool paced = false;
  };
  explicit Metrics(const Build& build);
  ~Metrics();

  void offered(std::string_view route);  // every synthesis request, refused ones too
  void accepted(std::string_view route);
  void outcome(std::string_view route, std::string_view outcome);  // ok, failed, aborted, cancelled, rejected
  void rejected(std::string_view reason);                          // an error code of the API
  // Arrival to the first audio handed to the socket; told at the end of a request that succeeded.
  void first_audio(double seconds);
  void synthesis(double seconds, double audio_seconds);  // one segment
  void playback_margin(double seconds);  // of a later segment before playback ran dry; negative: after
  void session(int change);              // WebSockets opened (+1) and closed (-1)
  void dropped_symbols(std::size_t count);
  void stage(std::string_view name, double elapsed_s);

  // What others count; read when the text is made.
  struct Readings {
    std::size_t outstanding = 0;
    std::size_t queued = 0;
    std::size_t running = 0;
    std::size_t unsent_answer_bytes = 0;
    std::uint64_t cut_answers = 0;  // since the beginning
  };
  std::string text(const Readings& readings);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headroom::serve
