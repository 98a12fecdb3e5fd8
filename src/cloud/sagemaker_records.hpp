// What SageMaker's operations on endpoints need of those on models and endpoint configs. Internal to this
// module.
#pragma once

#include <string>

#include "cloud/operations.hpp"

namespace headroom::cloud {

// The Tags of a create request, kept under the new resource's ARN.
void store_tags(Api& api, const Json& in, const std::string& arn);
// As DescribeEndpointConfig returns it; kNotFound with AWS's sentence.
base::Result<Json> endpoint_config(const World& world, const std::string& name);

}  // namespace headroom::cloud
