// Control: faults on demand, for tests of what rests on this cloud.
//
// Pure: changes World::faults, World::signals and the metric store's switch; the front finds the route and
// checks the token. One JSON object, any of: fail_starts N · kill {endpoint, instance?} · stall {endpoint,
// instance?, on} · throttle {operation, count} · drop_metrics BOOL · skew_s N. Without `instance` the oldest
// in service is meant. Errors: kInvalidArgument, kNotFound.
#pragma once

#include <string_view>

#include "cloud/world.hpp"

namespace headroom::cloud {

constexpr std::string_view kControlPath = "/_local/faults";

base::Result<void> apply_faults(World& world, const Json& in);
Json show_faults(const World& world);
// Whether this call is one that was asked to be refused; counts it.
bool take_throttle(World& world, std::string_view operation);

}  // namespace headroom::cloud
