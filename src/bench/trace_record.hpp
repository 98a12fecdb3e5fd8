// tts-bench trace: the endpoint's recorded Invocations as a trace file for `simulate` and `plan --trace`.
//
// Read only. One line a minute: its start in seconds, how many requests came. A minute without a datapoint
// had none, since CloudWatch keeps no zeros of this metric; whether the metric has any datapoint at all is
// checked. Exit codes: 0, 1 failed (no datapoint, an API refused), 2 usage.
#pragma once

#include <string>
#include <vector>

#include "base/options.hpp"
#include "bench/session.hpp"

namespace headroom::bench {

struct TraceOptions {
  double hours = 24;
  std::string file;  // empty: OUT/trace.csv
  std::vector<base::Option> table();
};

int run_trace(const TraceOptions& options, Session& session);

}  // namespace headroom::bench
