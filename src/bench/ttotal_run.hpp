// One measurement of T_total on a frozen endpoint: load, one instance more, stamps until traffic is well
// again.
//
// The instance is asked for (the clock starts when the request was accepted), or with --observe-policy the
// deployed policy is let loose until it asks, and its lag is measured. What is needed to go on after this
// process died is saved when the clock starts. All that this process sees is timed by the steady clock.
// Single threaded. Errors: kCancelled (interrupted), kConflict (the instance never came), kTimeout (the
// policy did not act), those of the APIs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/freeze.hpp"
#include "bench/rig.hpp"
#include "bench/stage_watch.hpp"
#include "bench/ttotal.hpp"
#include "bench/ttotal_clock.hpp"

namespace headroom::bench {

struct Prepared {
  LiveEndpoint live;
  artifact::QmaxArtifact qmax;
  int load = 0;                // L; with --observe-policy Q_max
  double baseline_p95_ms = 0;  // at the share of L that an instance has once there is one more
};

struct Outcome {
  std::vector<capacity::Stamp> stamps;  // of the steady clock
  std::optional<std::string> stream;
  std::optional<double> lag_s;  // observed: from the load until the policy asked
  double baseline_p95_ms = 0;   // that recovery was judged by
  bool recovered = false;
  bool resumed = false;
  std::optional<std::string> client_bound;  // why the driver, not the service, may have set the pace
  std::vector<std::string> notes;           // of clocks
};

base::Result<Outcome> measure_once(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                                   const Prepared& prepared);
base::Result<Outcome> resume_clock(const TtotalOptions& options, Session& session, Rig& rig,
                                   const RunningClock& clock);

// Why the driver was the limit under the load or in what was judged as recovery; nullopt: it was not.
std::optional<std::string> client_bound_why(const load::WindowView& waiting,
                                            const std::optional<load::WindowView>& recovery);

// How far it is, for a line on a terminal.
struct TtotalStanding {
  std::string reached;   // the latest stamp
  double reached_s = 0;  // since when
  double waited_s = 0, at_most_s = 0;
  int in_flight = 0;
  std::string p95;  // of the last seconds, with its unit
};
// "  container_started 4 s ago, 187 of 3600 s, in flight 10, p95 512 ms"
std::string progress_line(const TtotalStanding& standing);

// p95 at n outstanding from the rungs, linear between neighbours; nullopt beyond them.
std::optional<double> p95_at(const std::vector<capacity::Rung>& rungs, double n);

}  // namespace headroom::bench
