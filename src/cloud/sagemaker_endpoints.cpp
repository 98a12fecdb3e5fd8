// SageMaker: endpoints.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "cloud/operations.hpp"
#include "cloud/sagemaker_records.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

Variant make_variant(const Json& config) {
  Variant variant;
  variant.name = config.at("VariantName");
  variant.model = config.at("ModelName");
  variant.instance_type = config.at("InstanceType");
  variant.desired = config.at("InitialInstanceCount");
  variant.weight = variant.desired_weight = config.at("InitialVariantWeight");
  // Download and start are one act here, so the container has both times together.
  variant.startup_timeout_s = config.value("ContainerStartupHealthCheckTimeoutInSeconds", 600) +
                              config.value("ModelDataDownloadTimeoutInSeconds", 0);
  const Json routing = config.value("RoutingConfig", Json::object());
  variant.least_outstanding = routing.value("RoutingStrategy", "RANDOM") == "LEAST_OUTSTANDING_REQUESTS";
  return variant;
}

std::string manifest_digest(const World& world, const std::string& model) {
  const Json container = world.models.at(model).value("PrimaryContainer", Json::object());
  const std::string url = container.value("ModelDataUrl", "");
  if (!world.settings.manifest_digest || url.rfind("file://", 0) != 0) return "";
  return world.settings.manifest_digest(url.substr(7));
}

Result<Json> create_endpoint(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointName");
  const std::string config_name = fields.name("EndpointConfigName");
  if (!fields.ok()) return fields.failure();
  const std::string arn = api.world.arn("sagemaker", "endpoint/" + name);
  if (api.world.endpoints.count(name) > 0)
    return fail(ErrorCode::kConflict, fmt::format("Cannot create already existing endpoint \"{}\".", arn));
  const auto tags = read_tags(in);
  if (!tags) return tl::unexpected(tags.error());
  const auto config = endpoint_config(api.world, config_name);
  if (!config) return config;
  auto variants = make_variants(api.world, *config);
  if (!variants) return tl::unexpected(variants.error());
  int wanted = 0;
  for (const Variant& v : *variants) wanted += v.desired;
  if (const auto fits = check_quota(api.world, wanted, variants->front().instance_type); !fits)
    return tl::unexpected(fits.error());
  Endpoint endpoint;
  endpoint.name = name;
  endpoint.config = (*config)["EndpointConfigName"];
  endpoint.status = "Creating";
  endpoint.created = endpoint.modified = api.now;
  endpoint.variants = std::move(*variants);
  api.world.endpoints.emplace(name, std::move(endpoint));
  if (!tags->empty()) api.world.tags[arn] = *tags;
  return Json{{"EndpointArn", arn}};
}

// What really runs, as one digest: the program alone, or the program and the manifest of its model folder.
std::string running_digest(const World& world, const Variant& variant) {
  const std::string& program = world.settings.image_digest;
  return variant.manifest_digest.empty() ? program : base::sha256_hex(program + variant.manifest_digest);
}

Json variant_summary(const World& world, const std::vector<Instance>& instances, const Variant& variant,
                     base::WallTime resolved) {
  const auto serving = std::count_if(instances.begin(), instances.end(), [&](const Instance& i) {
    return i.variant == variant.name && i.state == InstanceState::kInService;
  });
  Json out{{"VariantName", variant.name},
           {"CurrentWeight", variant.weight},
           {"DesiredWeight", variant.desired_weight},
           {"CurrentInstanceCount", serving},
           {"DesiredInstanceCount", variant.desired}};
  if (variant.least_outstanding) out["RoutingConfig"] = {{"RoutingStrategy", "LEAST_OUTSTANDING_REQUESTS"}};
  const auto model = world.models.find(variant.model);
  if (model != world.models.end()) {
    const Json container = model->second.value("PrimaryContainer", Json::object());
    const std::string image = container.value("Image", "tts-serve");
    out["DeployedImages"] =
        Json::array({{{"SpecifiedImage", image},
                      {"ResolvedImage", fmt::format("{}@sha256:{}", image.substr(0, image.find('@')),
                                                    running_digest(world, variant))},
                      {"ResolutionTime", epoch_seconds(resolved)}}});
  }
  return out;
}

Json pending_summary(const World& world, const Deployment& pending) {
  Json out{{"EndpointConfigName", pending.config},
           {"StartTime", epoch_seconds(pending.started)},
           {"ProductionVariants", Json::array()}};
  for (const Variant& v : pending.variants) {
    Json row = variant_summary(world, pending.instances, v, pending.started);
    row.erase("RoutingConfig");  // no member of a pending variant
    row["InstanceType"] = v.instance_type;
    row["VariantStatus"] =
        Json::array({{{"Status", "Creating"}, {"StartTime", epoch_seconds(pending.started)}}});
    out["ProductionVariants"].push_back(std::move(row));
  }
  return out;
}

Result<Json> describe_endpoint(Api& api, const Json& in) {
  const auto found = find_endpoint(api, in);
  if (!found) return tl::unexpected(found.error());
  const Endpoint& endpoint = **found;
  Json out{{"EndpointName", endpoint.name},
           {"EndpointArn", api.world.arn("sagemaker", "endpoint/" + endpoint.name)},
           {"EndpointConfigName", endpoint.config},
           {"EndpointStatus", endpoint.status},
           {"CreationTime", epoch_seconds(endpoint.created)},
           {"LastModifiedTime", epoch_seconds(endpoint.modified)},
           {"ProductionVariants", Json::array()}};
  if (!endpoint.failure_reason.empty()) out["FailureReason"] = endpoint.failure_reason;
  for (const Variant& v : endpoint.variants)
    out["ProductionVariants"].push_back(variant_summary(api.world, endpoint.instances, v, endpoint.created));
  if (!endpoint.last_deployment.is_null()) out["LastDeploymentConfig"] = endpoint.last_deployment;
  if (endpoint.pending) out["PendingDeploymentSummary"] = pending_summary(api.world, *endpoint.pending);
  return out;
}

Result<Json> update_capacities(Api& api, const Json& in) {
  const auto found = find_endpoint(api, in);
  if (!found) return tl::unexpected(found.error());
  Endpoint& endpoint = **found;
  const std::string arn = api.world.arn("sagemaker", "endpoint/" + endpoint.name);
  Fields fields(in);
  const Json& changes = fields.list("DesiredWeightsAndCapacities");
  if (fields.ok() && changes.empty())
    fields.refuse("DesiredWeightsAndCapacities", "Member must have at least 1 element");
  if (!fields.ok()) return fields.failure();
  if (const auto ready = check_updatable(api.world, endpoint); !ready) return tl::unexpected(ready.error());
  std::vector<Variant> after = endpoint.variants;
  int more = 0;
  for (const Json& change : changes) {
    Fields row(change, "desiredWeightsAndCapacities.");
    const std::string name = row.name("VariantName");
    const auto count = row.maybe_integer("DesiredInstanceCount", 0, 10'000);
    const auto weight = row.maybe_number("DesiredWeight");
    if (weight && *weight < 0) row.refuse("DesiredWeight", "Member must be greater than or equal to 0");
    if (!row.ok()) return row.failure();
    const auto it =
        std::find_if(after.begin(), after.end(), [&](const Variant& v) { return v.name == name; });
    if (it == after.end())
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("The variant name(s) \"{}\" is/are not present within endpoint configuration \"{}\".",
                      name, endpoint.config));
    if (count) {
      if (*count < 1) return fail(ErrorCode::kInvalidArgument, "DesiredInstanceCount must be at least 1");
      more += static_cast<int>(*count) - it->desired;
      it->desired = static_cast<int>(*count);
    }
    if (weight) it->desired_weight = *weight;
  }
  if (more > 0) {
    if (const auto fits = check_quota(api.world, more, after.front().instance_type); !fits)
      return tl::unexpected(fits.error());
  }
  for (Variant& v : after) {
    v.failures = 0;
    v.retry_at = base::WallTime{};
  }
  endpoint.variants = std::move(after);
  endpoint.status = "Updating";
  endpoint.failure_reason.clear();
  endpoint.modified = api.now;
  return Json{{"EndpointArn", arn}};
}

Result<Json> delete_endpoint(Api& api, const Json& in) {
  const auto found = find_endpoint(api, in);
  if (!found) return tl::unexpected(found.error());
  (*found)->status = "Deleting";
  (*found)->modified = api.now;
  return Json::object();
}

constexpr std::array kOperations{
    OperationRow{"CreateEndpoint", create_endpoint, true},
    OperationRow{"DescribeEndpoint", describe_endpoint},
    OperationRow{"UpdateEndpointWeightsAndCapacities", update_capacities, true},
    OperationRow{"DeleteEndpoint", delete_endpoint, true},
};

}  // namespace

base::Result<void> check_quota(const World& world, int more, const std::string& type) {
  const int used = world.desired_instances();
  if (used + more <= world.settings.quota) return {};
  return fail(
      ErrorCode::kResourceExhausted,
      fmt::format(
          "The account-level service limit '{} for endpoint usage' is {} Instances, with current utilization "
          "of {} Instances and a request delta of {} Instances. Please use AWS Service Quotas to request an "
          "increase for this quota. (Here: restart tts-local with a higher --quota.)",
          type, world.settings.quota, used, more));
}

base::Result<std::vector<Variant>> make_variants(const World& world, const Json& config) {
  std::vector<Variant> out;
  for (const Json& row : config.at("ProductionVariants")) {
    Variant variant = make_variant(row);
    if (world.models.count(variant.model) == 0)
      return fail(ErrorCode::kNotFound, fmt::format("Could not find model \"{}\".",
                                                    world.arn("sagemaker", "model/" + variant.model)));
    variant.manifest_digest = manifest_digest(world, variant.model);
    out.push_back(std::move(variant));
  }
  return out;
}

base::Result<Endpoint*> find_endpoint(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointName");
  if (!fields.ok()) return fields.failure();
  const auto it = api.world.endpoints.find(name);
  if (it == api.world.endpoints.end())
    return fail(ErrorCode::kNotFound, fmt::format("Could not find endpoint \"{}\".",
                                                  api.world.arn("sagemaker", "endpoint/" + name)));
  return &it->second;
}

base::Result<void> check_updatable(const World& world, const Endpoint& endpoint) {
  if (endpoint.status == "InService") return {};
  const std::string arn = world.arn("sagemaker", "endpoint/" + endpoint.name);
  if (endpoint.status == "Failed" || endpoint.status == "Deleting")
    return fail(ErrorCode::kConflict,
                fmt::format("Cannot update endpoint \"{}\" in status {}.", arn, endpoint.status));
  return fail(ErrorCode::kConflict, fmt::format("Cannot update in-progress endpoint \"{}\".", arn));
}

std::span<const OperationRow> sagemaker_endpoint_operations() { return kOperations; }

}  // namespace headroom::cloud
