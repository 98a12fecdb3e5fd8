// Target-tracking alarms and resource ids.
#include "cloud/scaling.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/names.hpp"
#include "capacity/tracking_alarms.hpp"
#include "cloud/metric_query.hpp"

namespace headroom::cloud {
namespace {

Json dimensions_of(const ResourceId& id) {
  return Json::array(
      {{{"Name", "EndpointName"}, {"Value", id.endpoint}}, {{"Name", "VariantName"}, {"Value", id.variant}}});
}

void set_metric(const Json& policy, Json& alarm) {
  const Json& configuration = policy.at("TargetTrackingScalingPolicyConfiguration");
  if (configuration.contains("PredefinedMetricSpecification")) {
    const std::string type = configuration["PredefinedMetricSpecification"].value("PredefinedMetricType", "");
    const auto id = parse_resource_id(policy.at("ResourceId"));
    const capacity::PredefinedMetric* known = capacity::predefined_metric(type);
    if (known == nullptr || !id) return;
    alarm["Namespace"] = "AWS/SageMaker";
    alarm["MetricName"] = known->name;
    alarm["Dimensions"] = dimensions_of(*id);
    alarm["Statistic"] = known->statistic;
    alarm["Period"] = known->period_s;
    return;
  }
  const Json custom = configuration.value("CustomizedMetricSpecification", Json::object());
  if (custom.contains("Metrics")) {
    alarm["Metrics"] = custom["Metrics"];
    // A policy's metrics need not name a period.
    for (Json& query : alarm["Metrics"]) {
      if (query.contains("MetricStat") && !query["MetricStat"].contains("Period"))
        query["MetricStat"]["Period"] = capacity::kTrackingPeriodS;
    }
    return;
  }
  copy_members(custom, alarm, {"Namespace", "MetricName", "Statistic", "Unit"});
  alarm["Dimensions"] = custom.value("Dimensions", Json::array());
  alarm["Period"] = capacity::kTrackingPeriodS;
}

}  // namespace

std::optional<ResourceId> parse_resource_id(const std::string& text) {
  constexpr std::string_view kFirst = "endpoint/", kSecond = "/variant/";
  if (text.rfind(kFirst, 0) != 0) return std::nullopt;
  const auto middle = text.find(kSecond, kFirst.size());
  if (middle == std::string::npos) return std::nullopt;
  ResourceId id{text.substr(kFirst.size(), middle - kFirst.size()), text.substr(middle + kSecond.size())};
  if (!base::is_sagemaker_name(id.endpoint) || !base::is_sagemaker_name(id.variant)) return std::nullopt;
  return id;
}

void make_tracking_alarms(World& world, const Json& policy, base::WallTime now) {
  const std::string arn = policy.at("PolicyARN");
  const Json& configuration = policy.at("TargetTrackingScalingPolicyConfiguration");
  const std::string resource = policy.at("ResourceId");
  const double target = configuration.at("TargetValue");
  delete_policy_alarms(world, arn);
  Json watched = Json::object();
  set_metric(policy, watched);
  for (const capacity::TrackingAlarm& side : capacity::tracking_alarms(
           target, configuration.value("DisableScaleIn", false), alarm_period_s(watched))) {
    const std::string name = fmt::format("TargetTracking-{}-{}-{}", resource, side.name, random_uuid());
    Json alarm{
        {"AlarmName", name},
        {"AlarmArn", world.arn("cloudwatch", "alarm:" + name)},
        {"AlarmDescription", fmt::format("DO NOT EDIT OR DELETE. For TargetTrackingScaling policy {}.", arn)},
        {"AlarmConfigurationUpdatedTimestamp", epoch_seconds(now)},
        {"ActionsEnabled", true},
        {"OKActions", Json::array()},
        {"AlarmActions", Json::array({arn})},
        {"InsufficientDataActions", Json::array()},
        {"StateValue", "INSUFFICIENT_DATA"},
        {"StateReason", "Unchecked: Initial alarm creation"},
        {"StateUpdatedTimestamp", epoch_seconds(now)},
        {"StateTransitionedTimestamp", epoch_seconds(now)},
        {"EvaluationPeriods", side.datapoints},
        {"Threshold", side.threshold},
        {"ComparisonOperator", side.comparison}};
    alarm.update(watched);
    world.alarms[name] = std::move(alarm);
  }
}

void delete_policy_alarms(World& world, const std::string& policy_arn) {
  for (auto it = world.alarms.begin(); it != world.alarms.end();) {
    const Json actions = it->second.value("AlarmActions", Json::array());
    const bool ours =
        it->first.rfind("TargetTracking-", 0) == 0 && actions.size() == 1 && actions[0] == policy_arn;
    it = ours ? world.alarms.erase(it) : std::next(it);
  }
}

Json alarms_of_policy(const World& world, const std::string& policy_arn) {
  Json out = Json::array();
  for (const auto& [name, alarm] : world.alarms) {
    for (const char* list : {"AlarmActions", "OKActions", "InsufficientDataActions"}) {
      const Json actions = alarm.value(list, Json::array());
      if (std::find(actions.begin(), actions.end(), policy_arn) == actions.end()) continue;
      out.push_back({{"AlarmName", name}, {"AlarmARN", alarm.at("AlarmArn")}});
      break;
    }
  }
  return out;
}

}  // namespace headroom::cloud
