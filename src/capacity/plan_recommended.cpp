// Rule R: sized by throughput and by the growth within the reaction time (docs/policies.md, section
// Recommended).
//
// u = min(0.9, 1/g); scale out above u*mu offered requests a second per instance; minimum ceil(g*trough/mu),
// maximum ceil(peak/(0.9 mu)); in by one when the total is under 0.9*u*mu*(n-1). Source: the capacity study,
// section 2.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity::detail {
namespace {

constexpr int kOutPeriodS = 10;
constexpr int kOutEvaluations = 3;
constexpr int kInPeriodS = 60;
constexpr int kInEvaluations = 3;
constexpr int kInEvaluationsTurning = 10;
constexpr int kInCooldownS = 300;
constexpr double kInShare = 0.9;

StepRule percent_steps(int cooldown_s, std::vector<StepRow> steps) {
  StepRule rule;
  rule.adjustment_type = "PercentChangeInCapacity";
  rule.steps = std::move(steps);
  rule.cooldown_s = cooldown_s;
  rule.min_adjustment_magnitude = 1;
  rule.aggregation = "Average";
  return rule;
}

// +25, 50, 100 % at the outstanding counts of utilisation u, 1.5u and 4u. Up to saturation the count comes
// from the measured curve; beyond it the curve is flat, and the count grows in proportion to the offered
// work.
StepRule native_steps(double line, int cooldown_s) {
  return percent_steps(cooldown_s, {{0.0, neat(0.5 * line), 25},
                                    {neat(0.5 * line), neat(3 * line), 50},
                                    {neat(3 * line), std::nullopt, 100}});
}

// ceil(n * rate / (u*mu)) as steps: the band of rate/(u*mu) says by how much; each band adds its upper end.
StepRule proportional_steps(double line, int cooldown_s) {
  constexpr std::array<std::pair<double, int>, 9> kBands{
      {{1, 10}, {1.1, 25}, {1.25, 50}, {1.5, 100}, {2, 200}, {3, 300}, {4, 500}, {6, 900}, {10, 1900}}};
  std::vector<StepRow> steps;
  for (std::size_t i = 0; i < kBands.size(); ++i) {
    StepRow row;
    row.lower_bound = neat((kBands[i].first - 1) * line);
    if (i + 1 < kBands.size()) row.upper_bound = neat((kBands[i + 1].first - 1) * line);
    row.adjustment = kBands[i].second;
    steps.push_back(row);
  }
  return percent_steps(cooldown_s, std::move(steps));
}

AlarmRule out_alarm(const PlanInput& input, const MetricRef& metric, double threshold,
                    const std::string& what) {
  AlarmRule alarm;
  alarm.name = policy_name(input, "out");
  alarm.description = what;
  alarm.purpose = "scale_out";
  alarm.policy = policy_name(input, "out");
  alarm.metric = metric;
  alarm.statistic = "Average";
  alarm.period_s = kOutPeriodS;
  alarm.evaluation_periods = alarm.datapoints_to_alarm = kOutEvaluations;
  alarm.threshold = threshold;
  alarm.comparison = "GreaterThanThreshold";
  alarm.missing_data = "notBreaching";  // no reading is no reason to grow
  return alarm;
}

// What is given back sooner than such a load returns has to be started again at once (capacity study, section
// 2).
bool turns_fast(const PlanInput& input) {
  return input.turning_period_s && input.measured_total_s &&
         *input.turning_period_s < 4 * *input.measured_total_s;
}

// Total over 60 s below line * (n - 1). n is not a metric of its own; each carrier derives it from what it
// has.
AlarmRule in_alarm(const PlanInput& input, double line) {
  const int minutes = turns_fast(input) ? kInEvaluationsTurning : kInEvaluations;
  AlarmRule alarm;
  alarm.name = policy_name(input, "in");
  alarm.description = fmt::format(
      "Total requests/s below {:.6g} x (n - 1) for {} minutes: n - 1 instances are enough.", line, minutes);
  alarm.evaluation_periods = alarm.datapoints_to_alarm = minutes;
  alarm.purpose = "scale_in";
  alarm.policy = policy_name(input, "in");
  const auto query = [](const char* id, const MetricRef& metric, const char* statistic) {
    return AlarmQuery{id, metric, statistic, kInPeriodS, "", "", false};
  };
  std::string expression;
  if (input.carrier == Carrier::kNative) {
    alarm.queries = {query("i", invocations_metric(input.endpoint, input.variant), "Sum"),
                     query("p", invocations_per_instance_metric(input.endpoint, input.variant), "Sum")};
    expression = fmt::format("IF(p > 0, i / 60 - {:.6g} * (i / p - 1), -1)", line);
    alarm.sources =
        "rate = Sum(Invocations)/60 s, refused ones included; n = "
        "Sum(Invocations)/Sum(InvocationsPerInstance)";
  } else {
    const MetricRef offered = offered_metric(input.endpoint, input.variant);
    alarm.queries = {query("o", offered, "Sum"), query("k", offered, "SampleCount")};
    expression = fmt::format("IF(k > 0, o / 60 - {:.6g} * (k / 6 - 1), -1)", line);
    alarm.sources =
        "rate = Sum(OfferedRequests)/60 s; n = SampleCount(OfferedRequests)/6: one line per instance and 10 "
        "s";
  }
  alarm.queries.push_back({"e", std::nullopt, "", std::nullopt, expression, "spare rate", true});
  alarm.threshold = 0;
  alarm.comparison = "LessThanThreshold";
  alarm.missing_data = "breaching";  // no load, no data: the fleet must still come back to its minimum
  return alarm;
}

// The smallest fleet that, having just lost an instance at the scale-in line, lies under the native scale-out
// line again. With few instances requests also wait by chance, which the outstanding count shows and the rate
// does not.
std::optional<int> safe_minimum(double rho, double line, double cv) {
  for (int c = 1; c <= 1000; ++c) {
    if (expected_outstanding(rho, c, cv) <= line) return c;
  }
  return std::nullopt;
}

PolicyRule step_in(const PlanInput& input) {
  StepRule rule;
  rule.adjustment_type = "ChangeInCapacity";
  rule.steps = {{std::nullopt, 0.0, -1}};
  rule.cooldown_s = kInCooldownS;
  rule.aggregation = "Average";
  return {policy_name(input, "in"), "StepScaling", std::nullopt, rule};
}

}  // namespace

base::Result<Plan> plan_recommended(const PlanInput& input) {
  auto plan = common_plan(input);
  if (!plan) return plan;
  const double g = input.headroom;
  const double u = input.utilisation.value_or(std::min(kSaturatedShare, 1 / g));
  const double mu = plan->throughput_per_instance_rps;
  const double rate = neat(u * mu);
  // A cooldown as long as the start of an instance: whatever is added counts before more is added, so the
  // steps do not compound, whether the service multiplies the desired or the in-service count. It then is
  // part of the reaction time.
  plan->scale_out_cooldown_s = recommended_cooldown_s(*input.measured_total_s);
  plan->scale_in_cooldown_s = kInCooldownS;
  plan->reaction_time_s = reaction_time_s(input);
  plan->utilisation = std::round(1000 * u) / 1000;
  plan->min_instances =
      std::max({1, ceil_up(g * input.trough_rps / mu), input.allowed_min_instances.value_or(1)});
  plan->max_instances = std::max(plan->min_instances, ceil_up(input.peak_rps / (kSaturatedShare * mu)));
  const double in_share = input.scale_in_share.value_or(kInShare);
  plan->scale_in_threshold = neat(in_share * rate);
  plan->policy.carrier = input.carrier;
  plan->policy.growth = g;
  plan->policy.rate_per_instance_rps = rate;

  StepRule out;
  AlarmRule alarm;
  if (input.carrier == Carrier::kNative) {
    const auto ratio = unit_ratio(input);
    if (!ratio) return tl::unexpected(ratio.error());
    const auto outstanding = outstanding_at(input.rungs, rate);
    if (!outstanding)
      return base::fail(base::ErrorCode::kInvalidData,
                        "the curve has no rung that carries the planned rate; measure more rungs");
    plan->scale_out_target = neat(*outstanding * *ratio);
    plan->safe_scale_in_minimum = safe_minimum(in_share * u, *outstanding, service_cv(input));
    out = native_steps(*plan->scale_out_target, plan->scale_out_cooldown_s);
    alarm = out_alarm(
        input, concurrency_metric(input.endpoint, input.variant), *plan->scale_out_target,
        fmt::format("Average outstanding per instance above what {:.0f} % utilisation produces.", 100 * u));
  } else if (input.carrier == Carrier::kOfferedRate) {
    plan->scale_out_target = rate;
    const double line =
        neat(rate * kOutPeriodS);  // the metric counts requests per line, and a line covers 10 s
    out = proportional_steps(line, plan->scale_out_cooldown_s);
    alarm =
        out_alarm(input, offered_metric(input.endpoint, input.variant), line,
                  fmt::format("Offered requests per instance above {:.6g}/s, refused ones counted.", rate));
  } else {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "the recommended rule has the carriers native and offered-rate");
  }
  plan->policy.scale_out = {{policy_name(input, "out"), "StepScaling", std::nullopt, out}};
  plan->policy.scale_in = {step_in(input)};
  plan->policy.alarms = {alarm, in_alarm(input, *plan->scale_in_threshold)};
  if (auto informative = unqueued_alarm(input, *plan)) plan->policy.alarms.push_back(*informative);
  return plan;
}

}  // namespace headroom::capacity::detail

namespace headroom::capacity {

int recommended_cooldown_s(double measured_total_s) {
  return std::max(10, 10 * ceil_up(measured_total_s / 10));
}

std::optional<double> reaction_time_s(const PlanInput& input) {
  if (!input.measured_total_s) return std::nullopt;
  const int cooldown = recommended_cooldown_s(*input.measured_total_s);
  return policy_lag_bound_s(detail::kOutPeriodS, detail::kOutEvaluations, cooldown) + *input.measured_total_s;
}

}  // namespace headroom::capacity
