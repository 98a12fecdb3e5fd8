// Reading and applying faults.
#include "cloud/control.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include <fmt/format.h>

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;

base::Result<SignalOrder> order_for(World& world, const Json& in, int signal) {
  Fields fields(in);
  const std::string name = fields.name("endpoint");
  const auto wanted = fields.maybe_text("instance", 64);
  if (!fields.ok()) return fields.failure();
  const auto it = world.endpoints.find(name);
  if (it == world.endpoints.end())
    return fail(ErrorCode::kNotFound, fmt::format("there is no endpoint {}", name));
  const Instance* chosen = nullptr;
  for (const Instance& i : it->second.instances) {
    if (i.exited || i.pid == 0) continue;
    if (wanted ? i.id == *wanted : i.state == InstanceState::kInService && chosen == nullptr) chosen = &i;
  }
  if (chosen == nullptr)
    return fail(ErrorCode::kNotFound, fmt::format("endpoint {} has no such instance that runs", name));
  return SignalOrder{name, chosen->id, signal};
}

base::Result<void> apply_signals(World& world, const Json& in) {
  if (in.contains("kill")) {
    const auto order = order_for(world, in["kill"], SIGKILL);
    if (!order) return tl::unexpected(order.error());
    world.signals.push_back(*order);
  }
  if (in.contains("stall")) {
    Fields stall(in["stall"], "stall.");
    const bool on = stall.maybe_flag("on").value_or(true);
    if (!stall.ok()) return stall.failure();
    const auto order = order_for(world, in["stall"], on ? SIGSTOP : SIGCONT);
    if (!order) return tl::unexpected(order.error());
    world.signals.push_back(*order);
  }
  return {};
}

}  // namespace

base::Result<void> apply_faults(World& world, const Json& in) {
  for (const auto& [key, value] : in.items()) {
    static const std::vector<std::string> known{"fail_starts", "kill",         "stall",
                                                "throttle",    "drop_metrics", "skew_s"};
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' is no fault; there are {}", key.substr(0, 60), fmt::join(known, ", ")));
  }
  Fields fields(in);
  const auto fail_starts = fields.maybe_integer("fail_starts", 0, 1'000'000);
  const auto drop = fields.maybe_flag("drop_metrics");
  const auto skew = fields.maybe_number("skew_s");
  if (skew && std::abs(*skew) > 1e8) fields.refuse("skew_s", "Member must be at most 100000000");
  std::string operation;
  std::int64_t count = 0;
  if (in.contains("throttle")) {
    Fields throttle(fields.object("throttle"), "throttle.");
    operation = throttle.text("operation", 128);
    count = throttle.integer("count", 0, 1'000'000);
    fields.take(throttle);
  }
  if (!fields.ok()) return fields.failure();
  if (const auto signals = apply_signals(world, in); !signals) return signals;
  if (fail_starts) world.faults.fail_starts = static_cast<int>(*fail_starts);
  if (drop) world.metrics.drop_all(world.faults.drop_metrics = *drop);
  if (skew)
    world.faults.skew = std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(*skew));
  if (!operation.empty()) world.faults.throttled[operation] = static_cast<int>(count);
  return {};
}

Json show_faults(const World& world) {
  return {{"fail_starts", world.faults.fail_starts},
          {"drop_metrics", world.faults.drop_metrics},
          {"skew_s", std::chrono::duration<double>(world.faults.skew).count()},
          {"throttle", world.faults.throttled}};
}

bool take_throttle(World& world, std::string_view operation) {
  for (const std::string& name : {std::string(operation), std::string("*")}) {
    const auto it = world.faults.throttled.find(name);
    if (it == world.faults.throttled.end()) continue;
    if (it->second > 0) {
      if (--it->second == 0) world.faults.throttled.erase(it);
      return true;
    }
  }
  return false;
}

}  // namespace headroom::cloud
