// World: everything the local cloud knows, as plain data: models, endpoints and their instances, scaling,
// alarms, metrics and logs.
//
// No sockets, processes or threads here. Operations (operations.hpp) and the fleet rules (fleet.hpp) change
// it; the supervisor makes the processes follow. Records that AWS returns as they were stored are kept in
// AWS's own JSON form. Thread safety: none; the program keeps it in a Guarded<World>.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cloud/json.hpp"
#include "cloud/log_store.hpp"
#include "cloud/metric_store.hpp"
#include "cloud/scaling_state.hpp"

namespace headroom::cloud {

enum class InstanceState {
  kProvisioning,  // the provisioning delay runs
  kStarting,      // the process runs, /ping has not answered 200 yet
  kInService,
  kDraining,  // takes no more requests, finishes its own
  kStopping,  // told to end
};

struct Instance {
  std::string id;  // i-0123456789abcdef0
  std::string variant;
  std::string model;  // what it runs; its variant may have another one by now
  InstanceState state = InstanceState::kProvisioning;
  base::WallTime since;       // in this state
  base::WallTime kept_until;  // a draining one of an update that has TerminationWaitInSeconds
  int port = 0;
  int pid = 0;                    // 0: no process
  std::uint64_t pid_started = 0;  // clock ticks after boot: with the pid it names one process for good
  int in_flight = 0;
  bool answered_ping = false;
  bool exited = false;
  std::string exit_reason;
};

struct Variant {
  std::string name;
  std::string model;
  std::string instance_type;
  int desired = 1;
  double weight = 1;
  double desired_weight = 1;
  bool least_outstanding = false;
  std::int64_t startup_timeout_s = 600;
  std::string manifest_digest;  // of the model folder when the endpoint was made
  int failures = 0;             // starts in a row that did not reach InService
  base::WallTime retry_at;
};

// An UpdateEndpoint on its way: the new fleet, which takes no request until all of it is in service.
struct Deployment {
  std::string config;
  std::vector<Variant> variants;
  std::vector<Instance> instances;
  Json settings;  // DeploymentConfig as it was asked for; null if none was
  base::WallTime started;
};

struct Endpoint {
  std::string name;
  std::string config;
  std::string status;  // Creating, InService, Updating, RollingBack, Failed, Deleting
  std::string failure_reason;
  base::WallTime created;
  base::WallTime modified;
  std::vector<Variant> variants;
  std::vector<Instance> instances;
  std::optional<Deployment> pending;
  Json last_deployment;  // DeploymentConfig of the last update; null if it had none
};

// Faults that were asked for through the control route (control.hpp). Not saved.
struct Faults {
  int fail_starts = 0;                   // so many next starts of an instance fail
  std::map<std::string, int> throttled;  // by operation, "*" for any: so many next calls are refused
  bool drop_metrics = false;             // nothing reaches the metric store
  base::Duration skew{0};                // what the clock that checks signatures is ahead
};

// A signal that the supervisor shall send to an instance's process.
struct SignalOrder {
  std::string endpoint, instance;
  int signal = 0;
};

struct WorldSettings {
  std::string region = "us-east-1";
  std::string account = "000000000000";
  int quota = 4;                      // instances over all endpoints
  base::Duration provision_delay{0};  // of a new instance, before time scaling
  double fast = 1;                    // provisioning delays, periods and cooldowns run this much faster
  std::string image_digest;           // sha256 hex of the program that instances run
  // sha256 hex of a model folder's manifest, "" if it has none; unset: no folder is looked at.
  std::function<std::string(const std::string& folder)> manifest_digest{};
};

struct World {
  explicit World(const base::Clock& clock) : metrics(clock) {}

  WorldSettings settings;
  std::map<std::string, Json> models;   // as DescribeModel returns them
  std::map<std::string, Json> configs;  // as DescribeEndpointConfig returns them
  std::map<std::string, Endpoint> endpoints;
  std::map<std::string, std::map<std::string, std::string>> tags;  // by ARN
  std::map<std::string, Json> targets;  // by resource id, as DescribeScalableTargets returns them
  std::vector<Json> policies;           // as DescribeScalingPolicies returns them, without Alarms
  std::deque<Json> activities;          // newest first
  std::map<std::string, Json> alarms;   // by name, as DescribeAlarms returns them
  ScalingState scaling;                 // what policies and alarms remember
  MetricStore metrics;
  LogStore logs;
  Faults faults;
  std::vector<SignalOrder> signals;

  std::string arn(std::string_view service, std::string_view resource) const;
  Variant* variant(const std::string& endpoint, const std::string& name);
  Instance* instance(const std::string& endpoint, const std::string& id);  // of either fleet
  int desired_instances() const;  // over all endpoints that hold instances, updates on their way included
};

int count_in_state(const Endpoint& endpoint, const std::string& variant, InstanceState state);
// What a model's environment holds for a name; empty if absent.
std::string model_environment(const World& world, const std::string& model, const std::string& name);

std::string random_hex(std::size_t digits);
std::string random_uuid();

std::string endpoint_log_group(const std::string& endpoint);
std::string log_stream_name(const Instance& instance);

// What survives a restart: all but metrics, logs and running requests.
Json save_world(const World& world);
// kInvalidData when the file is of another form. Endpoints that had instances come back as Updating with
// none; the processes of the former run are listed in `orphans`.
struct Orphan {
  int pid = 0;
  std::uint64_t started = 0;
};
base::Result<std::vector<Orphan>> load_world(const Json& saved, World& world);

}  // namespace headroom::cloud
