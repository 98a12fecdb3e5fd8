// The snapshot of the status page.
#include <algorithm>

#include <fmt/format.h>

#include "cloud/status_page.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kActivities = 30;

const char* name_of(InstanceState state) {
  switch (state) {
    case InstanceState::kProvisioning:
      return "provisioning";
    case InstanceState::kStarting:
      return "starting";
    case InstanceState::kInService:
      return "in service";
    case InstanceState::kDraining:
      return "draining";
    case InstanceState::kStopping:
      return "stopping";
  }
  return "";
}

Json instance_rows(const std::vector<Instance>& instances, const std::string& variant, bool pending,
                   base::WallTime now) {
  Json rows = Json::array();
  for (const Instance& i : instances) {
    if (i.variant != variant) continue;
    rows.push_back({{"id", i.id},
                    {"state", name_of(i.state)},
                    {"new", pending},
                    {"in_flight", i.in_flight},
                    {"for_s", std::chrono::duration<double>(now - i.since).count()}});
  }
  return rows;
}

bool names_policy(const Json& alarm, const std::string& arn) {
  const Json actions = alarm.value("AlarmActions", Json::array());
  return std::any_of(actions.begin(), actions.end(), [&](const Json& a) { return a == arn; });
}

// What the policies of a variant compare its concurrency with.
Json policy_lines(const World& world, const std::string& resource) {
  Json lines = Json::array();
  for (const Json& policy : world.policies) {
    if (policy.value("ResourceId", "") != resource) continue;
    const std::string name = policy.value("PolicyName", "");
    const Json tracking = policy.value("TargetTrackingScalingPolicyConfiguration", Json::object());
    const Json target = tracking.value("TargetValue", Json());
    if (!target.is_null()) lines.push_back({{"name", name + ": target"}, {"value", target}});
    for (const auto& [key, alarm] : world.alarms) {
      if (!names_policy(alarm, policy.value("PolicyARN", "")) || !alarm.contains("Threshold")) continue;
      if (alarm.value("MetricName", "").rfind("ConcurrentRequestsPer", 0) != 0 ||
          alarm["Threshold"] == target)
        continue;
      const bool low = alarm.value("ComparisonOperator", "").rfind("LessThan", 0) == 0;
      lines.push_back({{"name", name + (low ? ": in below" : ": out above")}, {"value", alarm["Threshold"]}});
    }
  }
  return lines;
}

Json variant_row(const World& world, const Endpoint& endpoint, const Variant& variant, base::WallTime now) {
  const std::string resource = fmt::format("endpoint/{}/variant/{}", endpoint.name, variant.name);
  Json instances = instance_rows(endpoint.instances, variant.name, false, now);
  int sum = 0, busiest = 0;
  for (const Instance& i : endpoint.instances) {
    if (i.variant != variant.name) continue;
    sum += i.in_flight;
    busiest = std::max(busiest, i.in_flight);
  }
  if (endpoint.pending) {
    for (Json& row : instance_rows(endpoint.pending->instances, variant.name, true, now))
      instances.push_back(std::move(row));
  }
  Json out{{"name", variant.name},       {"model", variant.model},
           {"desired", variant.desired}, {"weight", variant.weight},
           {"in_flight", sum},           {"busiest", busiest},
           {"instances", instances},     {"lines", policy_lines(world, resource)}};
  if (const auto target = world.targets.find(resource); target != world.targets.end()) {
    out["min"] = target->second.value("MinCapacity", 0);
    out["max"] = target->second.value("MaxCapacity", 0);
  }
  return out;
}

}  // namespace

Json status_snapshot(const World& world, base::WallTime now) {
  Json out{{"time", epoch_seconds(now)},    {"region", world.settings.region},
           {"quota", world.settings.quota}, {"used", world.desired_instances()},
           {"fast", world.settings.fast},   {"endpoints", Json::array()},
           {"alarms", Json::array()},       {"activities", Json::array()}};
  for (const auto& [name, endpoint] : world.endpoints) {
    Json row{{"name", name},
             {"status", endpoint.status},
             {"config", endpoint.config},
             {"reason", endpoint.failure_reason},
             {"pending", endpoint.pending ? Json(endpoint.pending->config) : Json()},
             {"variants", Json::array()}};
    for (const Variant& v : endpoint.variants)
      row["variants"].push_back(variant_row(world, endpoint, v, now));
    out["endpoints"].push_back(std::move(row));
  }
  for (const auto& [name, alarm] : world.alarms) {
    out["alarms"].push_back({{"name", name},
                             {"state", alarm.value("StateValue", "")},
                             {"metric", alarm.value("MetricName", "")},
                             {"reason", alarm.value("StateReason", "")}});
  }
  for (std::size_t i = 0; i < std::min(kActivities, world.activities.size()); ++i) {
    const Json& activity = world.activities[i];
    out["activities"].push_back({{"time", activity.value("StartTime", 0.0)},
                                 {"resource", activity.value("ResourceId", "")},
                                 {"what", activity.value("Description", "")},
                                 {"cause", activity.value("Cause", "")},
                                 {"status", activity.value("StatusCode", "")}});
  }
  return out;
}

}  // namespace headroom::cloud
