// Live phases: what validate --live asks of an endpoint under load, worked out from the plan. Pure.
//
// Five phases, in this order: slo_under_load (80 % of the line holds the SLO), rejection_level (80 % of the
// queue limit refuses nothing, 140 % refuses some with 503 and nothing else goes wrong), scale_out (half the
// line asks for nothing, so that an alarm that always rings is found; the line is crossed, and capacity
// arrives within T_total), surge_absorption (the load grows on, the fleet follows to the
// count that it needs), scale_in (the load stops, the fleet comes back to its minimum in the planned time,
// one step at a time, without turning). Loads are held closed-loop where the policy's metric is concurrency,
// so that the line is crossed for certain, and sent open-loop where it is a rate. Times are seconds of the
// endpoint's clock; with a local cloud that runs N times faster they are divided by N, inference is not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "capacity/plan.hpp"

namespace headroom::bench {

struct LiveLoad {
  int outstanding = 0;  // closed loop; 0: open
  double rate_rps = 0;  // open loop
};

struct LivePlan {
  int start = 1;                         // instances when it begins: the planned minimum
  LiveLoad calm;                         // 80 % of the line
  std::optional<LiveLoad> quiet;         // half the line; none where the smallest load lies above that
  int below_limit = 0, above_limit = 0;  // outstanding in all; 0: the plan has no queue limit
  LiveLoad cross, surge;
  int surge_count = 1;  // instances that the surge needs
  double calm_s = 0;    // how long it is held
  double quiet_s = 0;   // long enough for every datapoint of the alarm
  double arrive_s = 0;  // the longest until the new capacity is in service
  double surge_s = 0;
  double first_in_s = 0;  // the longest until the first step in has been made, and its instance has drained
  double each_in_s = 0;   // for each further step
  double late_out_s = 0;  // how long after its end a load may still add capacity
  double scale_in_s = 0;  // the longest until the minimum, from the maximum
  double step_s = 0;      // the shortest between two steps in
};

// kRefused: a plan with minimum = maximum scales nothing; kInvalidData: no line in the plan.
base::Result<LivePlan> plan_live(const capacity::Plan& plan, double total_s);

// What --dry-run prints: the phases with their loads and times, and the instance hours.
std::string live_schedule(const LivePlan& plan, double fast);
double live_seconds(const LivePlan& plan);

// One reading of the fleet.
struct FleetPoint {
  double at_s = 0;
  int desired = 0, in_service = 0;
};
// The fleet's course as it was read, second by second. A reading that failed is missing and never a value:
// a count taken for 0 or for the last one known would pass or fail a phase by itself.
struct FleetCourse {
  std::vector<FleetPoint> points;  // in order of time
  int missing = 0;
  double longest_gap_s = 0;  // the longest time without a reading
  std::string why;           // of the last that is missing

  void add(const FleetPoint& point);
  void miss(double at_s, std::string reason);

 private:
  double known_s_ = 0;  // up to when the course is known
};

enum class PhaseVerdict { kPassed, kFailed, kInconclusive };
struct PhaseResult {
  std::string id;
  PhaseVerdict verdict = PhaseVerdict::kFailed;
  std::string found, wanted, remedy;
  bool passed() const { return verdict == PhaseVerdict::kPassed; }
  void pass_if(bool good) { verdict = good ? PhaseVerdict::kPassed : PhaseVerdict::kFailed; }
};
// As judged, or inconclusive where over a fifth of the readings is missing, or all for over `longest_gap_s`.
PhaseResult unless_unread(PhaseResult judged, const FleetCourse& course, double longest_gap_s);
// scale_in as judged, or inconclusive where the fleet never grew. For runs in which no phase told why: where
// scale_out or surge_absorption passed or failed, a fleet at its minimum is what scale_in has to judge.
PhaseResult unless_never_grown(PhaseResult judged, const LivePlan& plan,
                               const std::vector<FleetPoint>& points);
// As judged, or inconclusive because the driver was the limit, for the reason given; empty: it was not.
PhaseResult unless_client_bound(PhaseResult judged, const std::string& why);
// OK, ERROR or INCONCLUSIVE, as validate.json holds it.
std::string level_of(PhaseVerdict verdict);
// Judge what was seen; `points` in order of time, their times from the phase's beginning.
PhaseResult judge_scale_out(const LivePlan& plan, const std::vector<FleetPoint>& points);
// nullopt: nothing was asked for at half the line, as it should be; else the failed scale_out.
std::optional<PhaseResult> judge_quiet(const LivePlan& plan, const std::vector<FleetPoint>& points);
PhaseResult judge_surge(const LivePlan& plan, const std::vector<FleetPoint>& points, int planned_maximum);
// resolution_s: how far the times of two steps may each be off, gaps in the readings included.
PhaseResult judge_scale_in(const LivePlan& plan, const std::vector<FleetPoint>& points, double resolution_s);

}  // namespace headroom::bench
