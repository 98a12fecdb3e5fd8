// Holding a rung: N outstanding for a while, then what the driver saw of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"
#include "capacity/rung.hpp"

namespace headroom::bench {

struct HoldPlan {
  int n = 1;
  base::Duration at_least{};  // total hold
  base::Duration at_most{};
  base::Duration
      judge_last{};  // fixed hold of at_most, whose last part counts; 0: adaptive, all after the transient
  double slo_ms = 3000;
  bool repeat = false;
};

struct HeldRung {
  capacity::Rung rung;
  base::WallTime from, to;       // the judged part
  std::vector<double> whole_ms;  // TTFAB of all successes of the hold, transient included
};

// Holds and judges. kCancelled when interrupted: the rung then counts for nothing.
// Adaptive holds drop the first 1.5 N completions as transient, then last until two whole metric periods (20
// s) and at least max(20, 4 N) successes are in, or at_most has passed.
base::Result<HeldRung> hold_rung(Session& session, Rig& rig, const HoldPlan& plan);

// Joins ConcurrentRequestsPerModel (10 s, Maximum) to the rungs: the median of the periods that lie wholly
// inside the judged part, over what the driver held. Waits up to two minutes for the last period to be
// published; rungs whose periods never came keep nullopt.
bool join_metric(Session& session, std::vector<HeldRung>& rungs);

// The counts of everything the driver sent.
capacity::Counts count_all(const load::Driver& driver);

}  // namespace headroom::bench
