// What the plan would be with other measurements, and what it costs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/plan_rules.hpp"

namespace headroom::capacity::detail {
namespace {

constexpr double kHoursPerMonth = 730;

Sensitivity what_if(std::string what, const PlanInput& input) {
  Sensitivity s;
  s.what = std::move(what);
  const auto plan = input.rule == Rule::kPublished ? plan_published(input) : plan_recommended(input);
  if (!plan) {
    s.note = plan.error().message;
    return s;
  }
  s.min_instances = plan->min_instances;
  s.max_instances = plan->max_instances;
  s.queue_limit = plan->queue_limit;
  s.utilisation = plan->utilisation;
  return s;
}

}  // namespace

std::vector<Sensitivity> sensitivity(const PlanInput& input) {
  std::vector<Sensitivity> all;
  PlanInput other = input;
  other.total_s = *input.total_s / 2;
  other.measured_total_s = *input.measured_total_s / 2;
  // The load that grows by g within H grows by its square root within half of it.
  other.headroom = std::sqrt(input.headroom);
  all.push_back(
      what_if(fmt::format("T_total halved ({:.0f} s), the load as steep as before", *other.total_s), other));
  for (const double factor : {0.9, 1.1}) {
    other = input;
    other.q_max = std::max(1, static_cast<int>(std::lround(*input.q_max * factor)));
    all.push_back(
        what_if(fmt::format("Q_max 10 % {} ({})", factor < 1 ? "lower" : "higher", *other.q_max), other));
  }
  other = input;
  other.peak_rps = 1.2 * input.peak_rps;
  all.push_back(what_if(fmt::format("peak 20 % higher ({:g} requests/s)", other.peak_rps), other));
  return all;
}

Cost cost_of(const PlanInput& input, const Plan& plan) {
  Cost cost;
  if (!input.price_per_hour_usd) return cost;
  const double price = *input.price_per_hour_usd;
  cost.per_hour_at_trough_usd = price * plan.min_instances;
  cost.per_hour_at_peak_usd = price * plan.max_instances;
  const double rate = std::min(plan.utilisation, 1.0) * plan.throughput_per_instance_rps;
  if (input.characters_per_request && *input.characters_per_request > 0 && rate > 0)
    cost.per_million_characters_usd = price / (rate * *input.characters_per_request * 3600) * 1e6;
  const std::string own = plan.rule == Rule::kPublished
                              ? "published"
                              : std::string("recommended ") + carrier_name(plan.policy.carrier);
  for (const Alternative& a : plan.alternatives) {
    if (a.name == own && a.instance_hours && plan.simulated_hours > 0)
      cost.per_month_usd = price * *a.instance_hours / plan.simulated_hours * kHoursPerMonth;
  }
  return cost;
}

}  // namespace headroom::capacity::detail
