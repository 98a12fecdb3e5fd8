// Driver: closed-loop load that holds exactly N requests outstanding, and never more.
//
// N may be changed while it runs: raising ramps new slots in, lowering stops issuing until enough have ended;
// nothing is dropped. A slot whose request was refused (503) or failed waits `backoff` before its next one,
// so that a full server is asked about 20 times a second per slot and not in a spin; such slots count as
// `waiting`, not in flight. A request is issued in the callback that ended its predecessor; the driver's own
// thread only samples, ramps and wakes slots that waited. Thread safety: shared. Destroying it stops it (with
// no grace).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/record.hpp"
#include "load/target.hpp"
#include "load/window.hpp"
#include "load/workload.hpp"

namespace headroom::load {

struct DriverOptions {
  base::Duration request_timeout = std::chrono::seconds{60};
  base::Duration sample_every = std::chrono::milliseconds{100};
  base::Duration ramp_step = std::chrono::milliseconds{20};  // between two new slots
  base::Duration backoff = std::chrono::milliseconds{50};
  base::Duration cancel_patience = std::chrono::seconds{2};  // stop(): then the rest is given up on
  int event_loops = 1;  // of the Runtime behind the target: what one core means for client_bound
};

struct Live {  // for a progress line
  int asked = 0;
  int in_flight = 0;
  std::uint64_t ok = 0;
  std::uint64_t not_ok = 0;
};

class Driver {
 public:
  // `target`, `workload` and `clock` must outlive the driver. cpu_seconds: CPU time used by this process.
  Driver(Target& target, const Workload& workload, BodyFormat body, base::Clock& clock,
         DriverOptions options = {}, std::function<double()> cpu_seconds = process_cpu_seconds);
  ~Driver();

  void start();          // starts the driver's thread; nothing is sent before hold()
  void hold(int asked);  // N from now on; returns at once, the ramp goes on behind
  // Stops issuing, lets what is outstanding end within `grace`, cancels the rest (aborted, with its age),
  // stops the thread.
  void stop(base::Duration grace);

  Live live() const;
  // Ended requests and samples so far; copies. They and window() hold the loop up for no longer than a walk
  // over what ended since `from`: the copying and the sums are done beside it.
  std::vector<Record> records() const;
  std::vector<Sample> samples() const;
  WindowView window(base::SteadyTime from, base::SteadyTime to, Basis basis = Basis::kEnded) const;
  // When the n-th request since `from` ended (n from 1), whatever its outcome; nullopt: fewer have.
  std::optional<base::SteadyTime> nth_end_since(base::SteadyTime from, std::size_t n) const;

  void step();  // one turn of the driver's thread; for tests with a fake clock, instead of start()

  static double process_cpu_seconds();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks that may come late
};

}  // namespace headroom::load
