// Transport: one signed API request, its answer or an error; the interface the typed operations are written
// against.
//
// make_transport() speaks JSON 1.1 (1.0 for CloudWatch, the query form for STS), signs with SigV4, retries
// throttling, 5xx and broken connections with exponential backoff and full jitter until the deadline, and
// turns an error answer into an Error: message "<Operation> of '<resource>': <what the service said>",
// context = the AWS error code. Blocking; never call it on a loop thread. Shared and thread safe. Errors, by
// AWS code: kNotFound (ResourceNotFound*, ValidationException "Could not find"), kThrottled, kForbidden,
// kUnauthenticated, kConflict (ResourceInUse), kResourceExhausted (limits), kInvalidArgument (validation),
// kUnavailable, kTimeout, kRefused (plain http), kRemote.
#pragma once

#include <memory>
#include <string>

#include "aws/credentials.hpp"
#include "aws/runtime.hpp"
#include "aws/settings.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

struct ApiRequest {
  Service service = Service::kSageMaker;
  std::string operation;  // "DescribeEndpoint"
  std::string body;       // JSON, or the query form for STS
  std::string resource;   // what the error message names
  base::Deadline deadline;
  bool repeatable =
      true;  // false: a retry could do the thing twice, so only refusals before the work are retried
};

class Transport {
 public:
  virtual ~Transport() = default;
  // The body of a 2xx answer.
  virtual base::Result<std::string> send(const ApiRequest& request) = 0;
};

struct TransportOptions {
  int attempts = 5;
  base::Duration backoff = std::chrono::milliseconds{200};  // doubled each time, times a random part of 0..1
  base::Duration backoff_cap = std::chrono::seconds{5};
  base::Duration attempt_timeout = std::chrono::seconds{30};
};

std::unique_ptr<Transport> make_transport(Runtime& runtime, Settings settings,
                                          std::shared_ptr<Credentials> credentials, base::Clock& clock,
                                          TransportOptions options = {});

}  // namespace headroom::aws
