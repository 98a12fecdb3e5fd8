// The state machine of instances and endpoints, scaling to the bounds of scalable targets, and routing.
#include "cloud/fleet.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cloud/scaling.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

bool lives(InstanceState state) {
  return state == InstanceState::kProvisioning || state == InstanceState::kStarting ||
         state == InstanceState::kInService;
}

MetricKey concurrency(const Endpoint& endpoint, const std::string& variant) {
  return variant_metric("ConcurrentRequestsPerModel", endpoint.name, variant);
}

Variant* find_variant(Endpoint& endpoint, const std::string& name) {
  for (Variant& v : endpoint.variants) {
    if (v.name == name) return &v;
  }
  return nullptr;
}

void enter(Instance& instance, InstanceState state, base::WallTime now) {
  instance.state = state;
  instance.since = now;
}

void failed_start(Variant& variant, base::WallTime now) {
  ++variant.failures;
  variant.retry_at = now + seconds(1LL << std::min(variant.failures - 1, 5));
}

// What an exited process means in each state. Returns true when the instance is to be removed.
bool settle_exit(World& world, Endpoint& endpoint, Instance& instance, base::WallTime now) {
  if (!instance.exited) return false;
  Variant* variant = find_variant(endpoint, instance.variant);
  if (variant != nullptr &&
      (instance.state == InstanceState::kStarting || instance.state == InstanceState::kInService))
    failed_start(*variant, now);
  if (variant != nullptr && instance.state == InstanceState::kInService) variant->failures = 0;
  world.metrics.remove_source(concurrency(endpoint, instance.variant), instance.id);
  return true;
}

void advance_instance(World& world, Endpoint& endpoint, Instance& instance, base::WallTime now, Step& step) {
  const auto waited = now - instance.since;
  const auto order = [&](Order::Kind kind) { step.orders.push_back({kind, endpoint.name, instance.id}); };
  switch (instance.state) {
    case InstanceState::kProvisioning: {
      const auto delay = std::chrono::duration_cast<base::Duration>(std::chrono::duration<double, std::nano>(
          static_cast<double>(world.settings.provision_delay.count()) / world.settings.fast));
      if (waited < delay) return;
      order(Order::Kind::kStart);
      enter(instance, InstanceState::kStarting, now);
      return;
    }
    case InstanceState::kStarting: {
      Variant* variant = find_variant(endpoint, instance.variant);
      if (instance.answered_ping) {
        enter(instance, InstanceState::kInService, now);
        world.metrics.add_source(concurrency(endpoint, instance.variant), instance.id);
        if (variant != nullptr) variant->failures = 0;
      } else if (variant != nullptr && waited > seconds(variant->startup_timeout_s)) {
        variant->failures = kStartFailuresAllowed;  // the time for all attempts is used up
        order(Order::Kind::kKill);
        enter(instance, InstanceState::kStopping, now);
      }
      return;
    }
    case InstanceState::kInService:
      return;
    case InstanceState::kDraining:
      if (instance.in_flight > 0 && waited < seconds(kDrainLimitSeconds)) return;
      order(Order::Kind::kTerminate);
      enter(instance, InstanceState::kStopping, now);
      return;
    case InstanceState::kStopping:
      if (waited < seconds(kStopLimitSeconds)) return;
      order(Order::Kind::kKill);
      instance.since = now;
      return;
  }
}

void release(World& world, Endpoint& endpoint, std::size_t index, base::WallTime now, Step& step) {
  Instance& instance = endpoint.instances[index];
  if (instance.state == InstanceState::kProvisioning) {
    endpoint.instances.erase(endpoint.instances.begin() + static_cast<std::ptrdiff_t>(index));
  } else if (instance.state == InstanceState::kStarting) {
    step.orders.push_back({Order::Kind::kKill, endpoint.name, instance.id});
    enter(instance, InstanceState::kStopping, now);
  } else {
    enter(instance, InstanceState::kDraining, now);
  }
  (void)world;
}

// Adds and releases instances until as many live as are wanted; the newest that serves least goes first.
void match_count(World& world, Endpoint& endpoint, Variant& variant, int wanted, base::WallTime now,
                 Step& step) {
  const auto living = [&] {
    return static_cast<int>(
        std::count_if(endpoint.instances.begin(), endpoint.instances.end(),
                      [&](const Instance& i) { return i.variant == variant.name && lives(i.state); }));
  };
  for (int alive = living(); alive < wanted && now >= variant.retry_at; ++alive) {
    Instance fresh;
    fresh.id = "i-0" + random_hex(16);
    fresh.variant = variant.name;
    fresh.since = now;
    endpoint.instances.push_back(std::move(fresh));
  }
  for (int alive = living(); alive > wanted; --alive) {
    std::size_t chosen = endpoint.instances.size();
    for (std::size_t i = 0; i < endpoint.instances.size(); ++i) {
      const Instance& candidate = endpoint.instances[i];
      if (candidate.variant != variant.name || !lives(candidate.state)) continue;
      if (chosen == endpoint.instances.size() || candidate.state <= endpoint.instances[chosen].state)
        chosen = i;
    }
    release(world, endpoint, chosen, now, step);
  }
}

void give_up(World& world, Endpoint& endpoint, Variant& variant, base::WallTime now) {
  std::string last;
  const auto group = world.logs.groups().find(endpoint_log_group(endpoint.name));
  if (group != world.logs.groups().end()) {
    std::uint64_t newest = 0;
    for (const auto& [name, stream] : group->second.streams) {
      if (stream.events.empty() || stream.events.back().number < newest) continue;
      newest = stream.events.back().number;
      last = stream.events.back().message;
    }
  }
  endpoint.failure_reason = fmt::format(
      "The primary container for production variant {} did not pass the ping health check. Please check "
      "CloudWatch logs "
      "for this endpoint.{}{}",
      variant.name, last.empty() ? "" : " Last line: ", last.substr(0, 300));
  const int serving = count_in_state(endpoint, variant.name, InstanceState::kInService);
  if (endpoint.status == "Creating" || serving == 0) {
    endpoint.status = "Failed";
  } else {
    variant.desired = serving;  // the update is rolled back to what serves
  }
  variant.failures = 0;
  endpoint.modified = now;
}

bool settled(const Endpoint& endpoint) {
  for (const Variant& v : endpoint.variants) {
    if (count_in_state(endpoint, v.name, InstanceState::kInService) != v.desired) return false;
  }
  return std::all_of(endpoint.instances.begin(), endpoint.instances.end(),
                     [](const Instance& i) { return i.state == InstanceState::kInService; });
}

void advance_endpoint(World& world, Endpoint& endpoint, base::WallTime now, Step& step) {
  auto& instances = endpoint.instances;
  for (std::size_t i = 0; i < instances.size();) {
    if (settle_exit(world, endpoint, instances[i], now)) {
      instances.erase(instances.begin() + static_cast<std::ptrdiff_t>(i));
      step.changed = true;
    } else {
      advance_instance(world, endpoint, instances[i], now, step);
      ++i;
    }
  }
  for (Variant& variant : endpoint.variants) {
    const bool changing = endpoint.status == "Creating" || endpoint.status == "Updating";
    if (variant.failures >= kStartFailuresAllowed && changing) {
      give_up(world, endpoint, variant, now);
      step.changed = true;
    }
    const bool ends = endpoint.status == "Failed" || endpoint.status == "Deleting";
    match_count(world, endpoint, variant, ends ? 0 : variant.desired, now, step);
  }
  if ((endpoint.status == "Creating" || endpoint.status == "Updating") && settled(endpoint)) {
    endpoint.status = "InService";
    for (Variant& v : endpoint.variants) v.weight = v.desired_weight;
    endpoint.modified = now;
    step.changed = true;
  }
}

}  // namespace

MetricKey variant_metric(const std::string& name, const std::string& endpoint, const std::string& variant) {
  return make_key("AWS/SageMaker", name, {{"EndpointName", endpoint}, {"VariantName", variant}});
}

Step advance(World& world, base::WallTime now) {
  Step step;
  if (keep_within_bounds(world, now)) step.changed = true;
  for (auto it = world.endpoints.begin(); it != world.endpoints.end();) {
    advance_endpoint(world, it->second, now, step);
    if (it->second.status == "Deleting" && it->second.instances.empty()) {
      world.tags.erase(world.arn("sagemaker", "endpoint/" + it->first));
      it = world.endpoints.erase(it);
      step.changed = true;
    } else {
      ++it;
    }
  }
  return step;
}

Instance* begin_request(World& world, Endpoint& endpoint, const std::string& variant, std::uint64_t random) {
  const Variant* chosen = nullptr;
  double total = 0;
  for (const Variant& v : endpoint.variants) {
    if (!variant.empty()) {
      if (v.name == variant) chosen = &v;
    } else if (count_in_state(endpoint, v.name, InstanceState::kInService) > 0) {
      // Weighted choice in one pass: the newcomer replaces the chosen one with its share of the weight so
      // far.
      total += v.weight;
      const double draw = static_cast<double>(random % 1'000'003) / 1'000'003.0;
      if (chosen == nullptr || draw * total < v.weight) chosen = &v;
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    }
  }
  if (chosen == nullptr) return nullptr;
  std::vector<Instance*> best;
  for (Instance& i : endpoint.instances) {
    if (i.variant != chosen->name || i.state != InstanceState::kInService || i.exited) continue;
    if (chosen->least_outstanding && !best.empty()) {
      if (i.in_flight > best.front()->in_flight) continue;
      if (i.in_flight < best.front()->in_flight) best.clear();
    }
    best.push_back(&i);
  }
  if (best.empty()) return nullptr;
  Instance* instance = best[(random >> 33U) % best.size()];
  ++instance->in_flight;
  world.metrics.change_level(concurrency(endpoint, instance->variant), instance->id, 1);
  return instance;
}

void end_request(World& world, const std::string& endpoint, const std::string& instance) {
  Instance* found = world.instance(endpoint, instance);
  if (found == nullptr || found->in_flight == 0) return;
  --found->in_flight;
  world.metrics.change_level(concurrency(world.endpoints.at(endpoint), found->variant), instance, -1);
}

}  // namespace headroom::cloud
