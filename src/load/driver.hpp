// Driver: closed-loop load that holds exactly N requests outstanding, and never more; or open-loop load after
// a schedule.
//
// Closed: N may be changed while it runs: raising ramps new slots in, lowering stops issuing until enough
// have ended; nothing is dropped. A slot whose request was refused (503) or failed waits `backoff` before its
// next one, so that a full server is asked about 20 times a second per slot and not in a spin; such slots
// count as `waiting`, not in flight. A request is issued in the callback that ended its predecessor. Open:
// requests start when the schedule says, whatever the server does, and their latency counts from there. Above
// `most_outstanding` they wait (cap_wait, part of the latency and reported apart); one that waited longer
// than `patience` is dropped, never sent, and counted apart. N and the schedule are dealt out over the
// target's lanes; what happens to a request happens on its lane's thread without a lock. The driver's own
// thread only samples and hands ended requests on. Thread safety: shared. Destroying it stops it (with no
// grace).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "load/record.hpp"
#include "load/schedule.hpp"
#include "load/target.hpp"
#include "load/window.hpp"
#include "load/workload.hpp"

namespace headroom::load {

struct DriverOptions {
  base::Duration request_timeout = std::chrono::seconds{60};
  base::Duration sample_every = std::chrono::milliseconds{100};
  base::Duration heartbeat = std::chrono::milliseconds{10};  // how often a lane checks that it is on time
  base::Duration ramp_step = std::chrono::milliseconds{20};  // between two new slots, and shorter where
  base::Duration longest_ramp = std::chrono::seconds{10};    // the whole ramp would take longer than this
  base::Duration backoff = std::chrono::milliseconds{50};
  base::Duration cancel_patience = std::chrono::seconds{2};  // stop(): then the rest is given up on
  double cancel_share = 0;  // of the requests, cancelled when their first audio comes (outcome aborted)
  int event_loops = 1;      // of the target: what one core means for client_bound
  std::function<void(const Record&)> on_record;  // each ended request, on the driver's thread
};

struct OpenLoop {
  Schedule schedule;  // ascending, see make_schedule
  int most_outstanding = 10'000;
  base::Duration patience = std::chrono::seconds{60};
};

struct Live {  // for a progress line
  int asked = 0;
  int in_flight = 0;
  std::uint64_t ok = 0;
  std::uint64_t not_ok = 0;
  std::uint64_t dropped = 0;  // open loop
};

class Driver {
 public:
  // `target`, `workload` and `clock` must outlive the driver. cpu_seconds: CPU time used by this process.
  Driver(Target& target, const Workload& workload, BodyFormat body, base::Clock& clock,
         DriverOptions options = {}, std::function<double()> cpu_seconds = process_cpu_seconds);
  ~Driver();

  void start();              // starts the driver's thread; nothing is sent before hold() or open()
  void hold(int asked);      // N from now on; returns at once, the ramp goes on behind
  void open(OpenLoop load);  // from now on; instead of hold(), once
  // Stops issuing, lets what is outstanding end within `grace`, cancels the rest (aborted, with its age),
  // stops the thread.
  void stop(base::Duration grace);

  Live live() const;
  // Ended requests and samples so far, in order of time; copies. Nothing here holds the load up.
  std::vector<Record> records() const;
  std::vector<Sample> samples() const;
  WindowView window(base::SteadyTime from, base::SteadyTime to, Basis basis = Basis::kEnded) const;
  // When the n-th request since `from` ended (n from 1), whatever its outcome; nullopt: fewer have.
  std::optional<base::SteadyTime> nth_end_since(base::SteadyTime from, std::size_t n) const;

  // Open loop: requests planned within [from, to) that were dropped.
  std::uint64_t dropped(base::SteadyTime from, base::SteadyTime to) const;

  // Requests started before `before` that are open and have had no byte of an answer: in no other count yet.
  std::uint64_t unheard(base::SteadyTime before) const;

  void step();  // one turn of everything; for tests with a fake clock, instead of start()

  static double process_cpu_seconds();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with callbacks that may come late
};

}  // namespace headroom::load
