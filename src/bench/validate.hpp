// tts-bench validate: is what is deployed what the plan holds, field by field (SPEC 2.6)?
//
// Read only, but for `--live`, which sends load (validate_live.hpp). Writes validate.json. A container's
// queue limit that differs is a warning, because apply cannot set it. Exit codes: 0 valid, 1 failed
// (unreadable plan, no endpoint, an API refused), 2 usage, 3 different.
#pragma once

#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "base/options.hpp"
#include "base/result.hpp"
#include "bench/policy_compare.hpp"
#include "bench/session.hpp"
#include "bench/validate_live.hpp"

namespace headroom::bench {

struct ValidateOptions {
  std::string plan_file;  // empty: OUT/plan.json
  LiveOptions live;
  std::vector<base::Option> table();
};

// Pure: every check of one deployment against one plan.
std::vector<Check> validate_checks(const artifact::PlanArtifact& plan, const LiveEndpoint& live,
                                   const Deployed& deployed, const Commands& commands);

int run_validate(const ValidateOptions& options, Session& session);

}  // namespace headroom::bench
