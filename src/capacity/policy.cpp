// Names of carriers and of the metrics that policies use.
#include "capacity/policy.hpp"

namespace headroom::capacity {
namespace {

MetricRef sagemaker(const char* name, const std::string& endpoint, const std::string& variant) {
  return {"AWS/SageMaker", name, {{"EndpointName", endpoint}, {"VariantName", variant}}};
}

}  // namespace

const char* carrier_name(Carrier carrier) {
  if (carrier == Carrier::kConcurrency) return "concurrency";
  return carrier == Carrier::kNative ? "native" : "offered-rate";
}

std::optional<Carrier> parse_carrier(const std::string& name) {
  for (const Carrier carrier : {Carrier::kConcurrency, Carrier::kNative, Carrier::kOfferedRate}) {
    if (name == carrier_name(carrier)) return carrier;
  }
  return std::nullopt;
}

MetricRef concurrency_metric(const std::string& endpoint, const std::string& variant) {
  return sagemaker("ConcurrentRequestsPerModel", endpoint, variant);
}
MetricRef first_chunk_metric(const std::string& endpoint, const std::string& variant) {
  return sagemaker("FirstChunkLatency", endpoint, variant);
}
MetricRef invocations_metric(const std::string& endpoint, const std::string& variant) {
  return sagemaker("Invocations", endpoint, variant);
}
MetricRef invocations_per_instance_metric(const std::string& endpoint, const std::string& variant) {
  return sagemaker("InvocationsPerInstance", endpoint, variant);
}
MetricRef offered_metric(const std::string& endpoint, const std::string& variant) {
  MetricRef metric = sagemaker("OfferedRequests", endpoint, variant);
  metric.metric_namespace = "Headroom";
  return metric;
}

}  // namespace headroom::capacity
