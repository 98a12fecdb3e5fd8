// Reads what runs behind the endpoint.
#include "bench/live.hpp"

#include <fmt/format.h>

#include "base/options.hpp"
#include "bench/session.hpp"

namespace headroom::bench {
namespace {

// "repo@sha256:..." -> the digest; an image without one is kept whole.
std::string digest_of(const std::string& image) {
  const auto at = image.find('@');
  return at == std::string::npos ? image : image.substr(at + 1);
}

artifact::Fingerprint fingerprint_of(Session& session, const LiveEndpoint& live, const std::string& transport,
                                     const std::string& workload_hash) {
  artifact::Fingerprint print;
  print.endpoint = session.endpoint();
  print.variant = session.variant();
  if (!live.config.instance_type.empty()) print.instance_type = live.config.instance_type;
  const auto* variant = live.endpoint.variant(session.variant());
  if (variant && !variant->resolved_images.empty())
    print.image_digest = digest_of(variant->resolved_images.front());
  for (const auto& [name, value] : live.model.environment)
    print.environment[name] = artifact::environment_value(name, value);
  if (!transport.empty()) print.transport = transport;
  if (!workload_hash.empty()) print.workload_hash = workload_hash;
  return print;
}

}  // namespace

std::optional<int> queue_limit_of(const std::map<std::string, std::string>& environment) {
  for (const char* name : {"TTS_MAX_QUEUE_DEPTH", "MAX_QUEUE_DEPTH"}) {
    const auto it = environment.find(name);
    if (it == environment.end() || it->second.empty()) continue;
    const auto value = base::parse_integer(it->second);
    return value && *value > 0 ? std::optional(static_cast<int>(*value)) : std::nullopt;
  }
  return std::nullopt;
}

base::Result<LiveEndpoint> read_live(Session& session, const std::string& transport,
                                     const std::string& workload_hash) {
  LiveEndpoint live;
  auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
  if (!endpoint && endpoint.error().code == base::ErrorCode::kNotFound) {
    return base::fail(
        base::ErrorCode::kNotFound,
        fmt::format("endpoint '{}' does not exist at {} in {}; create it, or name another with --endpoint",
                    session.endpoint(), session.settings().endpoint(aws::Service::kSageMaker).url(),
                    session.settings().region),
        endpoint.error().context);
  }
  if (!endpoint) return tl::unexpected(endpoint.error());
  live.endpoint = std::move(*endpoint);
  const auto* variant = live.endpoint.variant(session.variant());
  if (!variant) {
    return base::fail(base::ErrorCode::kNotFound,
                      fmt::format("endpoint '{}' has no variant '{}'; name one with --variant",
                                  session.endpoint(), session.variant()));
  }
  live.desired = variant->desired_instance_count.value_or(0);
  auto config = session.sagemaker().describe_endpoint_config(live.endpoint.config_name, session.soon());
  if (!config) return tl::unexpected(config.error());
  for (const auto& row : config->variants) {
    if (row.name == session.variant()) live.config = row;
  }
  if (!live.config.model_name.empty()) {
    auto model = session.sagemaker().describe_model(live.config.model_name, session.soon());
    if (!model) return tl::unexpected(model.error());
    live.model = std::move(*model);
  }
  auto targets = session.autoscaling().describe_targets(
      {aws::variant_resource_id(session.endpoint(), session.variant())}, session.soon());
  if (!targets) return tl::unexpected(targets.error());
  if (!targets->empty()) live.target = targets->front();
  const auto engine = live.model.environment.find("TTS_ENGINE");
  live.paced = engine != live.model.environment.end() && engine->second == "paced";
  live.queue_limit = queue_limit_of(live.model.environment);
  live.fingerprint = fingerprint_of(session, live, transport, workload_hash);
  return live;
}

}  // namespace headroom::bench
