// The scaling rows of drift: target, policies, alarms, their states, and policies that cannot act.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/drift_rows.hpp"
#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

bool anything_applied(const Deployed& deployed) {
  return std::any_of(deployed.policies.begin(), deployed.policies.end(),
                     [&](const auto& policy) { return is_own_policy(policy, deployed); }) ||
         std::any_of(deployed.alarms.begin(), deployed.alarms.end(),
                     [&](const auto& alarm) { return is_own_alarm(alarm, deployed); });
}

// Without an applied plan the target is only held against the model file.
std::vector<Check> target_rows(const DriftInput& in) {
  if (!in.live.target) return {{"target", "INFO", "not registered; nothing scales this variant", "", ""}};
  const auto& target = *in.live.target;
  if (!in.model_file) {
    return {{"target", "OK", fmt::format("{} to {} instances", target.min_capacity, target.max_capacity), "",
             ""}};
  }
  FieldChecks fields("target",
                     in.commands.aws(fmt::format(
                         "application-autoscaling register-scalable-target --service-namespace sagemaker "
                         "--scalable-dimension {} --resource-id {} --min-capacity {} --max-capacity {}",
                         aws::kVariantDimension, in.deployed.resource_id, in.model_file->min_instances,
                         in.model_file->max_instances)));
  fields.field("MinCapacity", target.min_capacity, in.model_file->min_instances);
  fields.field("MaxCapacity", target.max_capacity, in.model_file->max_instances);
  return fields.done();
}

std::vector<Check> policies_without_plan(const DriftInput& in) {
  std::vector<Check> out;
  for (const auto& policy : in.deployed.policies) {
    out.push_back({"policy " + policy.name, "WARN", policy.type + ", and no plan says what it should be",
                   "a policy that was planned", in.commands.bench("plan") + ", then " + in.commands.apply()});
  }
  return out;
}

// Which way an alarm moves the count: ours and those of target tracking go out above a line and in below one.
bool scales_out(const aws::Alarm& alarm) { return alarm.comparison.rfind("Greater", 0) == 0; }

Check state_row(const DriftInput& in, const aws::Alarm& alarm, bool triggers) {
  Check row{"alarm " + alarm.name + ".StateValue", "OK", alarm.state, "", ""};
  const auto silent = in.silent.find(alarm.name);
  if (silent != in.silent.end() && in.under_load) {
    row.level = triggers ? "ERROR" : "WARN";
    row.found = fmt::format("{}; no datapoint of {} although requests were served", show(alarm.state),
                            fmt::join(silent->second, ", "));
    row.wanted = "a metric that exists: the alarm can never act";
    row.remedy = in.commands.aws(fmt::format("cloudwatch describe-alarms --alarm-names '{}'", alarm.name)) +
                 ", compare namespace, name and dimensions with list-metrics, then " + in.commands.apply();
    return row;
  }
  if (alarm.state == "INSUFFICIENT_DATA") {
    row.level = in.under_load && triggers ? "WARN" : "INFO";
    row.found += in.under_load ? "; it has datapoints but was not evaluated yet" : "; no load, no data";
    return row;
  }
  if (alarm.state != "ALARM" || !triggers) {
    if (alarm.state == "ALARM") row.level = "INFO";
    return row;
  }
  const bool at_minimum = in.live.target && in.live.desired <= in.live.target->min_capacity;
  if (!scales_out(alarm) && at_minimum) {
    row.level = "INFO";
    row.found += "; the variant is at its minimum";
    return row;
  }
  row.level = "WARN";
  row.wanted = scales_out(alarm) ? "OK: load is being scaled for" : "OK: the variant is being scaled in";
  row.remedy = "wait until it is quiet before measuring";
  return row;
}

// Outstanding requests are a level and latencies are durations: their Sum or SampleCount says how often they
// were reported, and a line drawn for the one means nothing for the other.
std::optional<Check> statistic_row(const DriftInput& in, const aws::Alarm& alarm) {
  if (!alarm.metric || (alarm.statistic != "Sum" && alarm.statistic != "SampleCount")) return std::nullopt;
  const std::string& name = alarm.metric->name;
  if (name.rfind("ConcurrentRequests", 0) != 0 && name.find("Latency") == std::string::npos)
    return std::nullopt;
  return Check{"alarm " + alarm.name + ".Statistic", "ERROR", alarm.statistic + " of " + name,
               "Maximum, Average or a percentile",
               in.commands.aws(fmt::format("cloudwatch describe-alarms --alarm-names '{}'", alarm.name)) +
                   ", and put it anew with another statistic"};
}

}  // namespace

std::vector<Check> drift_scaling(const DriftInput& in) {
  std::vector<Check> out;
  append(out, compare_suspended(in.live.target, in.commands));
  const bool applied = anything_applied(in.deployed);
  const bool comparable = in.plan && in.plan->plan.verdict != capacity::PlanVerdict::kInfeasible;
  if (comparable && applied) {
    append(out, compare_target(in.live.target, in.plan->plan.min_instances, in.plan->plan.max_instances,
                               in.commands));
    append(out, compare_policies(in.plan->plan.policy, in.deployed, in.commands, "WARN"));
    return out;
  }
  append(out, target_rows(in));
  if (in.plan && !comparable) {
    out.push_back({"plan", "INFO", in.plan_file + " is infeasible and was not compared", "", ""});
  } else if (in.plan) {
    out.push_back({"plan", "WARN", in.plan_file + " is not applied", "applied, once you trust it",
                   in.commands.apply()});
  }
  append(out, policies_without_plan(in));
  if (in.deployed.policies.empty() && !applied) out.push_back({"policy", "INFO", "none is deployed", "", ""});
  return out;
}

std::vector<Check> drift_activity(const DriftInput& in) {
  std::vector<Check> out;
  std::vector<std::string> seen;
  for (const auto& policy : in.deployed.policies) {
    if (policy.alarms.empty()) {
      const bool own = is_own_policy(policy, in.deployed);
      out.push_back({"policy " + policy.name + ".Alarms", own ? "ERROR" : "WARN",
                     "inert: no alarm triggers it", "an alarm",
                     own ? in.commands.apply() : "give it an alarm or delete it"});
    }
    for (const auto& named : policy.alarms) {
      const aws::Alarm* alarm = in.deployed.alarm(named.name);
      if (std::find(seen.begin(), seen.end(), named.name) != seen.end()) continue;
      seen.push_back(named.name);
      if (alarm == nullptr) {
        out.push_back({"alarm " + named.name, "ERROR",
                       "named by policy " + policy.name + ", but does not exist", "an alarm",
                       in.commands.apply()});
        continue;
      }
      out.push_back(state_row(in, *alarm, true));
      if (auto wrong = statistic_row(in, *alarm)) out.push_back(std::move(*wrong));
    }
  }
  for (const auto& alarm : in.deployed.alarms) {
    if (std::find(seen.begin(), seen.end(), alarm.name) == seen.end() && is_own_alarm(alarm, in.deployed))
      out.push_back(state_row(in, alarm, false));
  }
  return out;
}

}  // namespace headroom::bench
