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

// The quota is one number for all types together; the sentence is AWS's.
Result<void> check_quota(const World& world, int more, const std::string& type) {
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
  const auto config = endpoint_config(api.world, config_name);
  if (!config) return config;
  Endpoint endpoint;
  endpoint.name = name;
  endpoint.config = (*config)["EndpointConfigName"];
  endpoint.status = "Creating";
  endpoint.created = endpoint.modified = api.now;
  int wanted = 0;
  for (const Json& variant : (*config)["ProductionVariants"]) {
    endpoint.variants.push_back(make_variant(variant));
    wanted += endpoint.variants.back().desired;
    if (api.world.models.count(endpoint.variants.back().model) == 0)
      return fail(ErrorCode::kNotFound,
                  fmt::format("Could not find model \"{}\" of the endpoint configuration.",
                              endpoint.variants.back().model));
    endpoint.variants.back().manifest_digest = manifest_digest(api.world, endpoint.variants.back().model);
  }
  if (const auto fits = check_quota(api.world, wanted, endpoint.variants.front().instance_type); !fits)
    return tl::unexpected(fits.error());
  api.world.endpoints.emplace(name, std::move(endpoint));
  store_tags(api, in, arn);
  return Json{{"EndpointArn", arn}};
}

Result<Endpoint*> find_endpoint(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointName");
  if (!fields.ok()) return fields.failure();
  const auto it = api.world.endpoints.find(name);
  if (it == api.world.endpoints.end())
    return fail(ErrorCode::kNotFound, fmt::format("Could not find endpoint \"{}\".",
                                                  api.world.arn("sagemaker", "endpoint/" + name)));
  return &it->second;
}

// What really runs, as one digest: the program alone, or the program and the manifest of its model folder.
std::string running_digest(const World& world, const Variant& variant) {
  const std::string& program = world.settings.image_digest;
  return variant.manifest_digest.empty() ? program : base::sha256_hex(program + variant.manifest_digest);
}

Json variant_summary(const World& world, const Endpoint& endpoint, const Variant& variant) {
  Json out{{"VariantName", variant.name},
           {"CurrentWeight", variant.weight},
           {"DesiredWeight", variant.desired_weight},
           {"CurrentInstanceCount", count_in_state(endpoint, variant.name, InstanceState::kInService)},
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
                      {"ResolutionTime", epoch_seconds(endpoint.created)}}});
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
    out["ProductionVariants"].push_back(variant_summary(api.world, endpoint, v));
  return out;
}

Result<Json> list_endpoints(Api& api, const Json& in) {
  Fields fields(in);
  const auto contains = fields.maybe_text("NameContains", 63);
  const auto status = fields.maybe_text("StatusEquals", 32);
  const auto limit = fields.maybe_integer("MaxResults", 1, 100).value_or(100);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const auto& [name, endpoint] : api.world.endpoints) {
    if (contains && name.find(*contains) == std::string::npos) continue;
    if (status && endpoint.status != *status) continue;
    rows.push_back({{"EndpointName", name},
                    {"EndpointArn", api.world.arn("sagemaker", "endpoint/" + name)},
                    {"CreationTime", epoch_seconds(endpoint.created)},
                    {"LastModifiedTime", epoch_seconds(endpoint.modified)},
                    {"EndpointStatus", endpoint.status}});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return a["CreationTime"].get<double>() > b["CreationTime"].get<double>();
  });
  const auto page = paginate(rows.size(), limit, token);
  if (!page) return tl::unexpected(page.error());
  Json out{{"Endpoints", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["Endpoints"].push_back(rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
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
  if (endpoint.status != "InService") {
    const bool busy = endpoint.status == "Updating" || endpoint.status == "Creating";
    return fail(ErrorCode::kConflict,
                busy ? fmt::format("Cannot update in-progress endpoint \"{}\".", arn)
                     : fmt::format("Cannot update endpoint \"{}\" in status {}.", arn, endpoint.status));
  }
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
    OperationRow{"ListEndpoints", list_endpoints},
    OperationRow{"UpdateEndpointWeightsAndCapacities", update_capacities, true},
    OperationRow{"DeleteEndpoint", delete_endpoint, true},
};

}  // namespace

std::span<const OperationRow> sagemaker_endpoint_operations() { return kOperations; }

}  // namespace headroom::cloud
