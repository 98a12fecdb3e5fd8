// STS: whose credentials these are.
//
// Blocking; as thread safe as its Transport. Query protocol, XML answer. Source: STS API 2011-06-15.
#pragma once

#include <string>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

struct CallerIdentity {
  std::string account;
  std::string arn;
  std::string user_id;
};

base::Result<CallerIdentity> get_caller_identity(Transport& transport, base::Deadline deadline);

}  // namespace headroom::aws
