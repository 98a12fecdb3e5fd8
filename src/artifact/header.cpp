// Comparing fingerprints; which environment values may be stored.
#include "artifact/header.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/sha256.hpp"

namespace headroom::artifact {

bool is_compared_variable(const std::string& name) {
  return name != "MAX_QUEUE_DEPTH" && name != "TTS_MAX_QUEUE_DEPTH" && name != "TTS_EMF";
}

std::string environment_value(const std::string& name, const std::string& value) {
  constexpr std::array<const char*, 3> kAllowed{"TTS_", "MAX_", "SAGEMAKER_"};
  constexpr std::array<const char*, 4> kSecret{"KEY", "TOKEN", "SECRET", "PASSWORD"};
  const bool allowed =
      std::any_of(kAllowed.begin(), kAllowed.end(), [&](const char* p) { return name.rfind(p, 0) == 0; });
  const bool secret = std::any_of(kSecret.begin(), kSecret.end(),
                                  [&](const char* p) { return name.find(p) != std::string::npos; });
  if (allowed && !secret) return value;
  return "sha256:" + base::sha256_hex(value).substr(0, 16);
}

std::vector<std::string> differences(const Fingerprint& left, const Fingerprint& right) {
  std::vector<std::string> out;
  const auto compare = [&](const char* name, const std::optional<std::string>& a,
                           const std::optional<std::string>& b) {
    if (a && b && *a != *b) out.push_back(fmt::format("{}: '{}' against '{}'", name, *a, *b));
  };
  compare("endpoint", left.endpoint, right.endpoint);
  compare("variant", left.variant, right.variant);
  compare("instance type", left.instance_type, right.instance_type);
  compare("image digest", left.image_digest, right.image_digest);
  compare("transport", left.transport, right.transport);
  compare("workload hash", left.workload_hash, right.workload_hash);
  if (!left.known() || !right.known())
    return out;  // without a fingerprint the environment is not known either
  std::map<std::string, std::pair<const std::string*, const std::string*>> both;
  for (const auto& [name, value] : left.environment) both[name].first = &value;
  for (const auto& [name, value] : right.environment) both[name].second = &value;
  for (const auto& [name, values] : both) {
    if (!is_compared_variable(name)) continue;
    const auto show = [](const std::string* value) {
      return value ? "'" + *value + "'" : std::string("unset");
    };
    if (show(values.first) != show(values.second))
      out.push_back(
          fmt::format("environment {}: {} against {}", name, show(values.first), show(values.second)));
  }
  return out;
}

}  // namespace headroom::artifact
