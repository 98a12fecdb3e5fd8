// Scheduled actions of Application Auto Scaling: their operations, and carrying them out.
//
// The schedules are capacity/schedule_rules.hpp; zones come from the machine's own zone files. With --fast N
// a rate() passes N times faster; at() and cron() keep to the clock on the wall. Not thread safe: the caller
// locks the world. Errors: as the operations.
#pragma once

#include "cloud/operations.hpp"

namespace headroom::cloud {

base::Result<Json> put_scheduled_action(Api& api, const Json& in);
base::Result<Json> delete_scheduled_action(Api& api, const Json& in);
base::Result<Json> describe_scheduled_actions(Api& api, const Json& in);

// Changes the bounds of the targets whose actions are due. Returns whether anything changed.
bool run_scheduled_actions(World& world, base::WallTime now);

}  // namespace headroom::cloud
