// Application Auto Scaling's rules on the world: bounds of scalable targets, alarms of target tracking,
// activities.
//
// Here only what holds without an alarm: the desired count is kept within a target's bounds, policies own
// alarms. Pure; single threaded: the caller locks.
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

void add_activity(World& world, const std::string& resource_id, base::WallTime now,
                  const std::string& description, const std::string& cause, const std::string& status,
                  const std::string& message);

// Creates or replaces the alarms of a target-tracking policy (AlarmHigh, and AlarmLow unless scale-in is
// disabled).
void make_tracking_alarms(World& world, const Json& policy, base::WallTime now);
void delete_policy_alarms(World& world, const std::string& policy_arn);  // those that target tracking made
// [{AlarmName, AlarmARN}] of the alarms that name the policy as an action.
Json alarms_of_policy(const World& world, const std::string& policy_arn);

}  // namespace headroom::cloud
