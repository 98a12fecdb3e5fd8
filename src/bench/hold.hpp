// Holding a rung: N outstanding for a while, then what the driver saw of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"
#include "capacity/rung.hpp"
#include "stats/rounds.hpp"

namespace headroom::bench {

struct HoldPlan {
  int n = 1;
  base::Duration at_least{};  // no verdict before
  base::Duration at_most{};
  // Fixed hold of at_most, of which the last `judge_last` is judged, p95 against the SLO (the ladder).
  // Otherwise held until capacity::judge_bound decides at one of its looks, or at_most has passed.
  bool fixed = false;
  base::Duration judge_last{};
  double slo_ms = 3000;
  bool repeat = false;
  std::string config_name;  // EndpointConfigName when the measurement began; empty: not compared
  base::Duration
      left{};  // of the whole measurement when the hold begins, for the progress line; 0: not known
};

struct HeldRung {
  capacity::Rung rung;
  base::WallTime from, to;                     // the judged part
  std::vector<double> whole_ms;                // TTFAB of all successes of the hold, transient included
  std::optional<stats::RoundSummary> summary;  // of the judged part
  bool compared = true;                        // the endpoint could be compared with what was frozen
};

// The endpoint is found changed after the last hold: that one judges nothing, nor do those right before it
// that could not be compared at their end. How many they are.
std::size_t spoil_uncompared(std::vector<HeldRung>& rungs, const std::string& why);

// Holds and judges. kCancelled when interrupted: the rung then counts for nothing.
// The first 1.5 N completions, and what the rung before still had in flight, are dropped as transient.
base::Result<HeldRung> hold_rung(Session& session, Rig& rig, const HoldPlan& plan);

// Joins ConcurrentRequestsPerModel (10 s, Maximum) to the rungs: the median of the periods that lie wholly
// inside the judged part, over what the driver held. Waits up to two minutes for the last period to be
// published; rungs whose periods never came keep nullopt. Errors: kCancelled when interrupted meanwhile, else
// why the metric could not be read: nobody may take a missing permission for a missing metric.
base::Result<void> join_metric(Session& session, std::vector<HeldRung>& rungs);

// The counts of everything the driver sent.
capacity::Counts count_all(const load::Driver& driver);

}  // namespace headroom::bench
