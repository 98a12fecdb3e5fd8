// Findings about what the policy does under load.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/findings.hpp"

namespace headroom::capacity::detail {
namespace {

void throughput_sizing(const PlanInput& in, const Plan& p, Findings& out) {
  const double mu = p.throughput_per_instance_rps;
  std::string evidence =
      fmt::format("{} instance{} serve{} {:.0f} requests/s ({:.2f} each); {:g} requests/s need {} instances",
                  p.max_instances, p.max_instances == 1 ? "" : "s", p.max_instances == 1 ? "s" : "",
                  p.max_fleet_rps, mu, in.peak_rps, p.instances_by_throughput_peak);
  if (p.max_instances < p.instances_by_throughput_peak) {
    out.push_back({"throughput_sizing", Level::kFail, evidence,
                   fmt::format("plan with --rule recommended, or lower --peak-rps to {:.0f}",
                               std::floor(p.max_fleet_rps))});
  } else if (p.min_instances < p.instances_by_throughput_trough) {
    out.push_back({"throughput_sizing", Level::kFail,
                   fmt::format("the minimum of {} cannot carry the trough of {:g} requests/s, which needs {}",
                               p.min_instances, in.trough_rps, p.instances_by_throughput_trough),
                   "plan with --rule recommended"});
  } else if (in.allowed_max_instances && p.max_instances > *in.allowed_max_instances) {
    out.push_back(
        {"throughput_sizing", Level::kFail,
         evidence + fmt::format("; the plan's maximum of {} is above the {} that the model file allows",
                                p.max_instances, *in.allowed_max_instances),
         fmt::format("set instance.max = {} (and ask for the quota), or lower the peak", p.max_instances)});
  } else {
    out.push_back({"throughput_sizing", Level::kOk, evidence, ""});
  }
}

// Where the policy's line lies on the measured curve, in outstanding requests; nullopt for a rate.
std::optional<double> line_outstanding(const Plan& p) {
  if (p.policy.carrier == Carrier::kOfferedRate || !p.scale_out_target || !p.calibration_ratio)
    return std::nullopt;
  return *p.scale_out_target / *p.calibration_ratio;
}

void knee_finding(const PlanInput& in, const Plan& p, Findings& out) {
  const auto at = knee(in.rungs);
  const auto line = line_outstanding(p);
  if (!at) {
    out.push_back({"knee", Level::kInfo, "no throughput was measured, so the knee is unknown", ""});
  } else if (line && *line > *at) {
    out.push_back({"knee", Level::kWarn,
                   fmt::format("the scale-out line of {:g} outstanding lies above the knee at {}: the "
                               "instance is saturated long before it acts",
                               *line, *at),
                   "plan with --rule recommended, which acts below saturation"});
  } else {
    out.push_back({"knee", Level::kOk, knee_sentence(in.rungs, in.q_max), ""});
  }
}

void surges(const PlanInput& in, const Plan& p, Findings& out) {
  out.push_back(surge_survival(in, p));
  if (p.rule == Rule::kPublished) {
    out.push_back({"surge_growth", Level::kWarn,
                   fmt::format("at the scale-out line an instance already gives its full {:.2f} requests/s: "
                               "nothing is spare for growth within T_total {:.0f} s",
                               p.throughput_per_instance_rps, *in.total_s),
                   "plan with --rule recommended"});
    return;
  }
  const double u = p.utilisation;
  const double jump = in.peak_rps / std::max(in.trough_rps, 1e-9);
  std::string evidence =
      fmt::format("growth up to x{:.3g} within H = {:.0f} s is carried by spare capacity (u = {:.3g})", 1 / u,
                  *p.reaction_time_s, u);
  if (in.trough_rps > 0 && jump * u > 1) {
    evidence +=
        fmt::format("; a jump at once from trough to peak (x{:.3g}) would shed {:.0f} % for that long", jump,
                    100 * (1 - 1 / (u * jump)));
    out.push_back(
        {"surge_growth", Level::kInfo, evidence,
         fmt::format("if the load can jump so within H, give --headroom {:.3g} (about {:.1f} x the cost)",
                     jump, jump * u)});
  } else {
    out.push_back({"surge_growth", Level::kOk, evidence, ""});
  }
}

void recommended_scale_in(const Plan& p, Findings& out) {
  const bool fixed = p.max_instances <= p.min_instances;
  if (p.policy.carrier == Carrier::kOfferedRate || fixed) {
    out.push_back({"scale_in_safety", Level::kOk,
                   "the line counts the n - 1 instances that would be left, so it is safe at any n", ""});
  } else if (p.safe_scale_in_minimum && p.min_instances >= *p.safe_scale_in_minimum) {
    out.push_back({"scale_in_safety", Level::kOk,
                   fmt::format("safe from {} instances on; the minimum is {}", *p.safe_scale_in_minimum,
                               p.min_instances),
                   ""});
  } else {
    const std::string from = p.safe_scale_in_minimum
                                 ? fmt::format("below {} instances", *p.safe_scale_in_minimum)
                                 : "at any count";
    out.push_back(
        {"scale_in_safety", Level::kWarn,
         fmt::format("{}, requests that wait by chance lift the outstanding count over the scale-out line of "
                     "{:.3g} right after a step in: the fleet may turn to and fro between {} and {}",
                     from, *p.scale_out_target, p.min_instances, p.min_instances + 1),
         "plan with --carrier offered-rate, or keep more instances; at this size a turn costs one instance "
         "for a few minutes"});
  }
  out.push_back(
      {"scale_in_line", Level::kOk,
       fmt::format(
           "in by one below {:.4g} requests/s for each of the n - 1 left, {:.3g} of the scale-out rate",
           *p.scale_in_threshold, *p.scale_in_threshold / *p.policy.rate_per_instance_rps),
       ""});
}

void scale_in(const PlanInput& in, const Plan& p, Findings& out) {
  if (p.rule == Rule::kRecommended) {
    recommended_scale_in(p, out);
    return;
  }
  if (!p.safe_scale_in_minimum) {
    out.push_back({"scale_in_safety", Level::kWarn,
                   "scale-out and scale-in line are the same: every step in causes a step out",
                   "use a headroom above 1"});
  } else if (p.min_instances < *p.safe_scale_in_minimum && p.max_instances > p.min_instances) {
    out.push_back(
        {"scale_in_safety", Level::kWarn,
         fmt::format(
             "below {} instances, removing one lifts the others over the scale-out line; the minimum is {}",
             *p.safe_scale_in_minimum, p.min_instances),
         fmt::format("keep at least {} instances", *p.safe_scale_in_minimum)});
  } else {
    out.push_back({"scale_in_safety", Level::kOk,
                   fmt::format("safe from {} instances on; the minimum is {}", *p.safe_scale_in_minimum,
                               p.min_instances),
                   ""});
  }
  const auto at = knee(in.rungs);
  const double line = *p.scale_in_threshold / *p.calibration_ratio;
  if (at && line > *at) {
    out.push_back({"scale_in_line", Level::kWarn,
                   fmt::format("an average of {:g} outstanding is above the knee at {}: a nearly saturated "
                               "fleet is below the line and loses servers it needs",
                               line, *at),
                   "plan with --rule recommended"});
  } else {
    out.push_back(
        {"scale_in_line", Level::kOk, fmt::format("in by one below {:g} outstanding on average", line), ""});
  }
}

void saturating_metric(const PlanInput& in, const Plan& p, Findings& out) {
  if (p.policy.carrier == Carrier::kOfferedRate) {
    out.push_back({"saturating_metric", Level::kOk,
                   "offered requests count the refused ones: proportional beyond saturation", ""});
    return;
  }
  const double line = *line_outstanding(p);
  const double most = *in.q_max / line;
  if (p.rule == Rule::kPublished) {
    out.push_back({"saturating_metric", Level::kWarn,
                   fmt::format("concurrency stops at the queue limit of {}: however large the surge, a round "
                               "adds at most {:.0f} %",
                               *in.q_max, 100 * (most - 1)),
                   "plan with --rule recommended"});
  } else if (most < 4) {
    out.push_back({"saturating_metric", Level::kWarn,
                   fmt::format("concurrency stops at the queue limit of {}, {:.1f} x the line of {:.3g}: the "
                               "largest step at 4 x is never reached",
                               *in.q_max, most, line),
                   "plan with --carrier offered-rate (the container with --emf)"});
  } else {
    out.push_back({"saturating_metric", Level::kOk,
                   fmt::format("the queue limit of {} lies {:.0f} x above the line of {:.3g} outstanding",
                               *in.q_max, most, line),
                   ""});
  }
}

void costs(const PlanInput& in, const Plan& p, Findings& out) {
  const int fixed = ceil_up(in.peak_rps / (kSaturatedShare * p.throughput_per_instance_rps));
  if (p.min_instances >= fixed) {
    out.push_back(
        {"static_is_better", Level::kInfo,
         fmt::format("the minimum of {} already carries the peak: a static fleet of {} costs no more",
                     p.min_instances, fixed),
         fmt::format("set min = max = {} and leave scaling out", fixed)});
  } else {
    out.push_back({"static_is_better", Level::kOk,
                   fmt::format("a static fleet needs {} instances all day; the plan's minimum is {}", fixed,
                               p.min_instances),
                   ""});
  }
  if (in.price_per_hour_usd) {
    out.push_back({"fleet_cost", Level::kInfo,
                   fmt::format("{:.2f} USD/h at the minimum, {:.2f} at the maximum ({:g} an instance; the "
                               "owner checks the price)",
                               p.min_instances * *in.price_per_hour_usd,
                               p.max_instances * *in.price_per_hour_usd, *in.price_per_hour_usd),
                   ""});
  } else {
    out.push_back({"fleet_cost", Level::kInfo, "unknown: no price",
                   "set instance.price_per_hour_usd in the model file"});
  }
}

}  // namespace

void find_policy(const PlanInput& in, const Plan& plan, Findings& out) {
  throughput_sizing(in, plan, out);
  knee_finding(in, plan, out);
  surges(in, plan, out);
  scale_in(in, plan, out);
  saturating_metric(in, plan, out);
  costs(in, plan, out);
}

}  // namespace headroom::capacity::detail
