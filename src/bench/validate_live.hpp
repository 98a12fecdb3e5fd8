// validate --live: the phases of live_phases.hpp, run against the endpoint.
//
// Load is all it sends, and the policy does the scaling. It claims the endpoint as qmax and ttotal do (tag
// and journal, freeze.hpp), so that no two of them share it; at the end, also after an interruption, the
// desired count is what it was, and `thaw` does that for a run that was killed. Each phase that passed is
// kept in OUT/validate.partial.json, so that --resume goes on after it (on the same deployment, within a
// day). A phase is inconclusive where the driver was the limit or too many readings of the fleet failed.
// Errors: kRefused (drift, nothing to scale, a fleet that is not at its minimum), kConflict (another run
// holds the endpoint), kCancelled, those of the APIs.
#pragma once

#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "bench/live_phases.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct LiveOptions {
  bool live = false;
  bool force = false;    // go on in spite of drift
  bool dry_run = false;  // print loads, times and cost, send nothing
  bool resume = false;   // skip the phases that passed before
  std::string phases;    // some of them, by name, with commas; empty: all
  double fast = 1;       // the local cloud's --fast: its metric periods and cooldowns are so much shorter
  LoadOptions load;
};

struct LiveOutcome {
  std::vector<artifact::Check> checks;
  base::Result<void> restored;  // a failure does not make what was seen untrue
};
base::Result<LiveOutcome> run_live_phases(Session& session, const artifact::PlanArtifact& plan,
                                          const LiveEndpoint& live, double total_s,
                                          const LiveOptions& options);

}  // namespace headroom::bench
