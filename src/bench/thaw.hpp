// tts-bench thaw: restores what a killed run left, from its journal or its endpoint tag (SPEC 2.7).
//
// Idempotent: a thawed endpoint is left alone. With neither journal nor tag it lifts suspension and asks for
// --desired N. Exit codes: 0 restored or nothing to do, 1 failed, 2 --desired is needed, 3 refused (a live
// run holds it).
#pragma once

#include <optional>
#include <vector>

#include "base/options.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct ThawOptions {
  std::optional<int> desired;
  bool dry_run = false;
  std::vector<base::Option> table();
};

int run_thaw(const ThawOptions& options, Session& session);

}  // namespace headroom::bench
