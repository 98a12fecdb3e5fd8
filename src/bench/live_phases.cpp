// Loads and times of the live phases, and the verdicts on the fleet's course.
#include "bench/live_phases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace headroom::bench {
namespace {

using base::ErrorCode;
using base::fail;
using capacity::Carrier;

constexpr double kCalm = 0.8, kQuiet = 0.5, kJustAbove = 1.05, kCross = 1.3;
constexpr double kMetricS = 10, kInAlarmS = 60;
constexpr int kInDatapoints = 3;
constexpr double kDrainS = 60;
constexpr double kMissingShare = 0.2;  // of the readings

// Above the line for certain, and below twice the line where whole requests allow it: a line that was doubled
// by mistake must not be crossed.
LiveLoad above_line(const capacity::Plan& plan, double line, int instances) {
  LiveLoad load;
  const double all = line * instances;
  if (plan.policy.carrier == Carrier::kOfferedRate)
    load.rate_rps = kCross * all;
  else
    load.outstanding = std::max(static_cast<int>(std::floor(kJustAbove * all)) + 1,
                                static_cast<int>(std::min(std::ceil(kCross * all), std::floor(1.9 * all))));
  return load;
}

// A rate where the plan has one: a small line leaves no whole number of requests below it.
LiveLoad below_line(const capacity::Plan& plan, double line, int instances, double share) {
  LiveLoad load;
  if (plan.policy.rate_per_instance_rps)
    load.rate_rps = share * *plan.policy.rate_per_instance_rps * instances;
  else
    load.outstanding = std::max(1, static_cast<int>(std::floor(share * line * instances)));
  return load;
}

std::string course(const std::vector<FleetPoint>& points) {
  std::string out;
  int last = -1;
  for (const FleetPoint& p : points) {
    if (p.in_service == last) continue;
    out += fmt::format("{}{} at {:.0f} s", out.empty() ? "" : ", ", p.in_service, p.at_s);
    last = p.in_service;
  }
  return out;
}

}  // namespace

base::Result<LivePlan> plan_live(const capacity::Plan& plan, double total_s) {
  if (plan.max_instances <= plan.min_instances)
    return fail(ErrorCode::kRefused,
                fmt::format("the plan keeps {} instances always: there is no scaling to validate under load",
                            plan.min_instances));
  if (!plan.scale_out_target || !(*plan.scale_out_target > 0))
    return fail(ErrorCode::kInvalidData, "the plan has no scale-out line; plan again");
  const bool rate = plan.policy.carrier == Carrier::kOfferedRate;
  // Concurrency lines are in metric units; the load is held in outstanding requests.
  const double line =
      rate ? *plan.scale_out_target : *plan.scale_out_target / plan.calibration_ratio.value_or(1);
  LivePlan live;
  live.start = plan.min_instances;
  live.calm = below_line(plan, line, live.start, kCalm);
  const LiveLoad quiet = below_line(plan, line, live.start, kQuiet);
  if (quiet.outstanding < line * live.start) live.quiet = quiet;
  live.cross = above_line(plan, line, live.start);
  const double growth = std::max(plan.headroom, 1.0);
  live.surge_count =
      std::clamp(static_cast<int>(std::ceil(live.start * growth)) + 1, live.start + 1, plan.max_instances);
  // Above the line of one instance less, so that nothing smaller than surge_count is below it.
  live.surge =
      rate ? LiveLoad{0, kJustAbove * line * (live.surge_count - 1)}
           : LiveLoad{static_cast<int>(std::floor(kJustAbove * line * (live.surge_count - 1))) + 1, 0};
  live.surge.rate_rps = std::max(live.surge.rate_rps, live.cross.rate_rps);
  live.surge.outstanding = std::max(live.surge.outstanding, live.cross.outstanding);
  if (plan.queue_limit > 0) {
    live.below_limit = std::max(1, static_cast<int>(std::floor(0.8 * plan.queue_limit * live.start)));
    live.above_limit = static_cast<int>(std::ceil(1.4 * plan.queue_limit * live.start)) + 1;
  }
  live.calm_s = 4 * kMetricS;
  live.quiet_s =
      5 * kMetricS;  // three datapoints, the period that is cut, and one until a count is asked for
  live.arrive_s = total_s + 2 * kMetricS;  // and the periods that a breach and a reading may miss
  live.surge_s = live.arrive_s + (live.surge_count - live.start) * (total_s + plan.scale_out_cooldown_s);
  live.first_in_s = kInAlarmS * (kInDatapoints + 2) + kDrainS;
  live.each_in_s = plan.scale_in_cooldown_s + kInAlarmS;
  live.late_out_s = 3 * kMetricS + kInAlarmS;
  // Percentage steps may go beyond what the surge needs, at most to the maximum.
  live.scale_in_s =
      live.late_out_s + live.first_in_s + std::max(0, plan.max_instances - live.start - 1) * live.each_in_s;
  live.step_s = plan.scale_in_cooldown_s;
  return live;
}

void FleetCourse::add(const FleetPoint& point) {
  points.push_back(point);
  longest_gap_s = std::max(longest_gap_s, point.at_s - known_s_);
  known_s_ = point.at_s;
}

void FleetCourse::miss(double at_s, std::string reason) {
  ++missing;
  longest_gap_s = std::max(longest_gap_s, at_s - known_s_);
  why = std::move(reason);
}

PhaseResult unless_unread(PhaseResult judged, const FleetCourse& course, double longest_gap_s) {
  const auto readings = course.points.size() + static_cast<std::size_t>(course.missing);
  const bool few = course.missing > kMissingShare * static_cast<double>(readings);
  if (course.missing == 0 || (!few && course.longest_gap_s <= longest_gap_s)) return judged;
  judged.verdict = PhaseVerdict::kInconclusive;
  judged.found = fmt::format("{} of {} readings of the fleet failed, for up to {:.0f} s on end; the last: {}",
                             course.missing, readings, course.longest_gap_s, course.why);
  judged.remedy = fmt::format("run the phase again when the endpoint's API answers (--phases {}{})",
                              judged.id == "scale_in" ? "surge_absorption," : "", judged.id);
  return judged;
}

PhaseResult unless_never_grown(PhaseResult judged, const LivePlan& plan,
                               const std::vector<FleetPoint>& points) {
  const bool grown =
      std::any_of(points.begin(), points.end(), [&](const FleetPoint& p) { return p.desired > plan.start; });
  if (grown) return judged;
  judged.verdict = PhaseVerdict::kInconclusive;
  judged.found = "no phase before it made the fleet grow, so that there was nothing to scale in";
  judged.remedy = "run it behind a phase that does (--phases surge_absorption,scale_in)";
  return judged;
}

PhaseResult unless_client_bound(PhaseResult judged, const std::string& why) {
  if (why.empty()) return judged;
  judged.verdict = PhaseVerdict::kInconclusive;
  judged.found = fmt::format("the driver was the limit: {}{}{}", why,
                             judged.found.empty() ? "" : "; seen: ", judged.found);
  judged.remedy = "run tts-bench from a machine with a core to spare";
  return judged;
}

std::string level_of(PhaseVerdict verdict) {
  switch (verdict) {
    case PhaseVerdict::kPassed:
      return "OK";
    case PhaseVerdict::kFailed:
      return "ERROR";
    case PhaseVerdict::kInconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

std::optional<PhaseResult> judge_quiet(const LivePlan& plan, const std::vector<FleetPoint>& points) {
  const auto asked =
      std::find_if(points.begin(), points.end(), [&](const FleetPoint& p) { return p.desired > plan.start; });
  if (asked == points.end()) return std::nullopt;
  PhaseResult out = judge_scale_out(plan, {});
  out.wanted = "nothing asked for at half the line, then " + out.wanted;
  out.found =
      fmt::format("{} instances asked for at half the line, after {:.0f} s", asked->desired, asked->at_s);
  return out;
}

PhaseResult judge_scale_out(const LivePlan& plan, const std::vector<FleetPoint>& points) {
  PhaseResult out;
  out.id = "scale_out";
  out.wanted =
      fmt::format("more than {} in service within {:.0f} s of crossing the line", plan.start, plan.arrive_s);
  out.remedy =
      "compare alarm, policy and suspend flags with the plan: tts-bench validate; then tts-bench apply";
  if (points.empty()) return out;
  const auto arrived = std::find_if(points.begin(), points.end(),
                                    [&](const FleetPoint& p) { return p.in_service > plan.start; });
  const bool asked =
      std::any_of(points.begin(), points.end(), [&](const FleetPoint& p) { return p.desired > plan.start; });
  out.pass_if(arrived != points.end() && arrived->at_s <= plan.arrive_s);
  if (arrived != points.end())
    out.found = fmt::format("{} in service after {:.0f} s", arrived->in_service, arrived->at_s);
  else
    out.found = asked ? "capacity was asked for and did not come in time" : "no capacity was asked for";
  return out;
}

PhaseResult judge_surge(const LivePlan& plan, const std::vector<FleetPoint>& points, int planned_maximum) {
  PhaseResult out;
  out.id = "surge_absorption";
  out.wanted = fmt::format("{} in service within {:.0f} s, and never more than {}", plan.surge_count,
                           plan.surge_s, planned_maximum);
  out.remedy =
      "compare the target's maximum and the policy's steps and cooldown with the plan: tts-bench validate";
  int most = 0, most_desired = 0;
  for (const FleetPoint& p : points) {
    most = std::max(most, p.in_service);
    most_desired = std::max(most_desired, p.desired);
  }
  out.pass_if(most >= plan.surge_count && most_desired <= planned_maximum);
  out.found = fmt::format("at most {} in service, {} asked for", most, most_desired);
  return out;
}

PhaseResult judge_scale_in(const LivePlan& plan, const std::vector<FleetPoint>& points, double resolution_s) {
  PhaseResult out;
  out.id = "scale_in";
  out.remedy =
      "compare the scale-in alarm and cooldown with the plan: tts-bench validate; then tts-bench apply";
  if (points.empty()) return out;
  // The surge's last datapoints may still add capacity: the way in begins at the top.
  std::size_t top = 0;
  for (std::size_t i = 0; i < points.size() && points[i].at_s <= plan.late_out_s; ++i) {
    if (points[i].desired > points[top].desired) top = i;
  }
  const int steps = points[top].desired - plan.start;
  const double longest = plan.first_in_s + std::max(0, steps - 1) * plan.each_in_s + points[top].at_s;
  out.wanted = fmt::format("back to {} within {:.0f} s, steps at least {:.0f} s apart, no turn", plan.start,
                           longest, plan.step_s);
  if (steps <= 0) {
    out.found = "the fleet was at its minimum: nothing to scale in";
    return out;
  }
  std::optional<double> last_step;
  std::string wrong;
  for (std::size_t i = top + 1; i < points.size(); ++i) {
    const int change = points[i].desired - points[i - 1].desired;
    if (change > 0 && wrong.empty()) wrong = fmt::format("; turned to {} instances again", points[i].desired);
    if (change >= 0) continue;
    if (last_step && points[i].at_s - *last_step < plan.step_s - resolution_s && wrong.empty())
      wrong = fmt::format("; two steps only {:.0f} s apart", points[i].at_s - *last_step);
    if (change < -1 && wrong.empty()) wrong = fmt::format("; {} instances at once", -change);
    last_step = points[i].at_s;
  }
  const double took = points.back().at_s;
  const bool back = points.back().desired == plan.start && points.back().in_service <= plan.start;
  out.pass_if(back && took <= longest && wrong.empty());
  out.found = course(points) + (back ? "" : "; still above the minimum") + wrong;
  return out;
}

double live_seconds(const LivePlan& plan) {
  return plan.calm_s + (plan.quiet ? plan.quiet_s : 0) + plan.arrive_s + plan.surge_s + plan.first_in_s +
         std::max(0, plan.surge_count - plan.start - 1) * plan.each_in_s;
}

std::string live_schedule(const LivePlan& plan, double fast) {
  const auto load = [](const LiveLoad& l) {
    return l.outstanding > 0 ? fmt::format("{} outstanding", l.outstanding)
                             : fmt::format("{:.3g} requests/s", l.rate_rps);
  };
  std::string out = fmt::format("slo_under_load    {} for {:.0f} s\n", load(plan.calm), plan.calm_s / fast);
  out += plan.below_limit > 0 ? fmt::format("rejection_level   {}, then {} outstanding for some seconds\n",
                                            plan.above_limit, plan.below_limit)
                              : std::string("rejection_level   none: the plan has no queue limit\n");
  if (plan.quiet)
    out += fmt::format("scale_out         {} for {:.0f} s, which asks for nothing\n", load(*plan.quiet),
                       plan.quiet_s / fast);
  out += fmt::format("scale_out         {} for at most {:.0f} s\n", load(plan.cross), plan.arrive_s / fast);
  out += fmt::format("surge_absorption  {} for at most {:.0f} s, to {} instances\n", load(plan.surge),
                     plan.surge_s / fast, plan.surge_count);
  out += fmt::format("scale_in          no load for at most {:.0f} s\n", plan.scale_in_s / fast);
  return out + fmt::format("about {:.0f} min, {:.2f} instance hours", live_seconds(plan) / 60 / fast,
                           plan.surge_count * live_seconds(plan) / 3600 / fast);
}

}  // namespace headroom::bench
