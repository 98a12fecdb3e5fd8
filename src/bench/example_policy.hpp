// For tests: a plan of each form and the deployment that apply would make of it.
#pragma once

#include <string>

#include "artifact/artifacts.hpp"
#include "bench/policy_compare.hpp"
#include "bench/translate.hpp"

namespace headroom::bench::example {

inline capacity::Plan plan(capacity::Rule rule, capacity::Carrier carrier = capacity::Carrier::kNative) {
  capacity::Plan plan;
  plan.rule = rule;
  plan.min_instances = 1;
  plan.max_instances = 4;
  plan.queue_limit = 50;
  plan.calibration_ratio = 1.0;
  capacity::Policy& policy = plan.policy;
  policy.carrier = rule == capacity::Rule::kPublished ? capacity::Carrier::kConcurrency : carrier;
  policy.variant = "AllTraffic";
  capacity::AlarmRule in;
  in.name = "headroom-e-AllTraffic-in";
  in.description = "in";
  in.purpose = "scale_in";
  in.policy = in.name;
  in.threshold = 25;
  in.comparison = "LessThanThreshold";
  in.missing_data = "breaching";
  capacity::PolicyRule step_in{in.name, "StepScaling", {}, {}};
  step_in.step_scaling = capacity::StepRule{"ChangeInCapacity", {{{}, 0.0, -1}}, 300, {}, "Average"};
  policy.scale_in = {step_in};
  const std::string out_name = "headroom-e-AllTraffic-out";
  if (rule == capacity::Rule::kPublished) {
    in.metric = capacity::concurrency_metric("e", "AllTraffic");
    in.statistic = "Average";
    in.period_s = 60;
    capacity::TargetTrackingRule tracking;
    tracking.target_value = 37.5;
    tracking.predefined_metric = "SageMakerVariantConcurrentRequestsPerModelHighResolution";
    tracking.scale_out_cooldown_s = 30;
    policy.scale_out = {{out_name, "TargetTrackingScaling", tracking, {}}};
    policy.alarms = {in};
  } else {
    in.queries = {{"i", capacity::invocations_metric("e", "AllTraffic"), "Sum", 60, "", "", false},
                  {"e", {}, "", {}, "i / 60 - 3", "spare rate", true}};
    policy.scale_out = {{out_name, "StepScaling", {}, {}}};
    policy.scale_out[0].step_scaling =
        capacity::StepRule{"PercentChangeInCapacity", {{0.0, 5.0, 25}, {5.0, {}, 100}}, 40, 1, "Average"};
    capacity::AlarmRule out;
    out.name = out.policy = out_name;
    out.purpose = "scale_out";
    out.metric = capacity::concurrency_metric("e", "AllTraffic");
    out.statistic = "Average";
    out.period_s = 10;
    out.threshold = 10;
    out.comparison = "GreaterThanThreshold";
    out.missing_data = "notBreaching";
    policy.alarms = {out, in};
  }
  capacity::AlarmRule informative;
  informative.name = "headroom-e-AllTraffic-unqueued-p95";
  informative.purpose = "informative";
  informative.metric = capacity::first_chunk_metric("e", "AllTraffic");
  informative.extended_statistic = "p95";
  informative.period_s = 60;
  informative.datapoints_to_alarm = 2;
  informative.threshold = 65000;
  informative.comparison = "GreaterThanThreshold";
  informative.missing_data = "notBreaching";
  policy.alarms.push_back(informative);
  return plan;
}

inline std::string arn_of(const std::string& policy) {
  return "arn:aws:autoscaling:us-east-1:1:scalingPolicy:u:resource/sagemaker/endpoint/e/variant/"
         "AllTraffic:policyName/" +
         policy;
}

// What the services answer after apply, defaults left out as they do.
inline Deployed deployed(const capacity::Plan& plan) {
  Deployed out{"e", "AllTraffic", aws::variant_resource_id("e", "AllTraffic"), {}, {}, {}};
  out.target = aws::ScalableTarget{};
  out.target->resource_id = out.resource_id;
  out.target->min_capacity = plan.min_instances;
  out.target->max_capacity = plan.max_instances;
  for (const auto& rule : all_rules(plan.policy)) {
    out.policies.push_back(to_aws(rule, out.resource_id));
    auto& policy = out.policies.back();
    policy.arn = arn_of(policy.name);
    if (!policy.target_tracking) continue;
    aws::Alarm own;
    own.name = "TargetTracking-endpoint/e/variant/AllTraffic-AlarmHigh-1";
    own.metric = to_aws(capacity::concurrency_metric("e", "AllTraffic"));
    own.threshold = policy.target_tracking->target_value;
    own.comparison = "GreaterThanThreshold";
    own.alarm_actions = {policy.arn};
    own.state = "OK";
    policy.alarms = {{own.name, ""}};
    out.alarms.push_back(own);
  }
  for (const auto& rule : plan.policy.alarms) {
    out.alarms.push_back(to_aws(rule, rule.policy.empty() ? "" : arn_of(rule.policy)));
    out.alarms.back().state = "OK";
    if (out.alarms.back().datapoints_to_alarm == out.alarms.back().evaluation_periods)
      out.alarms.back().datapoints_to_alarm.reset();
    for (auto& policy : out.policies) {
      if (policy.name == rule.policy) policy.alarms.push_back({rule.name, ""});
    }
  }
  return out;
}

inline Commands commands() {
  Commands out;
  out.endpoint = "e";
  return out;
}

// Ids of the checks that are errors.
inline std::vector<std::string> errors(const std::vector<Check>& checks) {
  std::vector<std::string> out;
  for (const auto& check : checks) {
    if (check.level == "ERROR") out.push_back(check.id);
  }
  return out;
}

}  // namespace headroom::bench::example
