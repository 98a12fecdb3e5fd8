// The policy's own lag: how long a breach can last until the deployed policy acts. A bound, not a
// measurement.
#pragma once

#include <string>

#include "bench/session.hpp"

namespace headroom::bench {

struct PolicyLag {
  double seconds = 0;
  std::string source;     // which policy it was computed from
  bool deployed = false;  // it is the endpoint's own
};

// From the endpoint's scale-out policy and its alarm: period x evaluations + cooldown. Without a policy: that
// of the published rule, 10 s x 3 + 30 s.
base::Result<PolicyLag> policy_lag(Session& session);

}  // namespace headroom::bench
