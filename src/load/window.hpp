// WindowView: counts, exact percentiles and the driver's own condition within a span of time.
//
// Pure. Latency comes from successful requests alone; every other outcome has its own count, and
// started = ok + rejected + failed + timed_out + aborted + open always holds. `open` counts requests that
// started in the window and have not ended; it is 0 once the driver has stopped, and always 0 with
// Basis::kEnded. client_bound: the driver, not the server, was the limit, so the window judges nothing
// (SPEC 2.1). True when the process used over 85 % of one core per event loop, or the mean of in flight plus
// waiting was under 97 % of N (during the ramp, of what it has come to), or the 95th percentile of the
// schedule lag was over 10 ms and over 2 % of the median TTFAB, or the loop lag was over 20 ms and 2 % (from
// ten samples on): a process that is not given its core sees answers late without using any CPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "load/record.hpp"

namespace headroom::load {

enum class Basis { kStarted, kEnded };  // which requests belong to a window

struct Percentiles {
  double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;  // ms
};

struct Waiting {  // of one request for its first byte
  base::SteadyTime from{}, to{};
};

struct WindowView {
  double seconds = 0;
  std::uint64_t started = 0, ok = 0, rejected = 0, failed = 0, timed_out = 0, aborted = 0, open = 0;
  std::optional<Percentiles> ttfab_ms;          // nullopt: no successful request
  std::optional<Percentiles> first_audible_ms;  // of those with an audible sample
  std::optional<Percentiles> total_ms;
  std::optional<Percentiles> cap_wait_ms;  // open loop only: of every request, for room under the cap
  std::vector<double> ttfab_samples_ms;    // in order of end (kEnded) or start; successes only
  std::vector<Waiting> ttfab_spans;        // when each of these waited, in the same order
  double rps = 0;                          // successes that ended in the window, per second
  double audio_s = 0;
  std::uint64_t underruns = 0;
  double in_flight_min = 0, in_flight_mean = 0, in_flight_max = 0;  // from the samples
  double held_mean = 0;                                             // in flight plus waiting
  double asked_mean = 0;                                            // follows the ramp
  std::size_t samples = 0;
  std::size_t over_limit = 0;  // samples above their limit: must be 0
  double cpu_share = 0;        // CPU seconds of this process per second
  double lag_p95_ms = 0;       // start - planned, without cap_wait
  double loop_lag_ms = 0;  // median of the samples' loop_lag: about the 93rd percentile of a callback's delay
  bool client_bound = false;
  std::string client_bound_why;
  std::map<std::string, std::uint64_t> errors;  // "503 queue_saturated" -> count; everything but ok
};

struct WindowInput {
  const std::vector<const Record*>& records;  // by pointer: a run's records are many and big
  const std::vector<Sample>& samples;
  const std::vector<base::SteadyTime>& open_starts;
};
WindowView view_window(const WindowInput& input, base::SteadyTime from, base::SteadyTime to, Basis basis,
                       int event_loops = 1);

}  // namespace headroom::load
