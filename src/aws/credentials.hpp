// Credentials: the chain that finds AWS keys, cached and refreshed in the background.
//
// Order: environment, profile (keys, credential_process, assumed role), SSO, web identity, container,
// instance metadata. A role or web-identity profile always asks the public STS over TLS, whatever
// AWS_ENDPOINT_URL says (a limit of the Common Runtime). Shared and thread safe. Secrets are never logged and
// never leave this module's memory. Errors: kUnauthenticated (none found; the message names the ways to give
// some), kTimeout.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aws/runtime.hpp"
#include "aws/settings.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

class Credentials {
 public:
  static std::shared_ptr<Credentials> chain(Runtime& runtime, const Settings& settings);
  static std::shared_ptr<Credentials> fixed(Runtime& runtime, const std::string& access_key_id,
                                            const std::string& secret, const std::string& session_token = {});
  virtual ~Credentials() = default;

  // Blocks until keys are there (never call it on a loop thread); the access key id, for messages.
  virtual base::Result<std::string> access_key_id(base::Deadline deadline) = 0;
  // The rule of SPEC 2: real keys never travel over plain http to a host that is not loopback. kRefused
  // otherwise.
  base::Result<void> allowed_to(const EndpointUrl& endpoint, base::Deadline deadline);

  struct Handle;  // defined in crt.hpp
  virtual Handle& handle() = 0;
};

// The context of a kUnauthenticated that came of no credentials, so that no request left this machine, begins
// so; what the service rejected has its error's name there.
inline constexpr std::string_view kNoCredentials = "no credentials";
inline bool is_missing_credentials(const base::Error& error) {
  return error.code == base::ErrorCode::kUnauthenticated &&
         std::string_view(error.context).substr(0, kNoCredentials.size()) == kNoCredentials;
}

// AWS key ids have at least 16 characters (IAM API, AccessKeyIdType); shorter ones are a local stand-in's
// dummies.
bool is_dummy_key(const std::string& access_key_id);

}  // namespace headroom::aws
