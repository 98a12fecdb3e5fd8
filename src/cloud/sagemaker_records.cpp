// SageMaker: models and endpoint configs.
#include "cloud/sagemaker_records.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

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
  const auto tags = read_tags(in);
  if (!tags) return tl::unexpected(tags.error());
  api.world.models[name] = std::move(model);
  if (!tags->empty()) api.world.tags[arn] = *tags;
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
  const auto tags = read_tags(in);
  if (!tags) return tl::unexpected(tags.error());
  api.world.configs[name] = std::move(config);
  if (!tags->empty()) api.world.tags[arn] = *tags;
  return Json{{"EndpointConfigArn", arn}};
}

Result<Json> describe_endpoint_config(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.name("EndpointConfigName");
  if (!fields.ok()) return fields.failure();
  return endpoint_config(api.world, name);
}

Result<Json> delete_endpoint_config(Api& api, const Json& in) {
  const auto config = describe_endpoint_config(api, in);
  if (!config) return config;
  api.world.tags.erase((*config)["EndpointConfigArn"].get<std::string>());
  api.world.configs.erase((*config)["EndpointConfigName"].get<std::string>());
  return Json::object();
}

constexpr std::array kOperations{
    OperationRow{"CreateModel", create_model, true},
    OperationRow{"DescribeModel", describe_model},
    OperationRow{"DeleteModel", delete_model, true},
    OperationRow{"CreateEndpointConfig", create_endpoint_config, true},
    OperationRow{"DescribeEndpointConfig", describe_endpoint_config},
    OperationRow{"DeleteEndpointConfig", delete_endpoint_config, true},
};

}  // namespace

base::Result<Json> endpoint_config(const World& world, const std::string& name) {
  const auto it = world.configs.find(name);
  if (it != world.configs.end()) return it->second;
  return fail(ErrorCode::kNotFound, fmt::format("Could not find endpoint configuration \"{}\".",
                                                world.arn("sagemaker", "endpoint-config/" + name)));
}

std::span<const OperationRow> sagemaker_record_operations() { return kOperations; }

}  // namespace headroom::cloud
