// SageMaker: UpdateEndpoint, a second fleet beside the first (fleet.hpp switches over or rolls back).
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "cloud/operations.hpp"
#include "cloud/sagemaker_records.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Only what this cloud really does is accepted: all traffic at once, rolled back by health or alarms.
Result<Json> read_deployment(const Json& in) {
  if (!in.contains("DeploymentConfig")) return Json();
  Fields fields(in);
  const Json& settings = fields.object("DeploymentConfig");
  if (!fields.ok()) return fields.failure();
  if (settings.contains("RollingUpdatePolicy"))
    return fail(ErrorCode::kInvalidArgument,
                "RollingUpdatePolicy is not offered by this cloud; use BlueGreenUpdatePolicy with "
                "TrafficRoutingConfiguration ALL_AT_ONCE");
  if (settings.contains("BlueGreenUpdatePolicy")) {
    Fields outer(settings, "deploymentConfig.");
    const Json& policy = outer.object("BlueGreenUpdatePolicy");
    Fields blue(policy, "deploymentConfig.blueGreenUpdatePolicy.");
    const Json& routing = blue.object("TrafficRoutingConfiguration");
    blue.maybe_integer("TerminationWaitInSeconds", 0, 3600);
    blue.maybe_integer("MaximumExecutionTimeoutInSeconds", 600, 28'800);
    Fields traffic(routing, "deploymentConfig.blueGreenUpdatePolicy.trafficRoutingConfiguration.");
    const std::string type = traffic.choice("Type", {"ALL_AT_ONCE", "CANARY", "LINEAR"});
    traffic.integer("WaitIntervalInSeconds", 0, 3600);
    blue.take(traffic);
    outer.take(blue);
    if (!outer.ok()) return outer.failure();
    if (type != "ALL_AT_ONCE")
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("TrafficRoutingConfiguration {} is not offered by this cloud; use ALL_AT_ONCE", type));
  }
  if (settings.contains("AutoRollbackConfiguration")) {
    Fields outer(settings, "deploymentConfig.");
    const Json& rollback = outer.object("AutoRollbackConfiguration");
    if (!outer.ok()) return outer.failure();
    Fields inner(rollback, "deploymentConfig.autoRollbackConfiguration.");
    const Json& alarms = inner.maybe_list("Alarms");
    if (inner.ok() && alarms.size() > 10) inner.refuse("Alarms", "Member must have at most 10 elements");
    for (const Json& alarm : alarms) {
      Fields row(alarm, "deploymentConfig.autoRollbackConfiguration.alarms.");
      row.text("AlarmName", 255);
      inner.take(row);
    }
    if (!inner.ok()) return inner.failure();
  }
  return settings;
}

// Which properties of the variants that run now stay: RetainAllVariantProperties less the excluded ones.
Result<std::set<std::string>> read_retained(const Json& in) {
  Fields fields(in);
  const bool retain = fields.maybe_flag("RetainAllVariantProperties").value_or(false);
  std::set<std::string> kept;
  if (retain) kept = {"DesiredInstanceCount", "DesiredWeight", "DataCaptureConfig"};
  const Json& excluded = fields.maybe_list("ExcludeRetainedVariantProperties");
  if (!fields.ok()) return fields.failure();
  for (const Json& row : excluded) {
    Fields one(row, "excludeRetainedVariantProperties.");
    kept.erase(
        one.choice("VariantPropertyType", {"DesiredInstanceCount", "DesiredWeight", "DataCaptureConfig"}));
    if (!one.ok()) return one.failure();
  }
  return kept;
}

void keep_properties(const Endpoint& endpoint, const std::set<std::string>& kept,
                     std::vector<Variant>& fresh) {
  for (Variant& v : fresh) {
    const auto old = std::find_if(endpoint.variants.begin(), endpoint.variants.end(),
                                  [&](const Variant& o) { return o.name == v.name; });
    if (old == endpoint.variants.end()) continue;
    if (kept.count("DesiredInstanceCount") > 0) v.desired = old->desired;
    if (kept.count("DesiredWeight") > 0) v.weight = v.desired_weight = old->desired_weight;
  }
}

Result<Json> update_endpoint(Api& api, const Json& in) {
  const auto found = find_endpoint(api, in);
  if (!found) return tl::unexpected(found.error());
  Endpoint& endpoint = **found;
  Fields fields(in);
  const std::string config_name = fields.name("EndpointConfigName");
  const bool keep_deployment = fields.maybe_flag("RetainDeploymentConfig").value_or(false);
  if (!fields.ok()) return fields.failure();
  auto deployment = read_deployment(in);
  if (!deployment) return deployment;
  if (deployment->is_null() && keep_deployment) *deployment = endpoint.last_deployment;
  const auto kept = read_retained(in);
  if (!kept) return tl::unexpected(kept.error());
  const auto config = endpoint_config(api.world, config_name);
  if (!config) return config;
  if (const auto ready = check_updatable(api.world, endpoint); !ready) return tl::unexpected(ready.error());
  auto variants = make_variants(api.world, *config);
  if (!variants) return tl::unexpected(variants.error());
  keep_properties(endpoint, *kept, *variants);
  int wanted = 0;
  for (const Variant& v : *variants) wanted += v.desired;
  if (const auto fits = check_quota(api.world, wanted, variants->front().instance_type); !fits)
    return tl::unexpected(fits.error());
  endpoint.pending = Deployment{config_name, std::move(*variants), {}, std::move(*deployment), api.now};
  endpoint.status = "Updating";
  endpoint.failure_reason.clear();
  endpoint.modified = api.now;
  return Json{{"EndpointArn", api.world.arn("sagemaker", "endpoint/" + endpoint.name)}};
}

constexpr std::array kOperations{OperationRow{"UpdateEndpoint", update_endpoint, true}};

}  // namespace

std::span<const OperationRow> sagemaker_update_operations() { return kOperations; }

}  // namespace headroom::cloud
