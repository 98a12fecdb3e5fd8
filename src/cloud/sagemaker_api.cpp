// SageMaker: models, endpoint configs and endpoints.
#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Names that a model's environment may hold: they reach tts-serve and nothing else does.
bool environment_name_allowed(const std::string& name) {
  static const std::set<std::string> exact{"MAX_QUEUE_DEPTH", "MAX_REQUEST_AGE_S"};
  if (exact.count(name) > 0) return true;
  if (name.size() <= 4 || name.rfind("TTS_", 0) != 0) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

Result<void> check_environment(const Json& environment) {
  if (!environment.is_object())
    return fail(ErrorCode::kInvalidArgument, "Environment must be a map of strings");
  for (const auto& [name, value] : environment.items()) {
    if (!environment_name_allowed(name)) {
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "environment variable '{}' is not allowed: this cloud passes only TTS_*, MAX_QUEUE_DEPTH and "
              "MAX_REQUEST_AGE_S to a container; remove it",
              name.substr(0, 100)));
    }
    if (!value.is_string() || value.get_ref<const std::string&>().size() > 1024 ||
        value.get_ref<const std::string&>().find('\0') != std::string::npos)
      return fail(
          ErrorCode::kInvalidArgument,
          fmt::format("the value of environment variable '{}' must be a string of at most 1024 characters",
                      name));
  }
  return {};
}

Result<void> check_container(const Json& container) {
  Fields fields(container, "primaryContainer.");
  const auto url = fields.maybe_text("ModelDataUrl", 1024);
  fields.maybe_text("Image", 255);
  if (!fields.ok()) return fields.failure();
  if (url && url->rfind("file://", 0) != 0 && url->rfind("s3://", 0) != 0 && url->rfind("https://", 0) != 0)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("ModelDataUrl '{}' is not understood: use file://DIR for a folder on this machine",
                    *url));
  return check_environment(container.value("Environment", Json::object()));
}

void store_tags(Api& api, const Json& in, const std::string& arn) {
  for (const Json& tag : in.value("Tags", Json::array())) {
    if (tag.is_object() && tag.contains("Key") && tag["Key"].is_string())
      api.world.tags[arn][tag["Key"]] =
          tag.contains("Value") && tag["Value"].is_string() ? tag["Value"] : Json("");
  }
}

Result<Json> create_model(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("ModelName");
  if (!fields.ok()) return fields.failure();
  const std::string arn = api.world.arn("sagemaker", "model/" + name);
  if (api.world.models.count(name) > 0)
    return fail(ErrorCode::kConflict, fmt::format("Cannot create already existing model \"{}\".", arn));
  Json container = in.value("PrimaryContainer", Json());
  if (in.contains("Containers") && in["Containers"].is_array()) {
    if (in["Containers"].size() != 1 || !container.is_null())
      return fail(ErrorCode::kInvalidArgument,
                  "a model has exactly one container here: give PrimaryContainer");
    container = in["Containers"][0];
  }
  if (!container.is_object()) return fail(ErrorCode::kInvalidArgument, "PrimaryContainer must be given");
  if (const auto checked = check_container(container); !checked) return tl::unexpected(checked.error());
  Json model{{"ModelName", name},
             {"ModelArn", arn},
             {"CreationTime", epoch_seconds(api.now)},
             {"EnableNetworkIsolation", in.value("EnableNetworkIsolation", false)}};
  if (!container.contains("Mode")) container["Mode"] = "SingleModel";
  model["PrimaryContainer"] = container;
  copy_members(in, model, {"ExecutionRoleArn", "VpcConfig", "InferenceExecutionConfig"});
  api.world.models[name] = std::move(model);
  store_tags(api, in, arn);
  return Json{{"ModelArn", arn}};
}

Result<Json> describe_model(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("ModelName");
  if (!fields.ok()) return fields.failure();
  const auto it = api.world.models.find(name);
  if (it == api.world.models.end())
    return fail(ErrorCode::kNotFound,
                fmt::format("Could not find model \"{}\".", api.world.arn("sagemaker", "model/" + name)));
  return it->second;
}

Result<Json> delete_model(Api& api, const Json& in) {
  const auto model = describe_model(api, in);
  if (!model) return model;
  api.world.tags.erase((*model)["ModelArn"].get<std::string>());
  api.world.models.erase((*model)["ModelName"].get<std::string>());
  return Json::object();
}

Result<Json> check_variant(Api& api, const Json& in) {
  Fields fields(in, "productionVariants.");
  const std::string name = fields.name("VariantName");
  const std::string model = fields.name("ModelName");
  const std::string type = fields.text("InstanceType", 64);
  const auto count = fields.maybe_integer("InitialInstanceCount", 1, 10'000);
  const auto weight = fields.maybe_number("InitialVariantWeight");
  fields.maybe_integer("ContainerStartupHealthCheckTimeoutInSeconds", 60, 3600);
  fields.maybe_integer("ModelDataDownloadTimeoutInSeconds", 60, 3600);
  if (fields.has("RoutingConfig")) {
    Fields routing(fields.object("RoutingConfig"), "productionVariants.routingConfig.");
    routing.choice("RoutingStrategy", {"LEAST_OUTSTANDING_REQUESTS", "RANDOM"});
    fields.take(routing);
  }
  if (fields.ok() && type.rfind("ml.", 0) != 0)
    fields.refuse("InstanceType", "Member must be an instance type such as ml.g5.xlarge");
  if (weight && *weight < 0)
    fields.refuse("InitialVariantWeight", "Member must be greater than or equal to 0");
  if (!fields.ok()) return fields.failure();
  if (in.contains("ServerlessConfig"))
    return fail(ErrorCode::kInvalidArgument, "ServerlessConfig is not offered by this cloud; use instances");
  if (api.world.models.count(model) == 0)
    return fail(ErrorCode::kNotFound,
                fmt::format("Could not find model \"{}\".", api.world.arn("sagemaker", "model/" + model)));
  Json variant = in;
  variant["InitialInstanceCount"] = count.value_or(1);
  variant["InitialVariantWeight"] = weight.value_or(1.0);
  return variant;
}

Result<Json> create_endpoint_config(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointConfigName");
  const Json& variants = fields.list("ProductionVariants");
  if (fields.ok() && (variants.empty() || variants.size() > 10))
    fields.refuse("ProductionVariants", "Member must have 1 to 10 elements");
  if (!fields.ok()) return fields.failure();
  const std::string arn = api.world.arn("sagemaker", "endpoint-config/" + name);
  if (api.world.configs.count(name) > 0)
    return fail(ErrorCode::kConflict,
                fmt::format("Cannot create already existing endpoint configuration \"{}\".", arn));
  Json stored = Json::array();
  std::set<std::string> names;
  for (const Json& variant : variants) {
    const auto checked = check_variant(api, variant);
    if (!checked) return checked;
    if (!names.insert((*checked)["VariantName"].get<std::string>()).second)
      return fail(ErrorCode::kInvalidArgument, "two production variants have the same VariantName");
    stored.push_back(*checked);
  }
  Json config{{"EndpointConfigName", name},
              {"EndpointConfigArn", arn},
              {"ProductionVariants", stored},
              {"CreationTime", epoch_seconds(api.now)},
              {"EnableNetworkIsolation", in.value("EnableNetworkIsolation", false)}};
  copy_members(in, config, {"DataCaptureConfig", "KmsKeyId", "ExecutionRoleArn", "VpcConfig"});
  api.world.configs[name] = std::move(config);
  store_tags(api, in, arn);
  return Json{{"EndpointConfigArn", arn}};
}

Result<Json> describe_endpoint_config(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointConfigName");
  if (!fields.ok()) return fields.failure();
  const auto it = api.world.configs.find(name);
  if (it == api.world.configs.end())
    return fail(ErrorCode::kNotFound, fmt::format("Could not find endpoint configuration \"{}\".",
                                                  api.world.arn("sagemaker", "endpoint-config/" + name)));
  return it->second;
}

Result<Json> delete_endpoint_config(Api& api, const Json& in) {
  const auto config = describe_endpoint_config(api, in);
  if (!config) return config;
  api.world.tags.erase((*config)["EndpointConfigArn"].get<std::string>());
  api.world.configs.erase((*config)["EndpointConfigName"].get<std::string>());
  return Json::object();
}

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
  fields.name("EndpointConfigName");
  if (!fields.ok()) return fields.failure();
  const std::string arn = api.world.arn("sagemaker", "endpoint/" + name);
  if (api.world.endpoints.count(name) > 0)
    return fail(ErrorCode::kConflict, fmt::format("Cannot create already existing endpoint \"{}\".", arn));
  const auto config = describe_endpoint_config(api, in);
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
    OperationRow{"CreateModel", create_model, true},
    OperationRow{"DescribeModel", describe_model},
    OperationRow{"DeleteModel", delete_model, true},
    OperationRow{"CreateEndpointConfig", create_endpoint_config, true},
    OperationRow{"DescribeEndpointConfig", describe_endpoint_config},
    OperationRow{"DeleteEndpointConfig", delete_endpoint_config, true},
    OperationRow{"CreateEndpoint", create_endpoint, true},
    OperationRow{"DescribeEndpoint", describe_endpoint},
    OperationRow{"ListEndpoints", list_endpoints},
    OperationRow{"UpdateEndpointWeightsAndCapacities", update_capacities, true},
    OperationRow{"DeleteEndpoint", delete_endpoint, true},
};

}  // namespace

std::span<const OperationRow> sagemaker_operations() { return kOperations; }

}  // namespace headroom::cloud
