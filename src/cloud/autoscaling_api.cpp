// Application Auto Scaling: scalable targets, policies, activities.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "capacity/tracking_alarms.hpp"
#include "cloud/metric_query.hpp"
#include "cloud/operations.hpp"
#include "cloud/scaling.hpp"
#include "cloud/scaling_schedule.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr const char* kDimension = "sagemaker:variant:DesiredInstanceCount";

void check_namespace(Fields& fields) { fields.choice("ServiceNamespace", {"sagemaker"}); }

// The three members that name a scalable target.
std::string target_id(Fields& fields) {
  check_namespace(fields);
  const std::string resource = fields.text("ResourceId", 1600);
  fields.choice("ScalableDimension", {kDimension});
  if (fields.ok() && !parse_resource_id(resource))
    fields.refuse("ResourceId", "Member must have the form endpoint/NAME/variant/NAME");
  return resource;
}

Json suspended_state(Fields& fields, const Json& before) {
  Json state = before;
  if (!fields.has("SuspendedState")) return state;
  Fields flags(fields.object("SuspendedState"), "suspendedState.");
  for (const char* flag :
       {"DynamicScalingInSuspended", "DynamicScalingOutSuspended", "ScheduledScalingSuspended"}) {
    if (const auto value = flags.maybe_flag(flag)) state[flag] = *value;
  }
  fields.take(flags);
  return state;
}

Result<Json> register_target(Api& api, const Json& in) {
  Fields fields(in);
  const std::string resource = target_id(fields);
  const auto low = fields.maybe_integer("MinCapacity", 0, 10'000);
  const auto high = fields.maybe_integer("MaxCapacity", 0, 10'000);
  const auto role = fields.maybe_text("RoleARN", 1600);
  if (!fields.ok()) return fields.failure();
  const auto existing = api.world.targets.find(resource);
  const bool known = existing != api.world.targets.end();
  const auto id = parse_resource_id(resource);
  if (!known && api.world.variant(id->endpoint, id->variant) == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("No production variant found for resource ID: {}", resource));
  if (!known && (!low || !high))
    return fail(ErrorCode::kInvalidArgument,
                "MinCapacity and MaxCapacity are required to register a new scalable target");
  Json target = known ? existing->second
                      : Json{{"ServiceNamespace", "sagemaker"},
                             {"ResourceId", resource},
                             {"ScalableDimension", kDimension},
                             {"CreationTime", epoch_seconds(api.now)},
                             {"ScalableTargetARN",
                              api.world.arn("application-autoscaling", "scalable-target/" + random_hex(16))},
                             {"SuspendedState",
                              {{"DynamicScalingInSuspended", false},
                               {"DynamicScalingOutSuspended", false},
                               {"ScheduledScalingSuspended", false}}}};
  if (low) target["MinCapacity"] = *low;
  if (high) target["MaxCapacity"] = *high;
  if (target["MinCapacity"].get<int>() > target["MaxCapacity"].get<int>())
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("Maximum capacity cannot be less than minimum capacity ({} < {})",
                            target["MaxCapacity"].get<int>(), target["MinCapacity"].get<int>()));
  target["RoleARN"] = role.value_or(target.value(
      "RoleARN",
      fmt::format("arn:aws:iam::{}:role/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/"
                  "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint",
                  api.world.settings.account)));
  target["SuspendedState"] = suspended_state(fields, target["SuspendedState"]);
  if (!fields.ok()) return fields.failure();
  const std::string arn = target["ScalableTargetARN"];
  api.world.targets[resource] = std::move(target);
  return Json{{"ScalableTargetARN", arn}};
}

Result<Json> no_target(const std::string& resource) {
  return fail(ErrorCode::kNotFound, fmt::format("No scalable target found for service namespace: sagemaker, "
                                                "resource ID: {}, scalable dimension: {}",
                                                resource, kDimension));
}

Result<Json> deregister_target(Api& api, const Json& in) {
  Fields fields(in);
  const std::string resource = target_id(fields);
  if (!fields.ok()) return fields.failure();
  if (api.world.targets.erase(resource) == 0) return no_target(resource);
  auto& policies = api.world.policies;
  for (auto it = policies.begin(); it != policies.end();) {
    if ((*it)["ResourceId"] != resource) {
      ++it;
      continue;
    }
    delete_policy_alarms(api.world, (*it)["PolicyARN"]);
    it = policies.erase(it);
  }
  std::erase_if(api.world.scaling.scheduled,
                [&](const Json& action) { return action["ResourceId"] == resource; });
  api.world.scaling.memory.erase(resource);
  return Json::object();
}

// One page of `rows` under `key`.
Result<Json> page_of(Fields& fields, const std::vector<Json>& rows, const char* key) {
  const auto limit = fields.maybe_integer("MaxResults", 1, 50).value_or(50);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  const auto page = paginate(rows.size(), limit, token);
  if (!page) return fail(ErrorCode::kInvalidArgument, page.error().message, "InvalidNextTokenException");
  Json out{{key, Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out[key].push_back(rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

Result<Json> describe_targets(Api& api, const Json& in) {
  Fields fields(in);
  check_namespace(fields);
  const auto ids = fields.texts("ResourceIds", 1600);
  fields.maybe_choice("ScalableDimension", {kDimension});
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const auto& [resource, target] : api.world.targets) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), resource) != ids.end()) rows.push_back(target);
  }
  return page_of(fields, rows, "ScalableTargets");
}

// A policy's metrics name no period; otherwise they are those of GetMetricData.
void check_tracking_queries(Fields& metric) {
  Json queries = Json::array();
  int returned = 0;
  for (Json query : metric.list("Metrics")) {
    if (query.is_object() && query.contains("MetricStat") && query["MetricStat"].is_object())
      query["MetricStat"].emplace("Period", capacity::kTrackingPeriodS);
    queries.push_back(read_metric_query(query, metric));
    if (!metric.ok()) return;
    returned += queries.back().value("ReturnData", true) ? 1 : 0;
  }
  if (!metric.ok()) return;
  if (returned != 1) return metric.refuse("Metrics", "Exactly one element must have ReturnData");
  if (const auto fine = check_metric_queries(queries); !fine) metric.refuse("Metrics", fine.error().message);
}

void check_target_tracking(Fields& fields) {
  Fields config(fields.object("TargetTrackingScalingPolicyConfiguration"),
                "targetTrackingScalingPolicyConfiguration.");
  if (config.number("TargetValue") <= 0 && config.ok())
    config.refuse("TargetValue", "Member must be greater than 0");
  config.maybe_integer("ScaleOutCooldown", 0, 86'400);
  config.maybe_integer("ScaleInCooldown", 0, 86'400);
  config.maybe_flag("DisableScaleIn");
  const bool predefined = config.has("PredefinedMetricSpecification");
  if (config.ok() && predefined == config.has("CustomizedMetricSpecification"))
    config.refuse(
        "PredefinedMetricSpecification",
        "Exactly one of PredefinedMetricSpecification and CustomizedMetricSpecification must be given");
  if (config.ok() && predefined) {
    Fields metric(config.object("PredefinedMetricSpecification"), "predefinedMetricSpecification.");
    std::vector<std::string_view> types;
    for (const auto& row : capacity::predefined_metrics()) types.push_back(row.type);
    metric.choice("PredefinedMetricType", types);
    config.take(metric);
  } else if (config.ok()) {
    Fields metric(config.object("CustomizedMetricSpecification"), "customizedMetricSpecification.");
    if (metric.has("Metrics")) {
      check_tracking_queries(metric);
    } else {
      metric.text("MetricName", 255);
      metric.text("Namespace", 255);
      metric.choice("Statistic", {"Average", "Minimum", "Maximum", "SampleCount", "Sum"});
    }
    config.take(metric);
  }
  fields.take(config);
}

void check_step_scaling(Fields& fields) {
  Fields config(fields.object("StepScalingPolicyConfiguration"), "stepScalingPolicyConfiguration.");
  config.choice("AdjustmentType", {"ChangeInCapacity", "PercentChangeInCapacity", "ExactCapacity"});
  config.maybe_choice("MetricAggregationType", {"Average", "Minimum", "Maximum"});
  config.maybe_integer("Cooldown", 0, 86'400);
  config.maybe_integer("MinAdjustmentMagnitude", 0, 10'000);
  const Json& steps = config.list("StepAdjustments");
  if (config.ok() && (steps.empty() || steps.size() > 20))
    config.refuse("StepAdjustments", "Member must have 1 to 20 elements");
  for (const Json& step : steps) {
    Fields row(step, "stepAdjustments.");
    row.integer("ScalingAdjustment", -10'000, 10'000);
    const auto low = row.maybe_number("MetricIntervalLowerBound"),
               high = row.maybe_number("MetricIntervalUpperBound");
    if (row.ok() && !low && !high && steps.size() > 1)
      row.refuse("MetricIntervalLowerBound",
                 "At least one bound must be given where there are several steps");
    if (low && high && *low >= *high)
      row.refuse("MetricIntervalLowerBound", "Member must be less than the upper bound");
    config.take(row);
  }
  fields.take(config);
}

Json* find_policy(World& world, const std::string& resource, const std::string& name) {
  for (Json& policy : world.policies) {
    if (policy["ResourceId"] == resource && policy["PolicyName"] == name) return &policy;
  }
  return nullptr;
}

Result<Json> put_policy(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.text("PolicyName", 256);
  const std::string resource = target_id(fields);
  if (!fields.ok()) return fields.failure();
  if (api.world.targets.count(resource) == 0) return no_target(resource);
  Json* known = find_policy(api.world, resource, name);
  const std::string before = known != nullptr ? (*known)["PolicyType"].get<std::string>() : "StepScaling";
  const std::string type =
      fields.maybe_choice("PolicyType", {"StepScaling", "TargetTrackingScaling"}).value_or(before);
  if (known != nullptr && type != before)
    fields.refuse("PolicyType", "The type of an existing policy cannot be changed");
  const bool tracking = type == "TargetTrackingScaling";
  if (tracking)
    check_target_tracking(fields);
  else
    check_step_scaling(fields);
  if (!fields.ok()) return fields.failure();
  const char* key = tracking ? "TargetTrackingScalingPolicyConfiguration" : "StepScalingPolicyConfiguration";
  Json policy =
      known != nullptr ? *known : Json{{"PolicyName", name},     {"ServiceNamespace", "sagemaker"},
                                       {"ResourceId", resource}, {"ScalableDimension", kDimension},
                                       {"PolicyType", type},     {"CreationTime", epoch_seconds(api.now)}};
  if (known == nullptr) {
    policy["PolicyARN"] =
        fmt::format("arn:aws:autoscaling:{}:{}:scalingPolicy:{}:resource/sagemaker/{}:policyName/{}",
                    api.world.settings.region, api.world.settings.account, random_uuid(), resource, name);
  }
  policy[key] = in[key];
  if (tracking) make_tracking_alarms(api.world, policy, api.now);
  const std::string arn = policy["PolicyARN"];
  if (known != nullptr)
    *known = std::move(policy);
  else
    api.world.policies.push_back(std::move(policy));
  return Json{{"PolicyARN", arn}, {"Alarms", tracking ? alarms_of_policy(api.world, arn) : Json::array()}};
}

Result<Json> describe_policies(Api& api, const Json& in) {
  Fields fields(in);
  check_namespace(fields);
  const auto names = fields.texts("PolicyNames", 256);
  const auto resource = fields.maybe_text("ResourceId", 1600);
  fields.maybe_choice("ScalableDimension", {kDimension});
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const Json& policy : api.world.policies) {
    if (resource && policy["ResourceId"] != *resource) continue;
    if (!names.empty() &&
        std::find(names.begin(), names.end(), policy["PolicyName"].get<std::string>()) == names.end())
      continue;
    rows.push_back(policy);
    rows.back()["Alarms"] = alarms_of_policy(api.world, policy["PolicyARN"]);
  }
  return page_of(fields, rows, "ScalingPolicies");
}

Result<Json> delete_policy(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.text("PolicyName", 256);
  const std::string resource = target_id(fields);
  if (!fields.ok()) return fields.failure();
  auto& policies = api.world.policies;
  const auto it = std::find_if(policies.begin(), policies.end(), [&](const Json& p) {
    return p["ResourceId"] == resource && p["PolicyName"] == name;
  });
  if (it == policies.end())
    return fail(ErrorCode::kNotFound, fmt::format("No scaling policy found for service namespace: sagemaker, "
                                                  "resource ID: {}, scalable dimension: {}, "
                                                  "policy name: {}",
                                                  resource, kDimension, name));
  delete_policy_alarms(api.world, (*it)["PolicyARN"]);
  policies.erase(it);
  return Json::object();
}

Result<Json> describe_activities(Api& api, const Json& in) {
  Fields fields(in);
  check_namespace(fields);
  const auto resource = fields.maybe_text("ResourceId", 1600);
  fields.maybe_choice("ScalableDimension", {kDimension});
  const bool all = fields.maybe_flag("IncludeNotScaledActivities").value_or(false);
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const Json& activity : api.world.activities) {
    if (!all && activity.contains("NotScaledReasons")) continue;
    if (!resource || activity["ResourceId"] == *resource) rows.push_back(activity);
  }
  return page_of(fields, rows, "ScalingActivities");
}

constexpr std::array kOperations{
    OperationRow{"RegisterScalableTarget", register_target, true},
    OperationRow{"DeregisterScalableTarget", deregister_target, true},
    OperationRow{"DescribeScalableTargets", describe_targets},
    OperationRow{"PutScalingPolicy", put_policy, true},
    OperationRow{"DescribeScalingPolicies", describe_policies},
    OperationRow{"DeleteScalingPolicy", delete_policy, true},
    OperationRow{"DescribeScalingActivities", describe_activities},
    OperationRow{"PutScheduledAction", put_scheduled_action, true},
    OperationRow{"DeleteScheduledAction", delete_scheduled_action, true},
    OperationRow{"DescribeScheduledActions", describe_scheduled_actions},
};

}  // namespace

std::span<const OperationRow> autoscaling_operations() { return kOperations; }

}  // namespace headroom::cloud
