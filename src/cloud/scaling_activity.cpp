// Activities, and the one way in which scaling changes a count.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "cloud/operations.hpp"
#include "cloud/scaling.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kMaxActivities = 1000;
constexpr int kMayBeInProgress = 50;  // so many of the newest are looked at
constexpr std::string_view kSetting = "Setting desired instance count to ";

const OperationRow* update_operation() {
  for (const Service& service : services()) {
    if (service.name == "sagemaker") return find_operation(service, "UpdateEndpointWeightsAndCapacities");
  }
  return nullptr;
}

// The refusal of a repeated attempt is the same activity.
bool told_already(World& world, const std::string& resource, const std::string& description,
                  const std::string& message, base::WallTime now) {
  for (Json& activity : world.activities) {
    if (activity["ResourceId"] != resource) continue;
    if (activity["StatusCode"] != "Failed" || activity["Description"] != description ||
        activity.value("StatusMessage", "") != message)
      return false;
    activity["EndTime"] = epoch_seconds(now);
    return true;
  }
  return false;
}

int wanted_by(const Json& activity) {
  const auto& text = activity["Description"].get_ref<const std::string&>();
  int wanted = -1;
  if (text.rfind(kSetting, 0) == 0)
    std::from_chars(text.data() + kSetting.size(), text.data() + text.size(), wanted);
  return wanted;
}

void finish(Json& activity, const char* status, const std::string& message, base::WallTime now) {
  activity["StatusCode"] = status;
  activity["StatusMessage"] = message;
  activity["EndTime"] = epoch_seconds(now);
}

}  // namespace

bool can_scale(const World& world, const ResourceId& id) {
  const auto it = world.endpoints.find(id.endpoint);
  if (it == world.endpoints.end() || it->second.pending) return false;
  const std::string& status = it->second.status;
  return status == "InService" || (status == "Updating" && world.scaling.settings.while_updating);
}

void add_activity(World& world, const std::string& resource_id, base::WallTime now,
                  const std::string& description, const std::string& cause, const std::string& status,
                  const std::string& message) {
  Json activity{
      {"ActivityId", random_uuid()},     {"ServiceNamespace", "sagemaker"},
      {"ResourceId", resource_id},       {"ScalableDimension", "sagemaker:variant:DesiredInstanceCount"},
      {"Description", description},      {"Cause", cause},
      {"StartTime", epoch_seconds(now)}, {"StatusCode", status}};
  if (status != "InProgress") activity["EndTime"] = epoch_seconds(now);
  if (!message.empty()) activity["StatusMessage"] = message;
  world.activities.push_front(std::move(activity));
  if (world.activities.size() > kMaxActivities) world.activities.pop_back();
}

bool set_desired_count(World& world, const std::string& resource_id, int wanted, const std::string& cause,
                       base::WallTime now) {
  const auto id = parse_resource_id(resource_id);
  if (!id || !can_scale(world, *id)) return false;
  Endpoint& endpoint = world.endpoints.at(id->endpoint);
  const std::string description = fmt::format("{}{}.", kSetting, wanted);
  Api api{world, now};
  // A client is refused while an endpoint is Updating; scaling may go on (ScalingSettings::while_updating).
  const std::string before = std::exchange(endpoint.status, "InService");
  const auto done = update_operation()->run(
      api,
      {{"EndpointName", id->endpoint},
       {"DesiredWeightsAndCapacities", {{{"VariantName", id->variant}, {"DesiredInstanceCount", wanted}}}}});
  if (!done) {
    endpoint.status = before;
    const std::string message =
        fmt::format("Failed to set desired instance count to {}. Reason: {}", wanted, done.error().message);
    if (!told_already(world, resource_id, description, message, now))
      add_activity(world, resource_id, now, description, cause, "Failed", message);
    return false;
  }
  add_activity(
      world, resource_id, now, description, cause, "InProgress",
      fmt::format("Successfully set desired instance count to {}. Waiting for change to be fulfilled by "
                  "sagemaker.",
                  wanted));
  return true;
}

bool finish_activities(World& world, base::WallTime now) {
  bool changed = false;
  std::map<std::string, int> newer;  // by resource: a later activity's count
  int looked = 0;
  for (Json& activity : world.activities) {
    if (++looked > kMayBeInProgress) break;
    const std::string resource = activity["ResourceId"];
    const int wanted = wanted_by(activity);
    if (activity["StatusCode"] == "Failed" || wanted < 0) continue;
    const auto later = newer.find(resource);
    const bool overridden = later != newer.end();
    newer.try_emplace(resource, wanted);
    if (activity["StatusCode"] != "InProgress") continue;
    const auto id = parse_resource_id(resource);
    const Variant* variant = id ? world.variant(id->endpoint, id->variant) : nullptr;
    if (variant == nullptr) {
      finish(activity, "Unfulfilled", "The endpoint no longer exists.", now);
    } else if (overridden) {
      finish(activity, "Overridden", "A more recent scaling activity replaced this one.", now);
    } else if (world.endpoints.at(id->endpoint).status != "InService") {
      continue;
    } else if (variant->desired == wanted) {
      finish(activity, "Successful",
             fmt::format(
                 "Successfully set desired instance count to {}. Change successfully fulfilled by sagemaker.",
                 wanted),
             now);
    } else {
      finish(activity, "Unfulfilled",
             fmt::format("The change was not fulfilled by sagemaker. {}",
                         world.endpoints.at(id->endpoint).failure_reason),
             now);
    }
    changed = true;
  }
  return changed;
}

bool keep_within_bounds(World& world, base::WallTime now) {
  bool changed = false;
  for (const auto& [resource, target] : world.targets) {
    const auto id = parse_resource_id(resource);
    const Variant* variant = id ? world.variant(id->endpoint, id->variant) : nullptr;
    if (variant == nullptr || world.endpoints.at(id->endpoint).status != "InService") continue;
    const int low = target.at("MinCapacity"), high = target.at("MaxCapacity");
    const int wanted = std::clamp(variant->desired, low, high);
    if (wanted == variant->desired) continue;
    const bool out = wanted > variant->desired;
    if (target["SuspendedState"].value(out ? "DynamicScalingOutSuspended" : "DynamicScalingInSuspended",
                                       false))
      continue;
    changed |=
        set_desired_count(world, resource, wanted,
                          fmt::format("{} capacity was set to {}", out ? "minimum" : "maximum", wanted), now);
  }
  return changed;
}

}  // namespace headroom::cloud
