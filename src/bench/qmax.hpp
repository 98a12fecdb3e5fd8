// tts-bench qmax: the most outstanding requests that one instance carries within the SLO (SPEC 2.3).
//
// Freezes the endpoint at one instance, holds rungs, restores it, joins the metric, writes qmax.json. Two
// methods: `ladder` holds the rungs it is given, whose p95 decides alone; `adaptive` is the certified search
// (capacity/certified.hpp), whose interval holds Q_max with 95 %. Exit codes: 0 measured, 1 failed, 2 usage,
// 3 no rung passes or drift found, 4 inconclusive (a rung was unstable, client-bound or degraded; a lower
// bound with
// --require-bracket), 130 interrupted after restoring.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options.hpp"
#include "bench/rig.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct QmaxOptions {
  LoadOptions load;
  std::string method = "adaptive";
  std::vector<int> rungs{1, 5, 10, 20, 30, 40, 50, 60};
  base::Duration hold = std::chrono::seconds(240);
  base::Duration judge = std::chrono::seconds(60);
  base::Duration idle = std::chrono::seconds(30);
  base::Duration max_hold = std::chrono::seconds(240);
  base::Duration budget = std::chrono::seconds(540);
  std::optional<double> slo_ms;  // default: the model file's, else 3000
  int max_n = 512;
  int runs = 1;
  bool require_bracket = false;
  bool require_unbounded_queue = false;
  bool resume = false;
  bool force = false;
  bool dry_run = false;
  std::vector<base::Option> table();
};

int run_qmax(const QmaxOptions& options, Session& session);

}  // namespace headroom::bench
