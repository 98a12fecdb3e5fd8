// Whether what answers is still what the measurement froze: its configuration, its count, InService.
//
// A redeployment keeps endpoint and count and puts another server behind them, so that what was measured is
// of neither. Reads only.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct FrozenAs {
  std::string config_name;           // EndpointConfigName when the measurement began; empty: not compared
  std::optional<int> instances = 1;  // nullopt: not compared
  bool in_service = true;            // false: not compared, as where the policy itself scales
};

// One sentence; nullopt: nothing changed.
std::optional<std::string> change_since(const FrozenAs& frozen, const aws::EndpointDescription& now,
                                        const std::string& variant);

// The same, read now; a bare server never changes. Errors: those of the API, and then it is not known.
base::Result<std::optional<std::string>> what_changed(Session& session, const FrozenAs& frozen);

// For the last look, before a measurement is written and the endpoint restored: short, and a reading that
// fails is tried again for some seconds.
base::Result<std::optional<std::string>> what_changed_at_last(Session& session, const FrozenAs& frozen);

}  // namespace headroom::bench
