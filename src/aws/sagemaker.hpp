// SageMaker's control operations that Headroom uses, as plain structs; an unknown field is nullopt, never a
// sentinel.
//
// Blocking; as thread safe as its Transport. Errors are the Transport's; a missing endpoint, configuration or
// model is kNotFound whatever code the service chose. Source: SageMaker API 2017-07-24.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

struct Tag {
  std::string key;
  std::string value;
  bool operator==(const Tag&) const = default;
};

struct VariantSummary {
  std::string name;
  std::optional<int> current_instance_count;
  std::optional<int> desired_instance_count;
  std::optional<double> current_weight;
  std::optional<double> desired_weight;
  std::vector<std::string> status;           // Creating, Updating, ActivatingTraffic, ...
  std::vector<std::string> resolved_images;  // image URIs with digest
};

struct EndpointDescription {
  std::string name;
  std::string arn;
  std::string config_name;
  std::string status;  // InService, Updating, Creating, Failed, ...
  std::string failure_reason;
  std::optional<base::WallTime> created;
  std::optional<base::WallTime> modified;
  std::vector<VariantSummary> variants;

  const VariantSummary* variant(const std::string& variant_name) const;  // nullptr if there is none
};

struct VariantConfig {
  std::string name;
  std::string model_name;
  std::string instance_type;
  std::optional<int> initial_instance_count;
  std::optional<double> initial_weight;
  std::optional<int> model_download_timeout_s;
  std::optional<int> health_check_timeout_s;
  std::string routing_strategy;  // LEAST_OUTSTANDING_REQUESTS, RANDOM or ""
  std::optional<bool> enable_ssm_access;
};

struct EndpointConfig {
  std::string name;
  std::string arn;
  std::vector<VariantConfig> variants;
};

struct Model {
  std::string name;
  std::string arn;
  std::string image;
  std::string model_data_url;
  std::string execution_role_arn;
  std::map<std::string, std::string> environment;
};

class SageMaker {
 public:
  explicit SageMaker(Transport& transport) : transport_(transport) {}

  base::Result<std::vector<std::string>> list_endpoints(base::Deadline deadline);  // names, every page
  base::Result<EndpointDescription> describe_endpoint(const std::string& name, base::Deadline deadline);
  base::Result<EndpointConfig> describe_endpoint_config(const std::string& name, base::Deadline deadline);
  base::Result<Model> describe_model(const std::string& name, base::Deadline deadline);
  base::Result<std::string> create_model(const Model& model, base::Deadline deadline);  // the ARN
  base::Result<std::string> create_endpoint_config(const EndpointConfig& config, base::Deadline deadline);
  base::Result<std::string> create_endpoint(const std::string& name, const std::string& config_name,
                                            const std::vector<Tag>& tags, base::Deadline deadline);
  base::Result<void> delete_endpoint(const std::string& name, base::Deadline deadline);
  base::Result<void> delete_endpoint_config(const std::string& name, base::Deadline deadline);
  base::Result<void> delete_model(const std::string& name, base::Deadline deadline);
  // UpdateEndpointWeightsAndCapacities with the count alone. kConflict while the endpoint is Updating.
  base::Result<void> set_desired_instance_count(const std::string& endpoint, const std::string& variant,
                                                int count, base::Deadline deadline);
  base::Result<void> add_tags(const std::string& arn, const std::vector<Tag>& tags, base::Deadline deadline);
  base::Result<std::vector<Tag>> list_tags(const std::string& arn, base::Deadline deadline);
  base::Result<void> delete_tags(const std::string& arn, const std::vector<std::string>& keys,
                                 base::Deadline deadline);

 private:
  Transport& transport_;
};

}  // namespace headroom::aws
