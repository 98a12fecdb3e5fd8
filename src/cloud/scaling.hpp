// Application Auto Scaling's rules on the world: bounds of scalable targets, activities, and the alarms that
// target tracking makes for itself.
//
// Policies at work are scaling_control.hpp. Pure; single threaded: the caller locks. Source of the texts:
// Application Auto Scaling user guide, "Scaling activities".
#pragma once

#include <optional>
#include <string>

#include "cloud/world.hpp"

namespace headroom::cloud {

struct ResourceId {
  std::string endpoint;
  std::string variant;
};
// "endpoint/NAME/variant/NAME"; nullopt for anything else.
std::optional<ResourceId> parse_resource_id(const std::string& text);

// Brings the desired counts of InService endpoints within the bounds of their scalable targets, unless
// suspended. Returns whether anything changed.
bool keep_within_bounds(World& world, base::WallTime now);

// Asks SageMaker for a desired count, the same way as UpdateEndpointWeightsAndCapacities, and writes the
// activity: InProgress until finish_activities() sees the endpoint settle, or Failed with the refusal
// (written once, however often it is tried). Returns whether the count changed.
bool set_desired_count(World& world, const std::string& resource_id, int wanted, const std::string& cause,
                       base::WallTime now);
// Whether the endpoint can take a new count now.
bool can_scale(const World& world, const ResourceId& id);

void add_activity(World& world, const std::string& resource_id, base::WallTime now,
                  const std::string& description, const std::string& cause, const std::string& status,
                  const std::string& message);
// Ends activities in progress whose endpoint has settled. Returns whether any ended.
bool finish_activities(World& world, base::WallTime now);

// Creates or replaces the alarms of a target-tracking policy (AlarmHigh, and AlarmLow unless scale-in is
// disabled).
void make_tracking_alarms(World& world, const Json& policy, base::WallTime now);
void delete_policy_alarms(World& world, const std::string& policy_arn);  // those that target tracking made
// [{AlarmName, AlarmARN}] of the alarms that name the policy as an action.
Json alarms_of_policy(const World& world, const std::string& policy_arn);

}  // namespace headroom::cloud
