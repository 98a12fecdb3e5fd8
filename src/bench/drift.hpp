// tts-bench drift: is the endpoint what the model file and the plan say, and may measuring start (SPEC 2.2)?
//
// Read only. Writes drift.json. Exit codes: 0 clean or warnings, 1 failed (no such endpoint, an API refused),
// 2 usage, 3 drifted (at least one ERROR).
#pragma once

#include <string>
#include <vector>

#include "artifact/artifacts.hpp"
#include "base/options.hpp"
#include "base/result.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct DriftOptions {
  std::string plan_file;  // empty: OUT/plan.json if it exists
  std::vector<base::Option> table();
};

// Reads and judges, without writing or printing; qmax and ttotal run it first. The verdict "drifted" means
// that a check is an ERROR.
base::Result<artifact::DriftArtifact> check_drift(Session& session, const DriftOptions& options = {});

int run_drift(const DriftOptions& options, Session& session);

}  // namespace headroom::bench
