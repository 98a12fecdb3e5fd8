// Settings: region, profile and endpoint URL of each service, chosen as every AWS client chooses them.
//
// Reads options, environment and the profile files; makes no request. Needs a running Runtime (its file
// parser). Order of an endpoint: --endpoint-url, AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL, the profile's
// `services` section, the profile's endpoint_url, the service's public host;
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true skips the middle four. Order of a region: --region, AWS_REGION,
// AWS_DEFAULT_REGION, profile, and us-east-1 where every service is redirected to this machine (a local
// stand-in has no region). Values are immutable. Errors: kInvalidArgument (no region, a URL that is none, a
// profile that does not exist).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aws/runtime.hpp"
#include "base/result.hpp"

namespace headroom::aws {

enum class Service {
  kSageMaker,
  kSageMakerRuntime,
  kAutoScaling,
  kCloudWatch,
  kLogs,
  kQuotas,
  kSts,
  kSageMakerRuntimeHttp2  // the bidirectional stream, on port 8443 of the runtime; never through Transport
};
inline constexpr std::size_t kServiceCount = 8;

struct EndpointUrl {
  bool tls = true;
  std::string host;  // without port; an IPv6 literal without brackets
  std::uint16_t port = 443;
  std::string path;         // prefix of every path, "" or "/x"
  bool redirected = false;  // set by an option, the environment or a profile, not the public host

  bool loopback() const;    // localhost, 127.0.0.0/8 or ::1
  std::string url() const;  // for people: http://127.0.0.1:4599
  std::string host_header() const;
};
base::Result<EndpointUrl> parse_endpoint_url(std::string_view url);

struct SettingsOptions {
  std::optional<std::string> region;        // --region
  std::optional<std::string> profile;       // --profile
  std::optional<std::string> endpoint_url;  // --endpoint-url
};

using Environment = std::function<std::optional<std::string>(const std::string&)>;
Environment process_environment();  // an empty variable counts as unset

struct Settings {
  std::string region;
  std::string profile;         // "default" where none was named
  bool profile_named = false;  // by --profile: it then wins over keys in the environment, as in the AWS CLI
  std::array<EndpointUrl, kServiceCount> endpoints;

  const EndpointUrl& endpoint(Service service) const { return endpoints[static_cast<std::size_t>(service)]; }
};

base::Result<Settings> load_settings(Runtime& runtime, const SettingsOptions& options,
                                     const Environment& environment = process_environment());

}  // namespace headroom::aws
