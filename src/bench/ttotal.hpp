// tts-bench ttotal: how long a new instance takes until traffic is well again (SPEC 2.4).
//
// Under steady load L it asks for one instance more, bypassing the policy, and stamps every stage from the
// new instance's log stream and from DescribeEndpoint; then restores. Needs a qmax artifact of the same
// fingerprint and q_max >= 2. --observe-policy lets the deployed policy ask instead, and measures its lag.
// --resume goes on with a run that was killed while its clock ran (the endpoint stays frozen until then).
// Exit codes: 0 measured, 1 failed (also: the scale-out was taken back), 2 usage, 3 refused, 4 traffic did
// not recover or the driver was the bottleneck, 130 interrupted after restoring.
#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct TtotalOptions {
  LoadOptions load;
  std::string qmax_file;  // empty: OUT/qmax.json
  double recover_factor = 1.25;
  base::Duration hold = std::chrono::seconds(60);
  base::Duration settle = std::chrono::seconds(30);  // load L before the clock starts
  base::Duration max_wait = std::chrono::minutes(60);
  bool observe_policy = false;
  int runs = 1;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
  std::vector<base::Option> table();
};

int run_ttotal(const TtotalOptions& options, Session& session);

}  // namespace headroom::bench
