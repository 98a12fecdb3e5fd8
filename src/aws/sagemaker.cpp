// SageMaker's control operations as JSON 1.1.
#include "aws/sagemaker.hpp"

#include "aws/json_call.hpp"

namespace headroom::aws {
namespace {

using base::Result;

Result<json> sagemaker(Transport& transport, const char* operation, const std::string& resource,
                       base::Deadline deadline, const json& body, bool repeatable = true) {
  return call(transport, {Service::kSageMaker, operation, resource, deadline, repeatable}, body);
}

Result<void> nothing(const Result<json>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

json tags_json(const std::vector<Tag>& tags) {
  json out = json::array();
  for (const Tag& tag : tags) out.push_back({{"Key", tag.key}, {"Value", tag.value}});
  return out;
}

VariantSummary read_variant(const json& in) {
  VariantSummary out;
  out.name = text_of(in, "VariantName");
  out.current_instance_count = int_of(in, "CurrentInstanceCount");
  out.desired_instance_count = int_of(in, "DesiredInstanceCount");
  out.current_weight = number_of(in, "CurrentWeight");
  out.desired_weight = number_of(in, "DesiredWeight");
  for (const json& status : list_of(in, "VariantStatus")) out.status.push_back(text_of(status, "Status"));
  for (const json& image : list_of(in, "DeployedImages")) {
    const std::string resolved = text_of(image, "ResolvedImage");
    out.resolved_images.push_back(resolved.empty() ? text_of(image, "SpecifiedImage") : resolved);
  }
  return out;
}

VariantConfig read_variant_config(const json& in) {
  VariantConfig out;
  out.name = text_of(in, "VariantName");
  out.model_name = text_of(in, "ModelName");
  out.instance_type = text_of(in, "InstanceType");
  out.initial_instance_count = int_of(in, "InitialInstanceCount");
  out.initial_weight = number_of(in, "InitialVariantWeight");
  out.model_download_timeout_s = int_of(in, "ModelDataDownloadTimeoutInSeconds");
  out.health_check_timeout_s = int_of(in, "ContainerStartupHealthCheckTimeoutInSeconds");
  out.routing_strategy = text_of(object_of(in, "RoutingConfig"), "RoutingStrategy");
  out.enable_ssm_access = bool_of(in, "EnableSSMAccess");
  return out;
}

json variant_config_json(const VariantConfig& in) {
  json out = {{"VariantName", in.name}, {"ModelName", in.model_name}};
  set_if(out, "InstanceType", in.instance_type);
  set_if(out, "InitialInstanceCount", in.initial_instance_count);
  set_if(out, "InitialVariantWeight", in.initial_weight);
  set_if(out, "ModelDataDownloadTimeoutInSeconds", in.model_download_timeout_s);
  set_if(out, "ContainerStartupHealthCheckTimeoutInSeconds", in.health_check_timeout_s);
  set_if(out, "EnableSSMAccess", in.enable_ssm_access);
  if (!in.routing_strategy.empty()) out["RoutingConfig"] = {{"RoutingStrategy", in.routing_strategy}};
  return out;
}

}  // namespace

const VariantSummary* EndpointDescription::variant(const std::string& variant_name) const {
  for (const VariantSummary& candidate : variants) {
    if (candidate.name == variant_name) return &candidate;
  }
  return nullptr;
}

Result<std::vector<std::string>> SageMaker::list_endpoints(base::Deadline deadline) {
  std::vector<std::string> names;
  auto done = call_pages(transport_, {Service::kSageMaker, "ListEndpoints", "", deadline},
                         {{"MaxResults", 100}}, "NextToken", "NextToken", [&](const json& page) {
                           for (const json& endpoint : list_of(page, "Endpoints"))
                             names.push_back(text_of(endpoint, "EndpointName"));
                         });
  if (!done) return tl::unexpected(done.error());
  return names;
}

Result<EndpointDescription> SageMaker::describe_endpoint(const std::string& name, base::Deadline deadline) {
  auto answer = sagemaker(transport_, "DescribeEndpoint", name, deadline, {{"EndpointName", name}});
  if (!answer) return tl::unexpected(answer.error());
  EndpointDescription out;
  out.name = text_of(*answer, "EndpointName");
  out.arn = text_of(*answer, "EndpointArn");
  out.config_name = text_of(*answer, "EndpointConfigName");
  out.status = text_of(*answer, "EndpointStatus");
  out.failure_reason = text_of(*answer, "FailureReason");
  out.created = time_of(*answer, "CreationTime");
  out.modified = time_of(*answer, "LastModifiedTime");
  for (const json& variant : list_of(*answer, "ProductionVariants"))
    out.variants.push_back(read_variant(variant));
  return out;
}

Result<EndpointConfig> SageMaker::describe_endpoint_config(const std::string& name, base::Deadline deadline) {
  auto answer =
      sagemaker(transport_, "DescribeEndpointConfig", name, deadline, {{"EndpointConfigName", name}});
  if (!answer) return tl::unexpected(answer.error());
  EndpointConfig out;
  out.name = text_of(*answer, "EndpointConfigName");
  out.arn = text_of(*answer, "EndpointConfigArn");
  for (const json& variant : list_of(*answer, "ProductionVariants")) {
    out.variants.push_back(read_variant_config(variant));
  }
  return out;
}

Result<Model> SageMaker::describe_model(const std::string& name, base::Deadline deadline) {
  auto answer = sagemaker(transport_, "DescribeModel", name, deadline, {{"ModelName", name}});
  if (!answer) return tl::unexpected(answer.error());
  Model out;
  out.name = text_of(*answer, "ModelName");
  out.arn = text_of(*answer, "ModelArn");
  out.execution_role_arn = text_of(*answer, "ExecutionRoleArn");
  const json* container = &object_of(*answer, "PrimaryContainer");
  // A pipeline of containers is out of scope, but one that lists a single container is the same thing.
  if (container->empty() && list_of(*answer, "Containers").size() == 1)
    container = &list_of(*answer, "Containers")[0];
  out.image = text_of(*container, "Image");
  out.model_data_url = text_of(*container, "ModelDataUrl");
  if (out.model_data_url.empty()) {
    out.model_data_url =
        text_of(object_of(object_of(*container, "ModelDataSource"), "S3DataSource"), "S3Uri");
  }
  for (const auto& [key, value] : object_of(*container, "Environment").items()) {
    if (value.is_string()) out.environment[key] = value.get<std::string>();
  }
  return out;
}

Result<std::string> SageMaker::create_model(const Model& model, base::Deadline deadline) {
  json container = {{"Image", model.image}};
  set_if(container, "ModelDataUrl", model.model_data_url);
  if (!model.environment.empty()) container["Environment"] = model.environment;
  json body = {{"ModelName", model.name}, {"PrimaryContainer", container}};
  set_if(body, "ExecutionRoleArn", model.execution_role_arn);
  auto answer = sagemaker(transport_, "CreateModel", model.name, deadline, body, false);
  if (!answer) return tl::unexpected(answer.error());
  return text_of(*answer, "ModelArn");
}

Result<std::string> SageMaker::create_endpoint_config(const EndpointConfig& config, base::Deadline deadline) {
  json body = {{"EndpointConfigName", config.name}, {"ProductionVariants", json::array()}};
  for (const VariantConfig& variant : config.variants) {
    body["ProductionVariants"].push_back(variant_config_json(variant));
  }
  auto answer = sagemaker(transport_, "CreateEndpointConfig", config.name, deadline, body, false);
  if (!answer) return tl::unexpected(answer.error());
  return text_of(*answer, "EndpointConfigArn");
}

Result<std::string> SageMaker::create_endpoint(const std::string& name, const std::string& config_name,
                                               const std::vector<Tag>& tags, base::Deadline deadline) {
  json body = {{"EndpointName", name}, {"EndpointConfigName", config_name}};
  if (!tags.empty()) body["Tags"] = tags_json(tags);
  auto answer = sagemaker(transport_, "CreateEndpoint", name, deadline, body, false);
  if (!answer) return tl::unexpected(answer.error());
  return text_of(*answer, "EndpointArn");
}

Result<void> SageMaker::delete_endpoint(const std::string& name, base::Deadline deadline) {
  return nothing(sagemaker(transport_, "DeleteEndpoint", name, deadline, {{"EndpointName", name}}));
}

Result<void> SageMaker::delete_endpoint_config(const std::string& name, base::Deadline deadline) {
  return nothing(
      sagemaker(transport_, "DeleteEndpointConfig", name, deadline, {{"EndpointConfigName", name}}));
}

Result<void> SageMaker::delete_model(const std::string& name, base::Deadline deadline) {
  return nothing(sagemaker(transport_, "DeleteModel", name, deadline, {{"ModelName", name}}));
}

Result<void> SageMaker::set_desired_instance_count(const std::string& endpoint, const std::string& variant,
                                                   int count, base::Deadline deadline) {
  const json body = {{"EndpointName", endpoint},
                     {"DesiredWeightsAndCapacities",
                      json::array({{{"VariantName", variant}, {"DesiredInstanceCount", count}}})}};
  return nothing(sagemaker(transport_, "UpdateEndpointWeightsAndCapacities", endpoint, deadline, body));
}

Result<void> SageMaker::add_tags(const std::string& arn, const std::vector<Tag>& tags,
                                 base::Deadline deadline) {
  return nothing(
      sagemaker(transport_, "AddTags", arn, deadline, {{"ResourceArn", arn}, {"Tags", tags_json(tags)}}));
}

Result<std::vector<Tag>> SageMaker::list_tags(const std::string& arn, base::Deadline deadline) {
  std::vector<Tag> out;
  auto done = call_pages(transport_, {Service::kSageMaker, "ListTags", arn, deadline}, {{"ResourceArn", arn}},
                         "NextToken", "NextToken", [&](const json& page) {
                           for (const json& tag : list_of(page, "Tags")) {
                             out.push_back({text_of(tag, "Key"), text_of(tag, "Value")});
                           }
                         });
  if (!done) return tl::unexpected(done.error());
  return out;
}

Result<void> SageMaker::delete_tags(const std::string& arn, const std::vector<std::string>& keys,
                                    base::Deadline deadline) {
  return nothing(
      sagemaker(transport_, "DeleteTags", arn, deadline, {{"ResourceArn", arn}, {"TagKeys", keys}}));
}

}  // namespace headroom::aws
