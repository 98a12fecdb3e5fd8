// One measurement of T_total on a frozen endpoint: load, one instance more, stamps until traffic is well
// again.
//
// The instance is asked for (the clock starts when the request was accepted), or with --observe-policy the
// deployed policy is let loose until it asks, and its lag is measured. What is needed to go on after this
// process died is saved when the clock starts. Single threaded. Errors: kCancelled (interrupted), kConflict
// (the instance never came), kTimeout (the policy did not act), those of the APIs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/freeze.hpp"
#include "bench/rig.hpp"
#include "bench/stage_watch.hpp"
#include "bench/ttotal.hpp"

namespace headroom::bench {

struct Prepared {
  LiveEndpoint live;
  artifact::QmaxArtifact qmax;
  int load = 0;                // L; with --observe-policy Q_max
  double baseline_p95_ms = 0;  // at the share of L that an instance has once there is one more
};

struct Outcome {
  std::vector<capacity::Stamp> stamps;
  std::optional<std::string> stream;
  std::optional<double> lag_s;  // observed: from the load until the policy asked
  bool recovered = false;
  bool resumed = false;
};

// A measurement whose clock runs, as it is saved.
struct RunningClock {
  std::string freeze_run;  // whose freeze stands
  base::WallTime load_applied, desired_set;
  double resolution_s = 0.001;          // of desired_set
  bool observed = false;                // the policy asked: from the load until desired_set is its lag
  std::optional<double> lag_s() const;  // observed only
  int load = 0, wanted = 2;
  double baseline_p95_ms = 0;
  std::vector<std::string> old_streams;
};
std::string clock_path(const Session& session);
base::Result<void> save_clock(const Session& session, const RunningClock& clock);
// kNotFound: there is none; kInvalidData: not ours.
base::Result<RunningClock> load_clock(const Session& session);

base::Result<Outcome> measure_once(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                                   const Prepared& prepared);
base::Result<Outcome> resume_clock(const TtotalOptions& options, Session& session, Rig& rig,
                                   const RunningClock& clock);

// p95 at n outstanding from the rungs, linear between neighbours; nullopt beyond them.
std::optional<double> p95_at(const std::vector<capacity::Rung>& rungs, double n);

}  // namespace headroom::bench
