// Scaling control: one round of alarms, scheduled actions and policies on the world.
//
// The rules are capacity/scaling_rules.hpp and capacity/alarm_rules.hpp; here their inputs are read from the
// records of the APIs and their outcome is carried out through SageMaker's own operation. Called often; most
// calls find nothing to do. It starts no process: the fleet rules follow the desired counts. Not thread safe:
// the caller locks the world.
#pragma once

#include "cloud/world.hpp"

namespace headroom::cloud {

// Returns whether something that is saved changed.
bool control_scaling(World& world, base::WallTime now);

}  // namespace headroom::cloud
