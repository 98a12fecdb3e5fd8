// The rule of the published run: concurrency target tracking out, step scaling in (docs/policies.md, section
// Published).
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity::detail {
namespace {

constexpr int kAlarmPeriodS = 60;

PolicyRule target_tracking_out(const PlanInput& input, const Plan& plan) {
  TargetTrackingRule rule;
  rule.target_value = *plan.scale_out_target;
  rule.predefined_metric = "SageMakerVariantConcurrentRequestsPerModelHighResolution";
  rule.disable_scale_in = true;  // step scaling owns the way in
  rule.scale_out_cooldown_s = plan.scale_out_cooldown_s;
  return {policy_name(input, "out"), "TargetTrackingScaling", rule, std::nullopt};
}

PolicyRule step_in(const PlanInput& input, const Plan& plan) {
  StepRule rule;
  rule.adjustment_type = "ChangeInCapacity";
  rule.steps = {{std::nullopt, 0.0, -1}};
  rule.cooldown_s = plan.scale_in_cooldown_s;
  rule.aggregation = "Average";
  return {policy_name(input, "in"), "StepScaling", std::nullopt, rule};
}

AlarmRule scale_in_alarm(const PlanInput& input, const Plan& plan) {
  AlarmRule alarm;
  alarm.name = policy_name(input, "in");
  alarm.description =
      fmt::format("Average outstanding per instance below {} for 3 minutes: one instance less.",
                  *plan.scale_in_threshold);
  alarm.purpose = "scale_in";
  alarm.policy = policy_name(input, "in");
  alarm.metric = concurrency_metric(input.endpoint, input.variant);
  alarm.statistic = "Average";
  alarm.period_s = kAlarmPeriodS;
  alarm.threshold = *plan.scale_in_threshold;
  alarm.comparison = "LessThanThreshold";
  alarm.missing_data =
      "breaching";  // without load the metric goes missing, and the fleet must still come back
  return alarm;
}

}  // namespace

base::Result<Plan> plan_published(const PlanInput& input) {
  const double h = input.headroom - 1;
  if (h >= 0.5)
    return base::fail(
        base::ErrorCode::kInvalidArgument,
        fmt::format("headroom {} leaves no scale-in threshold: the published rule needs a headroom below 1.5",
                    input.headroom));
  const auto ratio = unit_ratio(input);
  if (!ratio) return tl::unexpected(ratio.error());
  auto plan = common_plan(input);
  if (!plan) return plan;
  const double q = *input.q_max;
  const double c_max = (1 - h) * q;      // outstanding
  const double c_min = (1 - 2 * h) * q;  // outstanding
  plan->scale_out_target = c_max * *ratio;
  plan->scale_in_threshold = c_min * *ratio;
  plan->scale_out_cooldown_s = static_cast<int>(std::lround(std::clamp(*input.total_s / 2, 10.0, 30.0)));
  plan->scale_in_cooldown_s = static_cast<int>(std::max(300.0, std::floor(3 * *input.total_s / 10) * 10));
  if (h > 0) plan->safe_scale_in_minimum = ceil_up((1 - h) / h);  // r/(r-1) with r = (1-h)/(1-2h)
  const double service_s = *input.unqueued_mean_ms / 1000;
  // Little's law: rps x S outstanding in all, C_max on each.
  plan->min_instances = std::max(1, ceil_up(input.trough_rps * service_s / c_max));
  plan->max_instances = std::max(plan->min_instances, ceil_up(input.peak_rps * service_s / c_max));
  plan->utilisation = std::round(1000 * c_max / (c_max + 1)) / 1000;  // M/M/1 with L = C_max

  plan->policy.carrier = Carrier::kConcurrency;
  plan->policy.scale_out = {target_tracking_out(input, *plan)};
  plan->policy.scale_in = {step_in(input, *plan)};
  plan->policy.alarms = {scale_in_alarm(input, *plan)};
  if (auto alarm = unqueued_alarm(input, *plan)) plan->policy.alarms.push_back(*alarm);
  return plan;
}

}  // namespace headroom::capacity::detail
