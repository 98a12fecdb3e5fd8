// What qmax and ttotal do first: look for drift and stop at an ERROR, unless --force (SPEC 2).
#pragma once

#include "base/result.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

// kRefused with the first error found; prints every warning.
base::Result<void> stop_at_drift(Session& session, bool force);

}  // namespace headroom::bench
