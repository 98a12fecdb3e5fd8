// The state machine of instances and endpoints, scaling to the bounds of scalable targets, and routing.
#include "cloud/fleet.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "cloud/scaling.hpp"
#include "cloud/scaling_control.hpp"

namespace headroom::cloud {
namespace {

using std::chrono::seconds;

bool lives(InstanceState state) {
  return state == InstanceState::kProvisioning || state == InstanceState::kStarting ||
         state == InstanceState::kInService;
}

base::Duration scaled(base::Duration time, double fast) {
  return base::Duration(static_cast<std::int64_t>(static_cast<double>(time.count()) / fast));
}

MetricKey concurrency(const Endpoint& endpoint, const std::string& variant) {
  return variant_metric("ConcurrentRequestsPerModel", endpoint.name, variant);
}

// One of an endpoint's fleets: the one that serves, or the new one of an update.
struct Fleet {
  std::vector<Variant>& variants;
  std::vector<Instance>& instances;
  bool serves;
};

Variant* find_variant(Fleet& fleet, const std::string& name) {
  for (Variant& v : fleet.variants) {
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
bool settle_exit(World& world, Endpoint& endpoint, Fleet& fleet, Instance& instance, base::WallTime now) {
  if (!instance.exited) return false;
  Variant* variant = find_variant(fleet, instance.variant);
  if (variant != nullptr &&
      (instance.state == InstanceState::kStarting || instance.state == InstanceState::kInService))
    failed_start(*variant, now);
  if (variant != nullptr && instance.state == InstanceState::kInService) variant->failures = 0;
  if (fleet.serves) world.metrics.remove_source(concurrency(endpoint, instance.variant), instance.id);
  world.logs.end(endpoint_log_group(endpoint.name), log_stream_name(instance));
  return true;
}

void advance_instance(World& world, Endpoint& endpoint, Fleet& fleet, Instance& instance, base::WallTime now,
                      Step& step) {
  const auto waited = now - instance.since;
  const auto order = [&](Order::Kind kind) { step.orders.push_back({kind, endpoint.name, instance.id}); };
  switch (instance.state) {
    case InstanceState::kProvisioning: {
      if (waited < scaled(world.settings.provision_delay, world.settings.fast)) return;
      enter(instance, InstanceState::kStarting, now);
      if (world.faults.fail_starts > 0) {
        --world.faults.fail_starts;
        instance.exited = true;
        instance.exit_reason = "its start was told to fail";
      } else {
        world.logs.begin(endpoint_log_group(endpoint.name), log_stream_name(instance));
        order(Order::Kind::kStart);
      }
      return;
    }
    case InstanceState::kStarting: {
      Variant* variant = find_variant(fleet, instance.variant);
      if (instance.answered_ping) {
        enter(instance, InstanceState::kInService, now);
        if (fleet.serves) world.metrics.add_source(concurrency(endpoint, instance.variant), instance.id);
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
      if (now < instance.kept_until) return;
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

void release(const Endpoint& endpoint, Fleet& fleet, std::size_t index, base::WallTime now, Step& step) {
  Instance& instance = fleet.instances[index];
  if (instance.state == InstanceState::kProvisioning) {
    fleet.instances.erase(fleet.instances.begin() + static_cast<std::ptrdiff_t>(index));
  } else if (instance.state == InstanceState::kStarting) {
    step.orders.push_back({Order::Kind::kKill, endpoint.name, instance.id});
    enter(instance, InstanceState::kStopping, now);
  } else {
    enter(instance, InstanceState::kDraining, now);
  }
}

// Adds and releases instances until as many live as are wanted; the newest that serves least goes first.
void match_count(const Endpoint& endpoint, Fleet& fleet, Variant& variant, int wanted, base::WallTime now,
                 Step& step) {
  auto& instances = fleet.instances;
  const auto living = [&] {
    return static_cast<int>(std::count_if(instances.begin(), instances.end(), [&](const Instance& i) {
      return i.variant == variant.name && lives(i.state);
    }));
  };
  for (int alive = living(); alive < wanted && now >= variant.retry_at; ++alive) {
    Instance fresh;
    fresh.id = "i-0" + random_hex(16);
    fresh.variant = variant.name;
    fresh.model = variant.model;
    fresh.since = now;
    instances.push_back(std::move(fresh));
  }
  for (int alive = living(); alive > wanted; --alive) {
    std::size_t chosen = instances.size();
    for (std::size_t i = 0; i < instances.size(); ++i) {
      const Instance& candidate = instances[i];
      if (candidate.variant != variant.name || !lives(candidate.state)) continue;
      if (chosen == instances.size() || candidate.state <= instances[chosen].state) chosen = i;
    }
    release(endpoint, fleet, chosen, now, step);
  }
}

void advance_fleet(World& world, Endpoint& endpoint, Fleet& fleet, base::WallTime now, Step& step) {
  for (std::size_t i = 0; i < fleet.instances.size();) {
    if (settle_exit(world, endpoint, fleet, fleet.instances[i], now)) {
      fleet.instances.erase(fleet.instances.begin() + static_cast<std::ptrdiff_t>(i));
      step.changed = true;
    } else {
      advance_instance(world, endpoint, fleet, fleet.instances[i], now, step);
      ++i;
    }
  }
}

std::string no_ping_reason(const World& world, const Endpoint& endpoint, const Variant& variant) {
  std::string last;
  // Instances that serve write lines too, but not about why another one does not.
  std::set<std::string> serving;
  for (const Instance& i : endpoint.instances) {
    if (i.state == InstanceState::kInService) serving.insert(log_stream_name(i));
  }
  const auto group = world.logs.groups().find(endpoint_log_group(endpoint.name));
  if (group != world.logs.groups().end()) {
    std::uint64_t newest = 0;
    for (const auto& [name, stream] : group->second.streams) {
      if (serving.count(name) > 0 || stream.events.empty() || stream.events.back().number < newest) continue;
      newest = stream.events.back().number;
      last = stream.events.back().message;
    }
  }
  return fmt::format(
      "The primary container for production variant {} did not pass the ping health check. Please check "
      "CloudWatch logs for this endpoint.{}{}",
      variant.name, last.empty() ? "" : " Last line: ", last.substr(0, 300));
}

void give_up(World& world, Endpoint& endpoint, Variant& variant, base::WallTime now) {
  endpoint.failure_reason = no_ping_reason(world, endpoint, variant);
  const int serving = count_in_state(endpoint, variant.name, InstanceState::kInService);
  if (endpoint.status == "Creating" || serving == 0) {
    endpoint.status = "Failed";
  } else {
    variant.desired = serving;  // the update is rolled back to what serves
    endpoint.status = "RollingBack";
  }
  variant.failures = 0;
  endpoint.modified = now;
}

bool settled(const std::vector<Variant>& variants, const std::vector<Instance>& instances) {
  for (const Variant& v : variants) {
    const auto serving = std::count_if(instances.begin(), instances.end(), [&](const Instance& i) {
      return i.variant == v.name && i.state == InstanceState::kInService;
    });
    if (serving != v.desired) return false;
  }
  return std::all_of(instances.begin(), instances.end(),
                     [](const Instance& i) { return i.state == InstanceState::kInService && !i.exited; });
}

// The new fleet ends; what runs of it joins the old one only to be ended with it.
void drop_deployment(Endpoint& endpoint, base::WallTime now, Step& step) {
  Fleet fleet{endpoint.pending->variants, endpoint.pending->instances, false};
  for (std::size_t i = fleet.instances.size(); i-- > 0;) {
    if (lives(fleet.instances[i].state)) release(endpoint, fleet, i, now, step);
  }
  for (Instance& i : fleet.instances) endpoint.instances.push_back(std::move(i));
  endpoint.pending.reset();
  step.changed = true;
}

// All traffic goes to the new fleet at once; the old one finishes its requests and ends.
void switch_over(World& world, Endpoint& endpoint, base::WallTime now, Step& step) {
  Deployment fresh = std::move(*endpoint.pending);
  endpoint.pending.reset();
  Fleet old{endpoint.variants, endpoint.instances, true};
  const Json policy = fresh.settings.is_object()
                          ? fresh.settings.value("BlueGreenUpdatePolicy", Json::object())
                          : Json::object();
  const auto wait = scaled(seconds(policy.value("TerminationWaitInSeconds", 0)), world.settings.fast);
  for (std::size_t i = old.instances.size(); i-- > 0;) {
    if (!lives(old.instances[i].state)) continue;
    old.instances[i].kept_until = now + wait;
    release(endpoint, old, i, now, step);
  }
  for (Instance& i : fresh.instances) {
    world.metrics.add_source(concurrency(endpoint, i.variant), i.id);
    endpoint.instances.push_back(std::move(i));
  }
  endpoint.config = std::move(fresh.config);
  endpoint.variants = std::move(fresh.variants);
  endpoint.last_deployment = std::move(fresh.settings);
  endpoint.modified = now;
  step.changed = true;
}

// The name of an alarm of AutoRollbackConfiguration that rings, "" if none does.
std::string ringing_alarm(const World& world, const Json& settings) {
  if (!settings.is_object() || !settings.contains("AutoRollbackConfiguration")) return "";
  for (const Json& alarm : settings["AutoRollbackConfiguration"].value("Alarms", Json::array())) {
    const std::string name = alarm.value("AlarmName", "");
    const auto it = world.alarms.find(name);
    if (it != world.alarms.end() && it->second.value("StateValue", "") == "ALARM") return name;
  }
  return "";
}

void advance_deployment(World& world, Endpoint& endpoint, base::WallTime now, Step& step) {
  Fleet fleet{endpoint.pending->variants, endpoint.pending->instances, false};
  advance_fleet(world, endpoint, fleet, now, step);
  std::string fault;
  for (Variant& variant : fleet.variants) {
    if (variant.failures >= kStartFailuresAllowed) fault = no_ping_reason(world, endpoint, variant);
    match_count(endpoint, fleet, variant, variant.desired, now, step);
  }
  if (const auto alarm = ringing_alarm(world, endpoint.pending->settings); fault.empty() && !alarm.empty())
    fault = fmt::format("One or more configured alarms went off during the deployment: {}.", alarm);
  if (!fault.empty()) {
    endpoint.failure_reason = fault + " The update was rolled back.";
    endpoint.status = "RollingBack";
    endpoint.modified = now;
    drop_deployment(endpoint, now, step);
  } else if (settled(fleet.variants, fleet.instances)) {
    switch_over(world, endpoint, now, step);
  }
}

void advance_endpoint(World& world, Endpoint& endpoint, base::WallTime now, Step& step) {
  const bool ends = endpoint.status == "Failed" || endpoint.status == "Deleting";
  if (endpoint.pending && ends) drop_deployment(endpoint, now, step);
  Fleet fleet{endpoint.variants, endpoint.instances, true};
  advance_fleet(world, endpoint, fleet, now, step);
  const auto changing = [&] {
    return endpoint.status == "Creating" || endpoint.status == "Updating" || endpoint.status == "RollingBack";
  };
  for (Variant& variant : endpoint.variants) {
    // While a new fleet comes up, an old one that cannot replace a dead instance is no reason to stop it.
    if (variant.failures >= kStartFailuresAllowed && changing() && !endpoint.pending) {
      give_up(world, endpoint, variant, now);
      step.changed = true;
    }
    match_count(endpoint, fleet, variant, ends || endpoint.status == "Failed" ? 0 : variant.desired, now,
                step);
  }
  if (endpoint.pending) return advance_deployment(world, endpoint, now, step);
  if (changing() && settled(endpoint.variants, endpoint.instances)) {
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
  if (control_scaling(world, now)) step.changed = true;
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
  if (finish_activities(world, now)) step.changed = true;
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
