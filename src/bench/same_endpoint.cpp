// Comparing DescribeEndpoint with what was frozen.
#include "bench/same_endpoint.hpp"

#include <fmt/format.h>

namespace headroom::bench {
namespace {

constexpr auto kLastLook = std::chrono::seconds(10);
constexpr auto kBetweenTries = std::chrono::seconds(1);

}  // namespace

std::optional<std::string> change_since(const FrozenAs& frozen, const aws::EndpointDescription& now,
                                        const std::string& variant) {
  if (!frozen.config_name.empty() && now.config_name != frozen.config_name)
    return fmt::format(
        "the endpoint was redeployed: its configuration is {} and was {} when the measurement began; measure "
        "again",
        now.config_name, frozen.config_name);
  const auto* measured = now.variant(variant);
  const auto count = measured ? measured->current_instance_count : std::nullopt;
  if (frozen.instances && count && *count != *frozen.instances)
    return "the number of instances changed during the hold; hold again";
  if (frozen.in_service && now.status != "InService")
    return fmt::format("the endpoint is {} during the hold; hold again", now.status);
  return std::nullopt;
}

base::Result<std::optional<std::string>> what_changed(Session& session, const FrozenAs& frozen) {
  if (session.bare()) return std::nullopt;
  const auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.shortly());
  if (!endpoint) return tl::unexpected(endpoint.error());
  return change_since(frozen, *endpoint, session.variant());
}

base::Result<std::optional<std::string>> what_changed_at_last(Session& session, const FrozenAs& frozen) {
  const auto end = base::Deadline::after(session.clock(), kLastLook);
  for (;;) {
    auto changed = what_changed(session, frozen);
    if (changed || end.passed(session.clock()) || !session.interrupt().wait_for(kBetweenTries))
      return changed;
  }
}

}  // namespace headroom::bench
