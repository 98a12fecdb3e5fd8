// Quota minus what other variants hold.
#include "bench/quota_room.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace headroom::bench {
namespace {

constexpr std::size_t kMostEndpoints = 50;  // each takes two calls

int held(const aws::VariantSummary* variant) {
  if (variant == nullptr) return 0;
  return std::max(variant->current_instance_count.value_or(0), variant->desired_instance_count.value_or(0));
}

// Of one endpoint, without the variant that is measured; none: not known.
std::optional<int> held_by(Session& session, const std::string& name, const std::string& type) {
  const auto endpoint = session.sagemaker().describe_endpoint(name, session.soon());
  if (!endpoint && endpoint.error().code == base::ErrorCode::kNotFound) return 0;  // deleted meanwhile
  if (!endpoint) return std::nullopt;
  const auto config = session.sagemaker().describe_endpoint_config(endpoint->config_name, session.soon());
  if (!config) return std::nullopt;
  int sum = 0;
  for (const auto& variant : config->variants) {
    const bool measured = name == session.endpoint() && variant.name == session.variant();
    if (variant.instance_type == type && !measured) sum += held(endpoint->variant(variant.name));
  }
  return sum;
}

std::optional<int> held_elsewhere(Session& session, const std::string& type) {
  const auto names = session.sagemaker().list_endpoints(session.soon());
  if (!names || names->size() > kMostEndpoints) return std::nullopt;
  int sum = 0;
  for (const auto& name : *names) {
    const auto one = held_by(session, name, type);
    if (!one) return std::nullopt;
    sum += *one;
  }
  return sum;
}

}  // namespace

std::string room_text(const QuotaRoom& room, const std::string& instance_type) {
  std::string out = fmt::format("{:g} instances of {} in this account and region", room.limit, instance_type);
  if (!room.held_elsewhere) return out + "; what other variants hold of it is unknown";
  if (*room.held_elsewhere > 0)
    out += fmt::format(", {} of them held by other variants", *room.held_elsewhere);
  return out;
}

std::string ask_for_more(const QuotaRoom& room, int instances) {
  return fmt::format(
      "service-quotas request-service-quota-increase --service-code sagemaker --quota-code {} "
      "--desired-value {}",
      room.code, room.needed_for(instances));
}

base::Result<std::optional<QuotaRoom>> quota_room(Session& session, const std::string& instance_type) {
  auto quota = session.quotas().endpoint_instances(instance_type, session.soon());
  if (!quota) return tl::unexpected(quota.error());
  if (!*quota) return std::optional<QuotaRoom>{};
  return std::optional(
      QuotaRoom{(*quota)->name, (*quota)->code, (*quota)->value, held_elsewhere(session, instance_type)});
}

base::Result<void> room_for_two(Session& session, const LiveEndpoint& live) {
  const auto room = quota_room(session, live.config.instance_type);
  if (!room || !*room || (*room)->has_room_for(2)) return {};
  const int elsewhere = (*room)->held_elsewhere.value_or(0);
  const std::string others = elsewhere == 0 ? "" : fmt::format(", {} of it are in use elsewhere", elsewhere);
  return base::fail(
      base::ErrorCode::kRefused,
      fmt::format("the quota '{}' is {:.0f}{} and ttotal needs 2 instances; ask for more in Service "
                  "Quotas{}",
                  (*room)->name, (*room)->limit, others,
                  elsewhere == 0 ? "" : ", or scale another endpoint in"));
}

}  // namespace headroom::bench
