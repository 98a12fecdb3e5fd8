// Where an invocation goes: endpoint and variant checked, an instance chosen and the request counted.
//
// Pure; the caller locks the world and calls end_request() (fleet.hpp) once the request no longer counts.
// Errors: kInvalidArgument (names), kNotFound, kUnavailable (none in service).
#pragma once

#include <string>

#include "cloud/world.hpp"

namespace headroom::cloud {

struct Target {
  std::string endpoint, variant, instance;
  int port = 0;
  std::string log_arn;  // of the instance's log stream
};

// Also records Invocations and InvocationsPerInstance. `variant`: empty = by weight.
base::Result<Target> choose_target(World& world, const std::string& endpoint, const std::string& variant);

}  // namespace headroom::cloud
