// Fleet rules: how instances and endpoint statuses change over time, and which instance takes a request.
//
// Pure: `advance` changes the world by what time, pings and exits have brought and says what must happen to
// processes; the supervisor does it. A new instance takes no request before its /ping answered 200; a
// draining one takes none and finishes its own. Times are wall times of the injected clock. Single threaded:
// the caller locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cloud/world.hpp"

namespace headroom::cloud {

struct Order {
  enum class Kind { kStart, kTerminate, kKill } kind = Kind::kStart;
  std::string endpoint;
  std::string instance;
};

struct Step {
  std::vector<Order> orders;
  bool changed = false;  // something that is saved changed
};

Step advance(World& world, base::WallTime now);

// The instance for a new request, counted as in flight at once; nullptr when none is in service.
// `variant`: empty = chosen by weight. `random`: any number, used for weights, ties and random routing.
Instance* begin_request(World& world, Endpoint& endpoint, const std::string& variant, std::uint64_t random);
void end_request(World& world, const std::string& endpoint, const std::string& instance);

// Keys of the metrics of one variant.
MetricKey variant_metric(const std::string& name, const std::string& endpoint, const std::string& variant);

constexpr int kStartFailuresAllowed = 3;
constexpr std::int64_t kDrainLimitSeconds = 60;
constexpr std::int64_t kStopLimitSeconds = 35;

}  // namespace headroom::cloud
