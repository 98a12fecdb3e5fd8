// make_plan: checks, the chosen rule, what stands beside it, findings and verdict.
#include "capacity/plan.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity {

using base::ErrorCode;
using base::fail;

std::string_view rule_name(Rule rule) { return rule == Rule::kRecommended ? "recommended" : "published"; }
std::optional<Rule> parse_rule(std::string_view name) {
  if (name == "recommended") return Rule::kRecommended;
  if (name == "published") return Rule::kPublished;
  return std::nullopt;
}

std::string_view level_name(Level level) {
  constexpr std::array<std::string_view, 4> names{"OK", "INFO", "WARN", "FAIL"};
  return names[static_cast<std::size_t>(level)];
}
std::optional<Level> parse_level(std::string_view name) {
  for (const Level level : {Level::kOk, Level::kInfo, Level::kWarn, Level::kFail}) {
    if (name == level_name(level)) return level;
  }
  return std::nullopt;
}

std::string_view verdict_name(PlanVerdict verdict) {
  if (verdict == PlanVerdict::kFeasible) return "feasible";
  return verdict == PlanVerdict::kWarnings ? "warnings" : "infeasible";
}
std::optional<PlanVerdict> parse_plan_verdict(std::string_view name) {
  for (const PlanVerdict verdict :
       {PlanVerdict::kFeasible, PlanVerdict::kWarnings, PlanVerdict::kInfeasible}) {
    if (name == verdict_name(verdict)) return verdict;
  }
  return std::nullopt;
}

int ceil_up(double value) {
  const double up = std::ceil(value - 1e-9 * std::max(1.0, std::abs(value)));
  return static_cast<int>(std::clamp(up, 0.0, 1e9));
}

base::Result<double> throughput_per_instance(const PlanInput& input) {
  const Rung* best = nullptr;
  for (const Rung& rung : input.rungs) {
    if (rung.repeat || !input.q_max || rung.n > *input.q_max || !rung.rps) continue;
    if (rung.verdict && *rung.verdict != RungVerdict::kPass) continue;
    if (!best || rung.n >= best->n) best = &rung;
  }
  if (!best || !std::isfinite(*best->rps) || !(*best->rps > 0))
    return fail(ErrorCode::kInvalidData,
                "no passing rung has a throughput (rps); measure with tts-bench qmax");
  return *best->rps;
}

namespace detail {

std::string policy_name(const PlanInput& input, const std::string& what) {
  return fmt::format("headroom-{}-{}-{}", input.endpoint, input.variant, what);
}

base::Result<void> check_input(const PlanInput& input) {
  const auto number = [](const char* name, std::optional<double> value, bool required,
                         double low) -> base::Result<void> {
    if (!value) {
      if (!required) return {};
      return fail(ErrorCode::kInvalidData,
                  fmt::format("{} is unknown in the measurement; measure again", name));
    }
    if (!std::isfinite(*value) || *value < low)
      return fail(ErrorCode::kInvalidData,
                  fmt::format("{} is {}, not a number of at least {}", name, *value, low));
    return {};
  };
  const std::array checks{
      number("unqueued.mean_ms", input.unqueued_mean_ms, true, 0),
      number("unqueued.p95_ms", input.unqueued_p95_ms, true, 0),
      number("measured_total_s", input.measured_total_s, true, 0),
      number("total_s", input.total_s, true, 0),
      number("slo_ms", input.slo_ms, true, 1),
      number("calibration ratio", input.calibration_ratio, false, 1e-6),
      number("assumed ratio", input.assume_ratio, false, 1e-6),
      number("peak_rps", input.peak_rps, true, 0),
      number("trough_rps", input.trough_rps, true, 0),
      number("headroom", input.headroom, true, 1),
  };
  for (const auto& check : checks) {
    if (!check) return check;
  }
  if (!input.q_max || *input.q_max < 1)
    return fail(
        ErrorCode::kRefused,
        "q_max is unknown: no rung met the SLO, so no policy can; raise --slo-ms or use a faster instance");
  if (!(input.peak_rps > 0))
    return fail(ErrorCode::kInvalidArgument,
                "peak load is unknown; give --peak-rps or load.peak_rps in the model file");
  if (input.trough_rps > input.peak_rps)
    return fail(ErrorCode::kInvalidArgument, fmt::format("trough_rps {} is above peak_rps {}; swap them",
                                                         input.trough_rps, input.peak_rps));
  return {};
}

base::Result<double> unit_ratio(const PlanInput& input) {
  if (input.calibration_ratio) return *input.calibration_ratio;
  if (input.assume_ratio) return *input.assume_ratio;
  return fail(ErrorCode::kRefused,
              "the calibration ratio is unknown (ConcurrentRequestsPerModel had no data), so outstanding "
              "counts cannot become "
              "metric units; measure again where the metric exists, or give --assume-ratio 1");
}

base::Result<Plan> common_plan(const PlanInput& input) {
  const auto mu = throughput_per_instance(input);
  if (!mu) return tl::unexpected(mu.error());
  Plan plan;
  plan.rule = input.rule;
  plan.headroom = input.headroom;
  plan.peak_rps = input.peak_rps;
  plan.trough_rps = input.trough_rps;
  plan.slo_ms = input.slo_ms;
  plan.queue_limit = *input.q_max;
  plan.w_max_s = std::round(input.slo_ms - *input.unqueued_p95_ms) / 1000;
  for (const Rung& rung : input.rungs) {
    if (rung.n == 1 && !rung.repeat && rung.p95_ms) {
      plan.unqueued_alarm_ms = static_cast<int>(std::floor(*rung.p95_ms));
      break;  // the first hold of rung 1
    }
  }
  plan.throughput_per_instance_rps = *mu;
  plan.instances_by_throughput_peak = ceil_up(input.peak_rps / *mu);
  plan.instances_by_throughput_trough = std::max(1, ceil_up(input.trough_rps / *mu));
  plan.calibration_ratio = input.calibration_ratio;
  plan.ratio_assumed = !input.calibration_ratio && input.assume_ratio.has_value();
  if (plan.ratio_assumed) plan.calibration_ratio = input.assume_ratio;
  plan.policy.variant = input.variant;
  return plan;
}

double neat(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10, 5 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::round(value * scale) / scale;
}

double service_cv(const PlanInput& input) {
  const double mean = *input.unqueued_mean_ms;
  return mean > 0 ? std::max(0.0, (*input.unqueued_p95_ms - mean) / 1.645 / mean) : 0;
}

double expected_outstanding(double rho, int c, double cv) {
  if (rho >= 1) return INFINITY;
  return rho + std::pow(rho, std::sqrt(2.0 * (c + 1))) / (1 - rho) * (1 + cv * cv) / 2 / c;
}

std::optional<AlarmRule> unqueued_alarm(const PlanInput& input, const Plan& plan) {
  if (!plan.unqueued_alarm_ms) return std::nullopt;
  AlarmRule alarm;
  alarm.name = policy_name(input, "unqueued-p95");
  alarm.description = fmt::format(
      "First audio later than {} ms, what an idle instance needs: requests wait. Rings at ordinary load.",
      *plan.unqueued_alarm_ms);
  alarm.purpose = "informative";
  alarm.metric = first_chunk_metric(input.endpoint, input.variant);
  alarm.extended_statistic = "p95";
  alarm.period_s = 60;
  alarm.evaluation_periods = 3;
  alarm.datapoints_to_alarm = 2;
  alarm.threshold = *plan.unqueued_alarm_ms * 1000.0;  // FirstChunkLatency is in microseconds
  alarm.comparison = "GreaterThanThreshold";
  alarm.missing_data = "notBreaching";
  return alarm;
}

namespace {

Alternative summarise(const std::string& name, const base::Result<Plan>& plan, const PlanInput& input) {
  Alternative a;
  a.name = name;
  if (!plan) {
    a.note = plan.error().message;
    return a;
  }
  a.min_instances = plan->min_instances;
  a.max_instances = plan->max_instances;
  a.peak_rps_served = plan->max_instances * plan->throughput_per_instance_rps;
  if (input.price_per_hour_usd) a.cost_per_hour_at_peak_usd = plan->max_instances * *input.price_per_hour_usd;
  a.note = "share within SLO, instance-hours and turns are unknown: not simulated";
  return a;
}

}  // namespace

std::vector<Alternative> alternatives(const PlanInput& input) {
  PlanInput variant = input;
  std::vector<Alternative> all;
  variant.rule = Rule::kPublished;
  all.push_back(summarise("published", plan_published(variant), input));
  variant.rule = Rule::kRecommended;
  variant.carrier = Carrier::kNative;
  const auto native = plan_recommended(variant);
  all.push_back(summarise("recommended native", native, input));
  variant.carrier = Carrier::kOfferedRate;
  const auto offered = plan_recommended(variant);
  all.push_back(summarise("recommended offered-rate", offered, input));
  if (offered) {  // a fleet that never scales: peak at 90 %
    Plan fixed = *offered;
    fixed.min_instances = fixed.max_instances =
        ceil_up(input.peak_rps / (kSaturatedShare * fixed.throughput_per_instance_rps));
    all.push_back(summarise("static", fixed, input));
  }
  return all;
}

}  // namespace detail

base::Result<Plan> make_plan(const PlanInput& input) {
  if (auto ok = detail::check_input(input); !ok) return tl::unexpected(ok.error());
  auto plan =
      input.rule == Rule::kPublished ? detail::plan_published(input) : detail::plan_recommended(input);
  if (!plan) return plan;
  plan->max_fleet_rps = plan->max_instances * plan->throughput_per_instance_rps;
  plan->alternatives = detail::alternatives(input);
  if (input.simulate) detail::add_simulation(input, *plan);
  plan->sensitivity = detail::sensitivity(input);
  plan->cost = detail::cost_of(input, *plan);
  plan->findings = detail::find_all(input, *plan);
  for (const Finding& finding : plan->findings) {
    if (finding.level == Level::kFail) plan->verdict = PlanVerdict::kInfeasible;
    if (finding.level == Level::kWarn && plan->verdict == PlanVerdict::kFeasible)
      plan->verdict = PlanVerdict::kWarnings;
  }
  return plan;
}

}  // namespace headroom::capacity
