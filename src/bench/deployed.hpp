// Deployed: reads what Application Auto Scaling and CloudWatch hold for the session's variant.
//
// Read only; several requests. Errors: those of the APIs, as they are.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "bench/policy_compare.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

base::Result<Deployed> read_deployed(Session& session);

// The CloudFormation stack that owns the endpoint or the scalable target, by its tags.
base::Result<std::optional<std::string>> owning_stack(Session& session, const std::string& endpoint_arn,
                                                      const Deployed& deployed);

// --plan, or the default file of this endpoint.
std::string plan_path(const Session& session, const std::string& given);

// "endpoint 'x' does not exist at URL in REGION; ..."
base::Result<aws::EndpointDescription> describe_named_endpoint(Session& session);

}  // namespace headroom::bench
