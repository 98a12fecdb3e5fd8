// Reads the scale-out policy and its alarm.
#include "bench/lag.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capacity/ttotal.hpp"

namespace headroom::bench {
namespace {

constexpr int kPeriod = 10;
constexpr int kEvaluations = 3;
constexpr int kCooldown = 30;

bool scales_out(const aws::ScalingPolicy& policy) {
  if (policy.target_tracking) return true;
  if (!policy.step_scaling) return false;
  return std::any_of(policy.step_scaling->steps.begin(), policy.step_scaling->steps.end(),
                     [](const auto& step) { return step.adjustment > 0; });
}

int cooldown_of(const aws::ScalingPolicy& policy) {
  if (policy.target_tracking) return policy.target_tracking->scale_out_cooldown_s.value_or(kCooldown);
  return policy.step_scaling->cooldown_s.value_or(kCooldown);
}

// A metric-math alarm has no period of its own: the longest of its metrics counts.
int period_of(const aws::Alarm& alarm) {
  int period = alarm.period_s.value_or(0);
  for (const auto& query : alarm.queries) period = std::max(period, query.period_s.value_or(0));
  return period > 0 ? period : kPeriod;
}

}  // namespace

base::Result<PolicyLag> policy_lag(Session& session) {
  auto policies = session.autoscaling().describe_policies(
      aws::variant_resource_id(session.endpoint(), session.variant()), session.soon());
  if (!policies) return tl::unexpected(policies.error());
  for (const auto& policy : *policies) {
    if (!scales_out(policy)) continue;
    int period = kPeriod;
    int evaluations = kEvaluations;
    std::vector<std::string> names;
    for (const auto& alarm : policy.alarms) names.push_back(alarm.name);
    if (!names.empty()) {
      auto alarms = session.cloudwatch().describe_alarms(names, session.soon());
      if (!alarms) return tl::unexpected(alarms.error());
      for (const auto& alarm : *alarms) {
        if (alarm.comparison.rfind("Less", 0) == 0) continue;  // target tracking's scale-in alarm
        period = period_of(alarm);
        evaluations = alarm.evaluation_periods.value_or(kEvaluations);
      }
    }
    const int cooldown = cooldown_of(policy);
    return PolicyLag{capacity::policy_lag_bound_s(period, evaluations, cooldown),
                     fmt::format("bound of policy {}: {} s x {} + {} s cooldown", policy.name, period,
                                 evaluations, cooldown),
                     true};
  }
  return PolicyLag{capacity::policy_lag_bound_s(kPeriod, kEvaluations, kCooldown),
                   fmt::format("bound of the published rule, none is deployed: {} s x {} + {} s cooldown",
                               kPeriod, kEvaluations, kCooldown),
                   false};
}

}  // namespace headroom::bench
