// From a comparison to the requests that mend it.
#include "bench/apply_steps.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

const Commands kNoCommands;

// The fields that differ, without the name of the thing: "Threshold, Period".
std::string fields_of(const std::vector<Check>& checks, const std::string& thing) {
  std::string out;
  for (const Check& check : checks) {
    if (check.level != "ERROR" || check.id.size() <= thing.size()) continue;
    out += (out.empty() ? "" : ", ") + check.id.substr(thing.size() + 1);
  }
  return out;
}

template <class Rules>
bool holds(const Rules& rules, const std::string& name) {
  return std::any_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.name == name; });
}

// Everything compare_policies says about one thing.
std::vector<Check> about(const std::vector<Check>& checks, const std::string& thing) {
  std::vector<Check> out;
  for (const Check& check : checks) {
    if (check.id == thing || check.id.rfind(thing + ".", 0) == 0) out.push_back(check);
  }
  return out;
}

std::optional<std::string> other_owner(const aws::Alarm& alarm, const Deployed& deployed) {
  const std::string ours = "/" + deployed.resource_id + ":";
  for (const auto& action : alarm.alarm_actions) {
    if (is_policy_arn(action) && action.find(ours) == std::string::npos) return action;
  }
  return std::nullopt;
}

base::Error refused(std::string message) { return {base::ErrorCode::kRefused, std::move(message), {}}; }

}  // namespace

std::vector<ApplyStep> apply_steps(const capacity::Plan& plan, const Deployed& deployed) {
  std::vector<ApplyStep> steps, last;
  const auto target = compare_target(deployed.target, plan.min_instances, plan.max_instances, kNoCommands);
  if (has_level(target, "ERROR")) {
    steps.push_back({ApplyAction::kRegisterTarget, deployed.resource_id,
                     fmt::format("{} to {} instances", plan.min_instances, plan.max_instances)});
  }
  const auto checks = compare_policies(plan.policy, deployed, kNoCommands, "WARN");
  const auto rules = all_rules(plan.policy);
  std::vector<std::string> renewed;  // policies that get a new ARN
  for (const auto& rule : rules) {
    const auto* found = deployed.policy(rule.name);
    const auto differences = about(checks, "policy " + rule.name);
    if (found != nullptr && !has_level(differences, "ERROR")) continue;
    if (found != nullptr && found->type != rule.type) {
      steps.push_back({ApplyAction::kDeletePolicy, rule.name,
                       fmt::format("it is {}, the plan's is {}", found->type, rule.type)});
    }
    if (found == nullptr || found->type != rule.type) renewed.push_back(rule.name);
    steps.push_back({ApplyAction::kPutPolicy, rule.name,
                     found == nullptr ? rule.type : fields_of(differences, "policy " + rule.name)});
  }
  for (const auto& rule : plan.policy.alarms) {
    const auto* found = deployed.alarm(rule.name);
    const auto differences = about(checks, "alarm " + rule.name);
    const bool points_elsewhere = std::find(renewed.begin(), renewed.end(), rule.policy) != renewed.end();
    if (found != nullptr && !points_elsewhere && !has_level(differences, "ERROR")) continue;
    std::string why = found == nullptr ? rule.purpose : fields_of(differences, "alarm " + rule.name);
    if (why.empty()) why = "its policy is new";
    steps.push_back({ApplyAction::kPutAlarm, rule.name, why});
  }
  for (const auto& alarm : deployed.alarms) {
    if (is_own_alarm(alarm, deployed) && !holds(plan.policy.alarms, alarm.name))
      steps.push_back({ApplyAction::kDeleteAlarm, alarm.name, "left from another plan"});
  }
  for (const auto& policy : deployed.policies) {
    if (is_own_policy(policy, deployed) && !holds(rules, policy.name))
      steps.push_back({ApplyAction::kDeletePolicy, policy.name, "left from another plan"});
  }
  return steps;
}

aws::Alarm merged_alarm(const capacity::AlarmRule& rule, const std::string& policy_arn,
                        const aws::Alarm* found) {
  aws::Alarm out = to_aws(rule, policy_arn);
  if (found == nullptr) return out;
  const auto keep = [](std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const auto& action : from) {
      if (!is_policy_arn(action)) to.push_back(action);
    }
  };
  keep(out.alarm_actions, found->alarm_actions);
  keep(out.ok_actions, found->ok_actions);
  keep(out.insufficient_data_actions, found->insufficient_data_actions);
  return out;
}

std::optional<base::Error> plan_refusal(const artifact::PlanArtifact& artifact, const std::string& plan_file,
                                        const Deployed& deployed, const artifact::Fingerprint& live) {
  const capacity::Plan& plan = artifact.plan;
  if (plan.verdict == capacity::PlanVerdict::kInfeasible) {
    std::string failed;
    for (const auto& finding : plan.findings) {
      if (finding.level == capacity::Level::kFail)
        failed += (failed.empty() ? "" : "; ") + finding.id + ": " + finding.evidence;
    }
    return refused(fmt::format("{} is infeasible ({}); mend what it names, measure and plan again", plan_file,
                               failed.empty() ? "its findings say why" : failed));
  }
  // The offered-rate carrier counts requests; only a concurrency line needs the metric's unit.
  const bool needs_ratio = plan.policy.carrier != capacity::Carrier::kOfferedRate;
  if (needs_ratio && !plan.calibration_ratio && !plan.ratio_assumed) {
    return refused(
        fmt::format("{} is not converted to the metric's unit (no calibration ratio): measure again "
                    "with the metric readable, or plan with --assume-ratio",
                    plan_file));
  }
  std::vector<std::string> wrong = measured_differences(artifact.header.fingerprint, live);
  const std::string prefix = own_prefix(deployed.endpoint, deployed.variant);
  const auto check_name = [&](const std::string& what, const std::string& name) {
    if (name.rfind(prefix, 0) != 0)
      wrong.push_back(fmt::format("{} '{}' does not begin with '{}'", what, name, prefix));
  };
  for (const auto& rule : all_rules(plan.policy)) check_name("policy", rule.name);
  for (const auto& rule : plan.policy.alarms) check_name("alarm", rule.name);
  if (!wrong.empty()) {
    return refused(
        fmt::format("{} was made for another deployment: {}; measure and plan for '{}' as it is now",
                    plan_file, fmt::join(wrong, "; "), deployed.endpoint));
  }
  for (const auto& rule : plan.policy.alarms) {
    const auto* found = deployed.alarm(rule.name);
    if (found == nullptr || is_own_alarm(*found, deployed)) continue;
    if (const auto owner = other_owner(*found, deployed)) {
      return refused(
          fmt::format("alarm '{}' already belongs to another variant (it triggers {}); rename that "
                      "endpoint or delete its policy first",
                      rule.name, *owner));
    }
  }
  return std::nullopt;
}

std::string step_line(const ApplyStep& step) {
  const char* verb = "register target";
  if (step.action == ApplyAction::kDeletePolicy) verb = "delete policy";
  if (step.action == ApplyAction::kPutPolicy) verb = "put policy";
  if (step.action == ApplyAction::kPutAlarm) verb = "put alarm";
  if (step.action == ApplyAction::kDeleteAlarm) verb = "delete alarm";
  return fmt::format("{} {}{}", verb, step.name, step.why.empty() ? "" : " (" + step.why + ")");
}

}  // namespace headroom::bench
