// From alarms to a desired count.
#include "cloud/scaling_control.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/scaling_rules.hpp"
#include "cloud/alarm_engine.hpp"
#include "cloud/scaling.hpp"
#include "cloud/scaling_schedule.hpp"

namespace headroom::cloud {
namespace {

using capacity::Decision;
using capacity::NotScaled;
using capacity::Proposal;

capacity::StepRule step_rule(const Json& config) {
  capacity::StepRule rule;
  rule.adjustment_type = config.at("AdjustmentType");
  rule.cooldown_s = config.value("Cooldown", static_cast<int>(capacity::kDefaultCooldownS));
  rule.aggregation = config.value("MetricAggregationType", "Average");
  if (config.contains("MinAdjustmentMagnitude"))
    rule.min_adjustment_magnitude = config["MinAdjustmentMagnitude"];
  for (const Json& step : config.at("StepAdjustments")) {
    capacity::StepRow row;
    if (step.contains("MetricIntervalLowerBound")) row.lower_bound = step["MetricIntervalLowerBound"];
    if (step.contains("MetricIntervalUpperBound")) row.upper_bound = step["MetricIntervalUpperBound"];
    row.adjustment = step.at("ScalingAdjustment");
    rule.steps.push_back(row);
  }
  return rule;
}

capacity::TargetTrackingRule tracking_rule(const Json& config) {
  capacity::TargetTrackingRule rule;
  rule.target_value = config.at("TargetValue");
  rule.disable_scale_in = config.value("DisableScaleIn", false);
  if (config.contains("ScaleOutCooldown")) rule.scale_out_cooldown_s = config["ScaleOutCooldown"];
  if (config.contains("ScaleInCooldown")) rule.scale_in_cooldown_s = config["ScaleInCooldown"];
  return rule;
}

capacity::Bounds bounds_of(const Json& target) {
  const Json& suspended = target.at("SuspendedState");
  return {target.at("MinCapacity"), target.at("MaxCapacity"),
          suspended.value("DynamicScalingInSuspended", false),
          suspended.value("DynamicScalingOutSuspended", false)};
}

const Json* find_policy(const World& world, const std::string& arn) {
  for (const Json& policy : world.policies) {
    if (policy.at("PolicyARN") == arn) return &policy;
  }
  return nullptr;
}

bool is_less(capacity::Comparison comparison) {
  return comparison == capacity::Comparison::kLess || comparison == capacity::Comparison::kLessOrEqual;
}

// Of one scalable target.
struct Round {
  std::vector<Proposal> proposals;
  std::vector<std::string> in_by_tracking;  // policies that ask for less
  bool fresh = false;                       // an alarm's state is new
};

Proposal propose(const World& world, const Json& policy, const PolicyCall& call, const capacity::Fleet& fleet,
                 const capacity::ScalingMemory& memory, double now_s) {
  const auto base = world.scaling.settings.base;
  Proposal proposal;
  if (policy.at("PolicyType") == "StepScaling") {
    const auto rule = step_rule(policy.at("StepScalingPolicyConfiguration"));
    proposal = capacity::propose_step(
        rule, fleet, memory, base, now_s,
        capacity::step_breach(call.comparison, call.threshold, rule.aggregation, call.points));
  } else {
    const auto rule = tracking_rule(policy.at("TargetTrackingScalingPolicyConfiguration"));
    const auto metric = capacity::newest_point(call.points);
    if (!metric) return proposal;  // target tracking does nothing without data
    proposal =
        capacity::propose_tracking(rule, fleet, memory, base, now_s, *metric, !is_less(call.comparison));
  }
  proposal.policy = policy.at("PolicyName");
  proposal.trigger = fmt::format("monitor alarm {} in state {} triggered policy {}", call.alarm, call.state,
                                 policy.at("PolicyName").get_ref<const std::string&>());
  return proposal;
}

// Whether a target-tracking policy that may scale in does not ask for it.
bool tracking_holds(const World& world, const std::string& resource, const Round& round) {
  return std::any_of(world.policies.begin(), world.policies.end(), [&](const Json& policy) {
    if (policy.at("ResourceId") != resource || policy.at("PolicyType") != "TargetTrackingScaling")
      return false;
    const auto rule = tracking_rule(policy.at("TargetTrackingScalingPolicyConfiguration"));
    const auto& asking = round.in_by_tracking;
    return !rule.disable_scale_in && std::find(asking.begin(), asking.end(),
                                               policy.at("PolicyName").get<std::string>()) == asking.end();
  });
}

// "Not scaled activities": written when an alarm begins to call in vain, not at each evaluation.
bool note_not_scaled(World& world, const std::string& resource, const Decision& decision,
                     const capacity::Fleet& fleet, const capacity::Bounds& bounds, base::WallTime now) {
  const char* code = nullptr;
  if (decision.why == NotScaled::kAtMaximum) code = "AlreadyAtMaxCapacity";
  if (decision.why == NotScaled::kAtMinimum) code = "AlreadyAtMinCapacity";
  if (decision.why == NotScaled::kAtDesired) code = "AlreadyAtDesiredCapacity";
  if (code == nullptr) return false;
  add_activity(world, resource, now, "Attempting to scale due to alarm triggered", decision.by.trigger,
               "Failed", "Nothing was changed.");
  Json reason{{"Code", code}, {"CurrentCapacity", fleet.desired}};
  if (decision.why == NotScaled::kAtMaximum) reason["MaxCapacity"] = bounds.maximum;
  if (decision.why == NotScaled::kAtMinimum) reason["MinCapacity"] = bounds.minimum;
  world.activities.front()["NotScaledReasons"] = Json::array({reason});
  return true;
}

bool scale(World& world, const std::string& resource, const Round& round, base::WallTime now, double now_s) {
  const auto target = world.targets.find(resource);
  const auto id = parse_resource_id(resource);
  const Variant* variant = id ? world.variant(id->endpoint, id->variant) : nullptr;
  if (target == world.targets.end() || variant == nullptr || !can_scale(world, *id)) return false;
  const capacity::Fleet fleet{variant->desired, count_in_state(world.endpoints.at(id->endpoint), id->variant,
                                                               InstanceState::kInService)};
  const auto bounds = bounds_of(target->second);
  auto& memory = world.scaling.memory[resource];
  const Decision decision =
      capacity::decide(fleet, bounds, memory, round.proposals, tracking_holds(world, resource, round), now_s);
  if (!decision.desired) return round.fresh && note_not_scaled(world, resource, decision, fleet, bounds, now);
  if (!set_desired_count(world, resource, *decision.desired, decision.by.trigger, now)) return false;
  capacity::note_scaled(memory, decision, fleet, now_s);
  return true;
}

bool perform(World& world, const std::vector<PolicyCall>& calls, base::WallTime now) {
  const double now_s = world.metrics.cloud_now_s();
  std::map<std::string, Round> rounds;
  for (const PolicyCall& call : calls) {
    const Json* policy = find_policy(world, call.policy_arn);
    if (policy == nullptr) continue;
    const std::string resource = policy->at("ResourceId");
    const auto id = parse_resource_id(resource);
    const Variant* variant = id ? world.variant(id->endpoint, id->variant) : nullptr;
    if (variant == nullptr) continue;
    const capacity::Fleet fleet{variant->desired, count_in_state(world.endpoints.at(id->endpoint),
                                                                 id->variant, InstanceState::kInService)};
    Round& round = rounds[resource];
    round.fresh = round.fresh || call.changed;
    round.proposals.push_back(propose(world, *policy, call, fleet, world.scaling.memory[resource], now_s));
    if (round.proposals.back().in && round.proposals.back().tracking)
      round.in_by_tracking.push_back(round.proposals.back().policy);
  }
  bool changed = false;
  for (const auto& [resource, round] : rounds) changed = scale(world, resource, round, now, now_s) || changed;
  return changed;
}

}  // namespace

bool control_scaling(World& world, base::WallTime now) {
  bool changed = run_scheduled_actions(world, now);
  changed = keep_within_bounds(world, now) || changed;
  const AlarmRound round = evaluate_alarms(world, now);
  changed = round.changed || changed;
  return perform(world, round.calls, now) || changed;
}

}  // namespace headroom::cloud
