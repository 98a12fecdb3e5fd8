// Chooses region, profile and endpoint URLs; the profile files are parsed by aws-c-sdkutils.
#include "aws/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>

#include <aws/common/string.h>
#include <aws/sdkutils/aws_profile.h>

#include "aws/crt.hpp"
#include "base/names.hpp"

namespace headroom::aws {
namespace {

using base::ErrorCode;
using base::fail;

struct ServiceRow {
  Service service;
  const char* variable;  // AWS_ENDPOINT_URL_<variable>
  const char* section;   // key inside a profile's [services] section
  const char* host;      // before ".<region>.amazonaws.com"
};

// Names as botocore and the JavaScript SDK derive them from the service id.
constexpr std::array<ServiceRow, kServiceCount> kServices{{
    {Service::kSageMaker, "SAGEMAKER", "sagemaker", "api.sagemaker"},
    {Service::kSageMakerRuntime, "SAGEMAKER_RUNTIME", "sagemaker_runtime", "runtime.sagemaker"},
    {Service::kSageMakerRuntimeHttp2, "SAGEMAKER_RUNTIME_HTTP2", "sagemaker_runtime_http2",
     "runtime.sagemaker"},
    {Service::kAutoScaling, "APPLICATION_AUTO_SCALING", "application_auto_scaling",
     "application-autoscaling"},
    {Service::kCloudWatch, "CLOUDWATCH", "cloudwatch", "monitoring"},
    {Service::kLogs, "CLOUDWATCH_LOGS", "cloudwatch_logs", "logs"},
    {Service::kQuotas, "SERVICE_QUOTAS", "service_quotas", "servicequotas"},
    {Service::kSts, "STS", "sts", "sts"},
}};

struct StringFree {
  void operator()(aws_string* s) const { aws_string_destroy(s); }
};
using OwnedString = std::unique_ptr<aws_string, StringFree>;

struct CollectionFree {
  void operator()(aws_profile_collection* c) const { aws_profile_collection_release(c); }
};
using OwnedCollection = std::unique_ptr<aws_profile_collection, CollectionFree>;

// The merged config and credentials files; null where neither exists.
class Profiles {
 public:
  explicit Profiles(aws_allocator* allocator) : allocator_(allocator) {
    OwnedString config_path(aws_get_config_file_path(allocator, nullptr));
    OwnedString credentials_path(aws_get_credentials_file_path(allocator, nullptr));
    OwnedCollection config, credentials;
    if (config_path)
      config.reset(aws_profile_collection_new_from_file(allocator, config_path.get(), AWS_PST_CONFIG));
    if (credentials_path) {
      credentials.reset(
          aws_profile_collection_new_from_file(allocator, credentials_path.get(), AWS_PST_CREDENTIALS));
    }
    merged_.reset(aws_profile_collection_new_from_merge(allocator, config.get(), credentials.get()));
  }

  bool has(const std::string& profile) const {
    return section(AWS_PROFILE_SECTION_TYPE_PROFILE, profile) != nullptr;
  }

  std::optional<std::string> value(const std::string& profile, const char* key) const {
    return text(property(section(AWS_PROFILE_SECTION_TYPE_PROFILE, profile), key));
  }

  // [services NAME] with NAME from the profile's `services` key: service = / endpoint_url = ...
  std::optional<std::string> service_url(const std::string& profile, const char* service) const {
    const auto name = value(profile, "services");
    if (!name) return std::nullopt;
    const aws_profile_property* found = property(section(AWS_PROFILE_SECTION_TYPE_SERVICES, *name), service);
    if (found == nullptr) return std::nullopt;
    OwnedString key(aws_string_new_from_c_str(allocator_, "endpoint_url"));
    const aws_string* url = aws_profile_property_get_sub_property(found, key.get());
    if (url == nullptr || url->len == 0) return std::nullopt;
    return std::string(aws_string_c_str(url), url->len);
  }

 private:
  const aws_profile* section(aws_profile_section_type type, const std::string& name) const {
    if (!merged_) return nullptr;
    OwnedString wanted(aws_string_new_from_array(
        allocator_, reinterpret_cast<const std::uint8_t*>(name.data()), name.size()));
    return aws_profile_collection_get_section(merged_.get(), type, wanted.get());
  }
  const aws_profile_property* property(const aws_profile* profile, const char* key) const {
    if (profile == nullptr) return nullptr;
    OwnedString wanted(aws_string_new_from_c_str(allocator_, key));
    return aws_profile_get_property(profile, wanted.get());
  }
  static std::optional<std::string> text(const aws_profile_property* found) {
    if (found == nullptr) return std::nullopt;
    const aws_string* value = aws_profile_property_get_value(found);
    if (value == nullptr || value->len == 0) return std::nullopt;
    return std::string(aws_string_c_str(value), value->len);
  }

  aws_allocator* allocator_;
  OwnedCollection merged_;
};

std::string public_host(const ServiceRow& row, const std::string& region) {
  const bool china = region.starts_with("cn-");
  return std::string(row.host) + "." + region + (china ? ".amazonaws.com.cn" : ".amazonaws.com");
}

// Where a service was redirected to, and by what; nullopt: its public host.
std::optional<std::pair<std::string, std::string>> configured_url(const ServiceRow& row,
                                                                  const Settings& settings,
                                                                  const SettingsOptions& options,
                                                                  const Environment& environment,
                                                                  const Profiles& profiles) {
  using Found = std::pair<std::string, std::string>;
  if (options.endpoint_url) return Found{*options.endpoint_url, "--endpoint-url"};
  const auto ignore = environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
  if (ignore && (*ignore == "true" || *ignore == "TRUE" || *ignore == "True")) return std::nullopt;
  const std::string variable = std::string("AWS_ENDPOINT_URL_") + row.variable;
  if (const auto url = environment(variable)) return Found{*url, variable};
  if (const auto url = environment("AWS_ENDPOINT_URL")) return Found{*url, "AWS_ENDPOINT_URL"};
  if (const auto url = profiles.service_url(settings.profile, row.section)) {
    return Found{*url, "the services section of profile '" + settings.profile + "'"};
  }
  if (const auto url = profiles.value(settings.profile, "endpoint_url")) {
    return Found{*url, "endpoint_url of profile '" + settings.profile + "'"};
  }
  return std::nullopt;
}

bool is_region(const std::string& region) {
  return !region.empty() && region.size() <= 63 && std::all_of(region.begin(), region.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

bool EndpointUrl::loopback() const {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

std::string EndpointUrl::host_header() const {
  const std::string name = base::host_in_url(host);
  return port == (tls ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

std::string EndpointUrl::url() const { return (tls ? "https://" : "http://") + host_header() + path; }

base::Result<EndpointUrl> parse_endpoint_url(std::string_view url) {
  const auto bad = [url](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, "'" + std::string(url) + "' is not an endpoint URL: " + why +
                                                 "; write http://HOST:PORT or https://HOST");
  };
  EndpointUrl out;
  out.redirected = true;
  std::string_view rest = url;
  if (rest.starts_with("http://")) {
    out.tls = false;
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return bad("it does not start with http:// or https://");
  }
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
  if (path.find_first_of("?# \r\n\t") != std::string_view::npos)
    return bad("a query or a space has no place in it");
  while (path.ends_with('/')) path.remove_suffix(1);
  out.path = path;
  if (authority.find('@') != std::string_view::npos) return bad("user names are not taken from URLs");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return bad("the bracket of its IPv6 address is not closed");
    out.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const std::size_t colon = authority.find(':');
    out.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (out.host.empty()) return bad("it names no host");
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' || c == ':';
  };
  if (!std::all_of(out.host.begin(), out.host.end(), allowed))
    return bad("its host has characters that no host has");
  out.port = out.tls ? 443 : 80;
  if (!port.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
    if (port[0] != ':' || error != std::errc{} || end != port.data() + port.size() || number < 1 ||
        number > 65535) {
      return bad("its port is not a number from 1 to 65535");
    }
    out.port = static_cast<std::uint16_t>(number);
  }
  return out;
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

base::Result<Settings> load_settings(Runtime& runtime, const SettingsOptions& options,
                                     const Environment& environment) {
  const Profiles profiles(runtime.impl().allocator);
  Settings settings;
  std::optional<std::string> named = options.profile;
  if (!named) named = environment("AWS_PROFILE");
  settings.profile = named.value_or("default");
  settings.profile_named = options.profile.has_value();
  if (named && !profiles.has(*named)) {
    return fail(ErrorCode::kInvalidArgument,
                "there is no AWS profile '" + *named +
                    "'; name one of ~/.aws/config or ~/.aws/credentials with --profile");
  }

  std::array<std::optional<EndpointUrl>, kServiceCount> redirected;
  bool all_local = true;
  for (const ServiceRow& row : kServices) {
    const auto found = configured_url(row, settings, options, environment, profiles);
    if (!found) {
      all_local = false;
      continue;
    }
    auto url = parse_endpoint_url(found->first);
    if (!url) return fail(url.error().code, url.error().message, "from " + found->second);
    all_local = all_local && url->loopback();
    redirected[static_cast<std::size_t>(row.service)] = *url;
  }

  std::optional<std::string> region = options.region;
  if (!region) region = environment("AWS_REGION");
  if (!region) region = environment("AWS_DEFAULT_REGION");
  if (!region) region = profiles.value(settings.profile, "region");
  if (!region && all_local) region = "us-east-1";
  if (!region) {
    return fail(ErrorCode::kInvalidArgument,
                "no AWS region is set; give --region, AWS_REGION or a region in the profile");
  }
  if (!is_region(*region)) {
    return fail(ErrorCode::kInvalidArgument,
                "'" + *region + "' is not an AWS region; write one like eu-central-1");
  }
  settings.region = *region;

  for (const ServiceRow& row : kServices) {
    auto& endpoint = settings.endpoints[static_cast<std::size_t>(row.service)];
    if (const auto& url = redirected[static_cast<std::size_t>(row.service)]) {
      endpoint = *url;
    } else {
      endpoint.host = public_host(row, settings.region);
      if (row.service == Service::kSageMakerRuntimeHttp2) endpoint.port = 8443;
    }
  }
  return settings;
}

}  // namespace headroom::aws
