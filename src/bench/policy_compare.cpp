// Scalable target, counts, queue limit, and which policies and alarms there should be.
#include "bench/policy_compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

bool watches(const aws::Metric& metric, const Deployed& deployed) {
  const auto has = [&](const char* name, const std::string& value) {
    return std::find(metric.dimensions.begin(), metric.dimensions.end(), aws::Dimension{name, value}) !=
           metric.dimensions.end();
  };
  return has("EndpointName", deployed.endpoint) && has("VariantName", deployed.variant);
}

std::string remove_policy(const std::string& name, const Deployed& deployed, const Commands& commands) {
  return commands.aws(
      fmt::format("application-autoscaling delete-scaling-policy --policy-name '{}' --service-namespace "
                  "sagemaker --resource-id {} --scalable-dimension {}",
                  name, deployed.resource_id, aws::kVariantDimension));
}

// The alarms that Application Auto Scaling made for a target-tracking policy still do what it made them for.
std::vector<Check> compare_tracking_alarms(const aws::ScalingPolicy& found, const Deployed& deployed,
                                           const aws::TargetTracking& wanted, const Commands& commands) {
  FieldChecks out("policy " + found.name, commands.apply());
  int high = 0, low = 0;
  for (const auto& named : found.alarms) {
    const aws::Alarm* alarm = deployed.alarm(named.name);
    if (alarm == nullptr || !is_tracking_alarm(*alarm)) continue;
    const bool is_high = starts_with(alarm->comparison, "GreaterThan");
    ++(is_high ? high : low);
    const std::string prefix = fmt::format("Alarms[{}].", alarm->name);
    if (is_high)
      out.field(prefix + "Threshold", alarm->threshold, std::optional<double>(wanted.target_value));
    out.field(prefix + "ActionsEnabled", alarm->actions_enabled.value_or(true), true);
    out.field(prefix + "AlarmActions", alarm->alarm_actions, std::vector<std::string>{found.arn});
  }
  if (high == 0) out.differs("Alarms", "no alarm that scales out", "one made by target tracking");
  if (low == 0 && !wanted.disable_scale_in.value_or(false))
    out.differs("Alarms", "no alarm that scales in", "one made by target tracking");
  auto checks = out.done();
  return has_level(checks, "ERROR") ? checks : std::vector<Check>{};
}

std::vector<Check> compare_rule(const capacity::PolicyRule& rule, const Deployed& deployed,
                                const Commands& commands) {
  const aws::ScalingPolicy* found = deployed.policy(rule.name);
  if (found == nullptr) {
    return {{"policy " + rule.name, "ERROR", "missing", rule.type, commands.apply()}};
  }
  const auto wanted = to_aws(rule, deployed.resource_id);
  auto checks = compare_policy(*found, wanted, commands);
  if (!wanted.target_tracking || !found->target_tracking) return checks;
  const auto alarms = compare_tracking_alarms(*found, deployed, *wanted.target_tracking, commands);
  if (!alarms.empty() && !has_level(checks, "ERROR")) return alarms;
  append(checks, alarms);
  return checks;
}

std::vector<Check> compare_rule(const capacity::AlarmRule& rule, const Deployed& deployed,
                                const Commands& commands) {
  const aws::Alarm* found = deployed.alarm(rule.name);
  if (found == nullptr) return {{"alarm " + rule.name, "ERROR", "missing", rule.purpose, commands.apply()}};
  const aws::ScalingPolicy* policy = rule.policy.empty() ? nullptr : deployed.policy(rule.policy);
  return compare_alarm(*found, to_aws(rule, policy ? policy->arn : std::string{}), commands);
}

template <class Rules>
bool holds(const Rules& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.name == name; });
}

}  // namespace

const aws::ScalingPolicy* Deployed::policy(const std::string& name) const {
  const auto it =
      std::find_if(policies.begin(), policies.end(), [&](const auto& row) { return row.name == name; });
  return it == policies.end() ? nullptr : &*it;
}

const aws::Alarm* Deployed::alarm(const std::string& name) const {
  const auto it =
      std::find_if(alarms.begin(), alarms.end(), [&](const auto& row) { return row.name == name; });
  return it == alarms.end() ? nullptr : &*it;
}

bool is_own_policy(const aws::ScalingPolicy& policy, const Deployed& deployed) {
  return policy.resource_id == deployed.resource_id &&
         starts_with(policy.name, own_prefix(deployed.endpoint, deployed.variant));
}

bool is_own_alarm(const aws::Alarm& alarm, const Deployed& deployed) {
  if (!starts_with(alarm.name, own_prefix(deployed.endpoint, deployed.variant))) return false;
  if (alarm.metric) return watches(*alarm.metric, deployed);
  bool any = false;
  for (const auto& query : alarm.queries) {
    if (!query.metric) continue;
    if (!watches(*query.metric, deployed)) return false;
    any = true;
  }
  return any;
}

bool is_tracking_alarm(const aws::Alarm& alarm) { return starts_with(alarm.name, "TargetTracking-"); }
bool is_policy_arn(const std::string& action) { return action.find(":scalingPolicy:") != std::string::npos; }

std::vector<Check> compare_target(const std::optional<aws::ScalableTarget>& target, int min_instances,
                                  int max_instances, const Commands& commands) {
  if (!target) {
    return {{"target", "ERROR", "not registered",
             fmt::format("{} to {} instances", min_instances, max_instances), commands.apply()}};
  }
  FieldChecks out("target", commands.apply());
  out.field("MinCapacity", target->min_capacity, min_instances);
  out.field("MaxCapacity", target->max_capacity, max_instances);
  return out.done();
}

std::vector<Check> compare_suspended(const std::optional<aws::ScalableTarget>& target,
                                     const Commands& commands) {
  if (!target) return {};
  FieldChecks out("target.SuspendedState", commands.thaw());
  out.field("DynamicScalingInSuspended", target->suspended.scale_in, false);
  out.field("DynamicScalingOutSuspended", target->suspended.scale_out, false);
  out.field("ScheduledScalingSuspended", target->suspended.scheduled, false);
  auto checks = out.done();
  return has_level(checks, "ERROR") ? checks : std::vector<Check>{};
}

std::vector<Check> compare_counts(const aws::EndpointDescription& endpoint, const std::string& variant,
                                  std::optional<int> min_instances, std::optional<int> max_instances,
                                  const Commands& commands) {
  const auto* row = endpoint.variant(variant);
  if (row == nullptr) {
    std::string names;
    for (const auto& other : endpoint.variants) names += (names.empty() ? "" : ", ") + other.name;
    return {{"endpoint.ProductionVariants", "ERROR", "no variant " + variant + "; there is " + show(names),
             variant,
             commands.aws("sagemaker update-endpoint --endpoint-name " + endpoint.name +
                          " --endpoint-config-name NAME, or name a variant with --variant")}};
  }
  const std::string failure = endpoint.failure_reason.empty() ? "" : " (" + endpoint.failure_reason + ")";
  std::vector<Check> out;
  if (endpoint.status != "InService") {
    out.push_back(
        {"endpoint.EndpointStatus", "ERROR", endpoint.status + failure, "InService", commands.wait()});
  }
  const auto desired = row->desired_instance_count, current = row->current_instance_count;
  if (!desired || !current) {
    out.push_back({"endpoint.DesiredInstanceCount", "ERROR",
                   fmt::format("desired {}, current {}", show(desired), show(current)), "both known",
                   commands.wait()});
    return out;
  }
  if (*current != *desired) {
    out.push_back({"endpoint.CurrentInstanceCount", "ERROR", show(*current),
                   fmt::format("{} as desired", *desired), commands.wait()});
  }
  const int low = min_instances.value_or(*desired), high = max_instances.value_or(*desired);
  if (*desired < low || *desired > high) {
    out.push_back({"endpoint.DesiredInstanceCount", "ERROR", show(*desired),
                   fmt::format("{} to {}", low, high), commands.set_count(*desired < low ? low : high)});
  }
  if (out.empty()) {
    out.push_back({"endpoint", "OK",
                   fmt::format("{}, {} of {} instance(s)", endpoint.status, *current, *desired), "", ""});
  }
  return out;
}

std::vector<Check> compare_policies(const capacity::Policy& plan, const Deployed& deployed,
                                    const Commands& commands, const std::string& foreign_level) {
  std::vector<Check> out;
  const auto rules = all_rules(plan);
  for (const auto& rule : rules) append(out, compare_rule(rule, deployed, commands));
  for (const auto& rule : plan.alarms) append(out, compare_rule(rule, deployed, commands));
  for (const auto& policy : deployed.policies) {
    if (holds(rules, policy.name)) continue;
    if (is_own_policy(policy, deployed)) {
      out.push_back({"policy " + policy.name, "ERROR", "left from another plan", "none", commands.apply()});
    } else {
      out.push_back({"policy " + policy.name, foreign_level, policy.type + " that is not in the plan",
                     "the plan's policies alone", remove_policy(policy.name, deployed, commands)});
    }
  }
  for (const auto& alarm : deployed.alarms) {
    if (holds(plan.alarms, alarm.name) || is_tracking_alarm(alarm)) continue;
    if (is_own_alarm(alarm, deployed)) {
      out.push_back({"alarm " + alarm.name, "ERROR", "left from another plan", "none", commands.apply()});
      continue;
    }
    for (const auto& policy : deployed.policies) {
      const bool triggers = holds(policy.alarms, alarm.name) && holds(rules, policy.name);
      if (!triggers) continue;
      out.push_back({"alarm " + alarm.name, "ERROR", "triggers policy " + policy.name,
                     "the plan's alarms alone",
                     commands.aws(fmt::format("cloudwatch delete-alarms --alarm-names '{}'", alarm.name))});
    }
  }
  return out;
}

Check compare_queue_limit(std::optional<int> found, bool readable, int wanted, const Commands& commands) {
  const std::string id = "environment.MAX_QUEUE_DEPTH";
  if (!readable)
    return {id, "INFO", "the model behind the variant could not be read", show(wanted),
            commands.aws("sagemaker describe-model --model-name NAME")};
  if (found.value_or(0) == wanted) return {id, "OK", wanted == 0 ? "no limit" : show(wanted), "", ""};
  return {
      id, "WARN", found ? show(*found) : std::string("unset, no limit"), show(wanted),
      fmt::format("deploy a model whose environment has MAX_QUEUE_DEPTH={} (speech-infra deploy MODEL --plan "
                  "FILE, or create-model with it and update-endpoint); apply cannot change a container",
                  wanted)};
}

}  // namespace headroom::bench
