// tts-bench apply: makes the scaling of an endpoint what the plan holds (SPEC 2.6).
//
// Registers the target, puts policies and alarms, and removes what an earlier plan left; never touches what
// it did not make, suspend flags included. Applying twice changes nothing. Then waits until the counts lie
// within the new bounds. It cannot set the queue limit, which is container environment, and says what to
// deploy. Exit codes: 0 as planned, 1 failed (frozen by a measurement, an API refused), 2 usage, 3 refused
// (infeasible or unconverted plan, another deployment, a CloudFormation stack owns the endpoint, no consent),
// 130.
#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/options.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct ApplyOptions {
  std::string plan_file;  // empty: OUT/plan.json
  base::Duration wait = std::chrono::minutes{15};
  bool dry_run = false;
  std::vector<base::Option> table();
};

int run_apply(const ApplyOptions& options, Session& session);

}  // namespace headroom::bench
