// tts-bench simulate: policies against a load or a recorded trace, by simulation, side by side.
//
// Reads the qmax and ttotal artifacts (how an instance behaves), optionally a plan (whose policy then takes
// part as it is) and a trace; writes simulate.json. No network. The other contenders are sized for the load's
// own trough, peak and growth, unless --trough-rps, --peak-rps or --headroom say otherwise. Exit codes: 0, 1
// unreadable input, 2 usage.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/plan.hpp"

namespace headroom::bench {

struct SimulateOptions {
  PlanOptions plan;  // qmax, ttotal, headroom, peak, trough, slo, assume-ratio, trace
  std::string plan_file;
  std::string load = "day";
  std::optional<double> base_rps;
  bool rivals = true;
  std::optional<int> initial;
  std::string capacity_base = "in-service";
  int seed = 1;
  std::vector<base::Option> table();
};

int run_simulate(SimulateOptions& options, const PlanContext& context, const Print& print,
                 const Print& complain);

}  // namespace headroom::bench
