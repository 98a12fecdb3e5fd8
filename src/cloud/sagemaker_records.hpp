// What SageMaker's operations on endpoints need of those on models and endpoint configs. Internal to this
// module.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cloud/operations.hpp"

namespace headroom::cloud {

// The Tags member of a create request, checked as AddTags checks them.
base::Result<std::map<std::string, std::string>> read_tags(const Json& in);
// As DescribeEndpointConfig returns it; kNotFound with AWS's sentence.
base::Result<Json> endpoint_config(const World& world, const std::string& name);

// The variants of a stored endpoint config; kNotFound when a model is gone.
base::Result<std::vector<Variant>> make_variants(const World& world, const Json& config);
// kResourceExhausted with AWS's sentence. The quota is one number for all types together.
base::Result<void> check_quota(const World& world, int more, const std::string& type);
// The endpoint that EndpointName names, or AWS's refusal.
base::Result<Endpoint*> find_endpoint(Api& api, const Json& in);
// Refuses unless the endpoint is InService.
base::Result<void> check_updatable(const World& world, const Endpoint& endpoint);

}  // namespace headroom::cloud
