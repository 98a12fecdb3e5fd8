// The gate in front of a measurement.
#include "bench/drift_gate.hpp"

#include <fmt/format.h>

#include "bench/drift.hpp"

namespace headroom::bench {

base::Result<void> stop_at_drift(Session& session, bool force) {
  auto drift = check_drift(session);
  if (!drift) return tl::unexpected(drift.error());
  const artifact::Check* worst = nullptr;
  for (const auto& check : drift->checks) {
    if (check.level != "WARN" && check.level != "ERROR") continue;
    session.say(fmt::format("{} {}: {} (should be: {}){}", check.level, check.id, check.found, check.wanted,
                            check.remedy.empty() ? "" : "; " + check.remedy));
    if (check.level == "ERROR" && !worst) worst = &check;
  }
  if (!worst || force) return {};
  return base::fail(
      base::ErrorCode::kRefused,
      fmt::format("drift found: {}: {}; mend it ({}), or pass --force to measure all the same", worst->id,
                  worst->found, worst->remedy.empty() ? "see tts-bench drift" : worst->remedy));
}

}  // namespace headroom::bench
