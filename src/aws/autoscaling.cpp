// Application Auto Scaling as JSON 1.1.
#include "aws/autoscaling.hpp"

#include "aws/json_call.hpp"
#include "aws/metric_json.hpp"

namespace headroom::aws {
namespace {

using base::Result;

constexpr const char* kNamespace = "sagemaker";
constexpr std::size_t kIdsPerCall = 50;

json with_target(const std::string& resource_id) {
  return {{"ServiceNamespace", kNamespace},
          {"ResourceId", resource_id},
          {"ScalableDimension", kVariantDimension}};
}

json customized_json(const CustomizedMetric& in) {
  json out = json::object();
  if (in.metric) {
    out = metric_json(*in.metric);
    set_if(out, "Statistic", in.statistic);
    set_if(out, "Unit", in.unit);
  } else {
    out["Metrics"] = json::array();
    for (const MetricQuery& query : in.queries) out["Metrics"].push_back(query_json(query));
  }
  return out;
}

CustomizedMetric read_customized(const json& in) {
  CustomizedMetric out;
  if (!text_of(in, "MetricName").empty()) out.metric = read_metric(in);
  out.statistic = text_of(in, "Statistic");
  out.unit = text_of(in, "Unit");
  for (const json& query : list_of(in, "Metrics")) out.queries.push_back(read_query(query));
  return out;
}

json tracking_json(const TargetTracking& in) {
  json out = {{"TargetValue", in.target_value}};
  if (!in.predefined_metric.empty()) {
    json metric = {{"PredefinedMetricType", in.predefined_metric}};
    set_if(metric, "ResourceLabel", in.resource_label);
    out["PredefinedMetricSpecification"] = metric;
  }
  if (in.customized) out["CustomizedMetricSpecification"] = customized_json(*in.customized);
  set_if(out, "ScaleOutCooldown", in.scale_out_cooldown_s);
  set_if(out, "ScaleInCooldown", in.scale_in_cooldown_s);
  set_if(out, "DisableScaleIn", in.disable_scale_in);
  return out;
}

TargetTracking read_tracking(const json& in) {
  TargetTracking out;
  out.target_value = number_of(in, "TargetValue").value_or(0);
  const json& predefined = object_of(in, "PredefinedMetricSpecification");
  out.predefined_metric = text_of(predefined, "PredefinedMetricType");
  out.resource_label = text_of(predefined, "ResourceLabel");
  if (in.contains("CustomizedMetricSpecification")) {
    out.customized = read_customized(object_of(in, "CustomizedMetricSpecification"));
  }
  out.scale_out_cooldown_s = int_of(in, "ScaleOutCooldown");
  out.scale_in_cooldown_s = int_of(in, "ScaleInCooldown");
  out.disable_scale_in = bool_of(in, "DisableScaleIn");
  return out;
}

json step_json(const StepScaling& in) {
  json out = {{"AdjustmentType", in.adjustment_type}, {"StepAdjustments", json::array()}};
  for (const StepAdjustment& step : in.steps) {
    json element = {{"ScalingAdjustment", step.adjustment}};
    set_if(element, "MetricIntervalLowerBound", step.lower_bound);
    set_if(element, "MetricIntervalUpperBound", step.upper_bound);
    out["StepAdjustments"].push_back(element);
  }
  set_if(out, "Cooldown", in.cooldown_s);
  set_if(out, "MinAdjustmentMagnitude", in.min_adjustment_magnitude);
  set_if(out, "MetricAggregationType", in.aggregation);
  return out;
}

StepScaling read_step(const json& in) {
  StepScaling out;
  out.adjustment_type = text_of(in, "AdjustmentType");
  for (const json& element : list_of(in, "StepAdjustments")) {
    StepAdjustment step;
    step.adjustment = int_of(element, "ScalingAdjustment").value_or(0);
    step.lower_bound = number_of(element, "MetricIntervalLowerBound");
    step.upper_bound = number_of(element, "MetricIntervalUpperBound");
    out.steps.push_back(step);
  }
  out.cooldown_s = int_of(in, "Cooldown");
  out.min_adjustment_magnitude = int_of(in, "MinAdjustmentMagnitude");
  out.aggregation = text_of(in, "MetricAggregationType");
  return out;
}

std::vector<PolicyAlarm> read_alarms(const json& in) {
  std::vector<PolicyAlarm> out;
  for (const json& alarm : list_of(in, "Alarms"))
    out.push_back({text_of(alarm, "AlarmName"), text_of(alarm, "AlarmARN")});
  return out;
}

ScalingPolicy read_policy(const json& in) {
  ScalingPolicy out;
  out.name = text_of(in, "PolicyName");
  out.arn = text_of(in, "PolicyARN");
  out.resource_id = text_of(in, "ResourceId");
  out.dimension = text_of(in, "ScalableDimension");
  out.type = text_of(in, "PolicyType");
  if (in.contains("TargetTrackingScalingPolicyConfiguration")) {
    out.target_tracking = read_tracking(object_of(in, "TargetTrackingScalingPolicyConfiguration"));
  }
  if (in.contains("StepScalingPolicyConfiguration")) {
    out.step_scaling = read_step(object_of(in, "StepScalingPolicyConfiguration"));
  }
  out.alarms = read_alarms(in);
  out.created = time_of(in, "CreationTime");
  return out;
}

ScalableTarget read_target(const json& in) {
  ScalableTarget out;
  out.resource_id = text_of(in, "ResourceId");
  out.dimension = text_of(in, "ScalableDimension");
  out.min_capacity = int_of(in, "MinCapacity").value_or(0);
  out.max_capacity = int_of(in, "MaxCapacity").value_or(0);
  out.role_arn = text_of(in, "RoleARN");
  out.arn = text_of(in, "ScalableTargetARN");
  const json& suspended = object_of(in, "SuspendedState");
  out.suspended.scale_in = bool_of(suspended, "DynamicScalingInSuspended").value_or(false);
  out.suspended.scale_out = bool_of(suspended, "DynamicScalingOutSuspended").value_or(false);
  out.suspended.scheduled = bool_of(suspended, "ScheduledScalingSuspended").value_or(false);
  out.created = time_of(in, "CreationTime");
  return out;
}

}  // namespace

std::string variant_resource_id(const std::string& endpoint, const std::string& variant) {
  return "endpoint/" + endpoint + "/variant/" + variant;
}

Result<void> AutoScaling::register_target(const TargetChange& change, base::Deadline deadline) {
  json body = with_target(change.resource_id);
  set_if(body, "MinCapacity", change.min_capacity);
  set_if(body, "MaxCapacity", change.max_capacity);
  set_if(body, "RoleARN", change.role_arn);
  if (change.suspended) {
    body["SuspendedState"] = {{"DynamicScalingInSuspended", change.suspended->scale_in},
                              {"DynamicScalingOutSuspended", change.suspended->scale_out},
                              {"ScheduledScalingSuspended", change.suspended->scheduled}};
  }
  auto answer =
      call(transport_, {Service::kAutoScaling, "RegisterScalableTarget", change.resource_id, deadline}, body);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<void> AutoScaling::deregister_target(const std::string& resource_id, base::Deadline deadline) {
  auto answer = call(transport_, {Service::kAutoScaling, "DeregisterScalableTarget", resource_id, deadline},
                     with_target(resource_id));
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<std::vector<ScalableTarget>> AutoScaling::describe_targets(
    const std::vector<std::string>& resource_ids, base::Deadline deadline) {
  std::vector<ScalableTarget> out;
  std::size_t from = 0;
  do {
    json body = {{"ServiceNamespace", kNamespace}, {"ScalableDimension", kVariantDimension}};
    const std::size_t to = std::min(from + kIdsPerCall, resource_ids.size());
    if (from < to) {
      body["ResourceIds"] = std::vector<std::string>(resource_ids.begin() + static_cast<std::ptrdiff_t>(from),
                                                     resource_ids.begin() + static_cast<std::ptrdiff_t>(to));
    }
    const std::string resource = resource_ids.empty() ? "" : resource_ids[from];
    auto done = call_pages(transport_, {Service::kAutoScaling, "DescribeScalableTargets", resource, deadline},
                           std::move(body), "NextToken", "NextToken", [&](const json& page) {
                             for (const json& target : list_of(page, "ScalableTargets"))
                               out.push_back(read_target(target));
                           });
    if (!done) return tl::unexpected(done.error());
    from = to;
  } while (from < resource_ids.size());
  return out;
}

Result<AutoScaling::PutPolicy> AutoScaling::put_policy(const ScalingPolicy& policy, base::Deadline deadline) {
  json body = with_target(policy.resource_id);
  body["PolicyName"] = policy.name;
  body["PolicyType"] = policy.type;
  if (policy.target_tracking) {
    body["TargetTrackingScalingPolicyConfiguration"] = tracking_json(*policy.target_tracking);
  }
  if (policy.step_scaling) body["StepScalingPolicyConfiguration"] = step_json(*policy.step_scaling);
  auto answer = call(transport_, {Service::kAutoScaling, "PutScalingPolicy", policy.name, deadline}, body);
  if (!answer) return tl::unexpected(answer.error());
  return PutPolicy{text_of(*answer, "PolicyARN"), read_alarms(*answer)};
}

Result<std::vector<ScalingPolicy>> AutoScaling::describe_policies(const std::string& resource_id,
                                                                  base::Deadline deadline) {
  json body = {{"ServiceNamespace", kNamespace}, {"ScalableDimension", kVariantDimension}};
  set_if(body, "ResourceId", resource_id);
  std::vector<ScalingPolicy> out;
  auto done =
      call_pages(transport_, {Service::kAutoScaling, "DescribeScalingPolicies", resource_id, deadline},
                 std::move(body), "NextToken", "NextToken", [&](const json& page) {
                   for (const json& policy : list_of(page, "ScalingPolicies"))
                     out.push_back(read_policy(policy));
                 });
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<void> AutoScaling::delete_policy(const std::string& name, const std::string& resource_id,
                                        base::Deadline deadline) {
  json body = with_target(resource_id);
  body["PolicyName"] = name;
  auto answer = call(transport_, {Service::kAutoScaling, "DeleteScalingPolicy", name, deadline}, body);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<std::vector<ScalingActivity>> AutoScaling::describe_activities(const std::string& resource_id,
                                                                      base::Deadline deadline) {
  std::vector<ScalingActivity> out;
  auto done =
      call_pages(transport_, {Service::kAutoScaling, "DescribeScalingActivities", resource_id, deadline},
                 with_target(resource_id), "NextToken", "NextToken", [&](const json& page) {
                   for (const json& in : list_of(page, "ScalingActivities")) {
                     ScalingActivity activity;
                     activity.id = text_of(in, "ActivityId");
                     activity.resource_id = text_of(in, "ResourceId");
                     activity.description = text_of(in, "Description");
                     activity.cause = text_of(in, "Cause");
                     activity.status = text_of(in, "StatusCode");
                     activity.status_message = text_of(in, "StatusMessage");
                     activity.start = time_of(in, "StartTime");
                     activity.end = time_of(in, "EndTime");
                     out.push_back(std::move(activity));
                   }
                 });
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<std::map<std::string, std::string>> AutoScaling::list_tags(const std::string& target_arn,
                                                                  base::Deadline deadline) {
  auto answer = call(transport_, {Service::kAutoScaling, "ListTagsForResource", target_arn, deadline},
                     {{"ResourceARN", target_arn}});
  if (!answer) return tl::unexpected(answer.error());
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : object_of(*answer, "Tags").items())
    out[key] = value.is_string() ? value.get<std::string>() : std::string{};
  return out;
}

}  // namespace headroom::aws
