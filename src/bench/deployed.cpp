// Reading targets, policies, alarms and tags.
#include "bench/deployed.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

constexpr const char* kStackTag = "aws:cloudformation:stack-name";

}  // namespace

base::Result<Deployed> read_deployed(Session& session) {
  Deployed out;
  out.endpoint = session.endpoint();
  out.variant = session.variant();
  out.resource_id = aws::variant_resource_id(out.endpoint, out.variant);
  auto targets = session.autoscaling().describe_targets({out.resource_id}, session.soon());
  if (!targets) return tl::unexpected(targets.error());
  if (!targets->empty()) out.target = targets->front();
  auto policies = session.autoscaling().describe_policies(out.resource_id, session.soon());
  if (!policies) return tl::unexpected(policies.error());
  out.policies = std::move(*policies);
  auto alarms =
      session.cloudwatch().describe_alarms_by_prefix(own_prefix(out.endpoint, out.variant), session.soon());
  if (!alarms) return tl::unexpected(alarms.error());
  out.alarms = std::move(*alarms);
  std::vector<std::string> others;
  for (const auto& policy : out.policies) {
    for (const auto& alarm : policy.alarms) {
      const bool known = std::find(others.begin(), others.end(), alarm.name) != others.end();
      if (!known && out.alarm(alarm.name) == nullptr) others.push_back(alarm.name);
    }
  }
  if (others.empty()) return out;  // DescribeAlarms without names would list every alarm of the account
  auto named = session.cloudwatch().describe_alarms(others, session.soon());
  if (!named) return tl::unexpected(named.error());
  out.alarms.insert(out.alarms.end(), named->begin(), named->end());
  return out;
}

base::Result<std::optional<std::string>> owning_stack(Session& session, const std::string& endpoint_arn,
                                                      const Deployed& deployed) {
  auto tags = session.sagemaker().list_tags(endpoint_arn, session.soon());
  if (!tags) return tl::unexpected(tags.error());
  for (const auto& tag : *tags) {
    if (tag.key == kStackTag) return tag.value;
  }
  if (!deployed.target || deployed.target->arn.empty()) return std::nullopt;
  // Targets got tags late, and a role may not be allowed to read them: then the endpoint's tags have spoken.
  auto more = session.autoscaling().list_tags(deployed.target->arn, session.soon());
  if (!more) return std::nullopt;
  const auto it = more->find(kStackTag);
  return it == more->end() ? std::nullopt : std::optional(it->second);
}

std::string plan_path(const Session& session, const std::string& given) {
  return given.empty() ? session.folder() + "/plan.json" : given;
}

base::Result<aws::EndpointDescription> describe_named_endpoint(Session& session) {
  auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
  if (endpoint || endpoint.error().code != base::ErrorCode::kNotFound) return endpoint;
  return base::fail(
      base::ErrorCode::kNotFound,
      fmt::format("endpoint '{}' does not exist at {} in {}; create it (on one machine: tts-local up "
                  "MODEL), or name another with --endpoint",
                  session.endpoint(), session.settings().endpoint(aws::Service::kSageMaker).url(),
                  session.settings().region),
      endpoint.error().context);
}

}  // namespace headroom::bench
