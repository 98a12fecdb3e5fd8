// validate --live: the phases of live_phases.hpp, run against the endpoint.
//
// Changes nothing by itself: load is all it sends, and the policy does the scaling. At the end, also after an
// interruption, the desired count is what it was. Each finished phase is kept in OUT/validate.partial.json,
// so that --resume goes on after the last one that passed. Errors: kRefused (drift, nothing to scale, a fleet
// that is not at its minimum), kCancelled, those of the APIs.
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

// What --dry-run prints: the phases with their loads and times, and the instance hours.
std::string live_schedule(const LivePlan& plan, double fast);
double live_seconds(const LivePlan& plan);

base::Result<std::vector<artifact::Check>> run_live_phases(Session& session,
                                                           const artifact::PlanArtifact& plan,
                                                           const LiveEndpoint& live, double total_s,
                                                           const LiveOptions& options);

}  // namespace headroom::bench
