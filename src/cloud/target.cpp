// Choosing an instance.
#include "cloud/target.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/names.hpp"
#include "cloud/fleet.hpp"

namespace headroom::cloud {

base::Result<Target> choose_target(World& world, const std::string& name, const std::string& variant) {
  using base::ErrorCode;
  if (!base::is_sagemaker_name(name) || (!variant.empty() && !base::is_sagemaker_name(variant)))
    return base::fail(ErrorCode::kInvalidArgument,
                      "the endpoint or variant name is not a valid SageMaker name");
  const auto it = world.endpoints.find(name);
  if (it == world.endpoints.end())
    return base::fail(ErrorCode::kNotFound,
                      fmt::format("Endpoint {} of account {} not found.", name, world.settings.account));
  Endpoint& endpoint = it->second;
  if (!variant.empty() && world.variant(name, variant) == nullptr)
    return base::fail(ErrorCode::kNotFound,
                      fmt::format("Variant {} of endpoint {} not found.", variant, name));
  if (endpoint.status == "Creating" || endpoint.status == "Failed" || endpoint.status == "Deleting")
    return base::fail(ErrorCode::kNotFound,
                      fmt::format("Endpoint {} of account {} is {} and takes no requests.", name,
                                  world.settings.account, endpoint.status));
  const auto random = std::strtoull(random_hex(16).c_str(), nullptr, 16);
  const Instance* instance = begin_request(world, endpoint, variant, random);
  if (instance == nullptr)
    return base::fail(ErrorCode::kUnavailable,
                      fmt::format("Endpoint {} has no instance in service at the moment; retry.", name));
  Target target{name, instance->variant, instance->id, instance->port, {}};
  target.log_arn = world.arn("logs", fmt::format("log-group:{}:log-stream:{}", endpoint_log_group(name),
                                                 log_stream_name(*instance)));
  const int instances = count_in_state(endpoint, instance->variant, InstanceState::kInService);
  world.metrics.record(variant_metric("Invocations", name, target.variant), 1);
  world.metrics.record(variant_metric("InvocationsPerInstance", name, target.variant),
                       1.0 / std::max(1, instances));
  return target;
}

}  // namespace headroom::cloud
