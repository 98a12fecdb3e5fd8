// Service families written after the search was frozen, so that its quality on them was never tuned for.
#pragma once

#include "capacity/simulated_service.hpp"

namespace headroom::capacity::test {

inline std::vector<ServiceFamily> held_out_families() {
  using S = ServiceFamily::Shape;
  return {
      {.name = "gamma cv 0.4, 6 workers", .mean_ms = 310, .shape = S::kGamma, .cv = 0.4, .workers = 6},
      {.name = "bimodal 20 % x3, Q 150",
       .mean_ms = 18,
       .shape = S::kBimodal,
       .slow_share = 0.2,
       .slow_factor = 3},
      {.name = "AR 6 %, 10 s, Q 25",
       .mean_ms = 105,
       .shape = S::kGamma,
       .cv = 0.2,
       .noise = 0.06,
       .memory_s = 10},
      // Two texts in three are short, and every minute a neighbour wakes up.
      {.name = "uniform 0.5, sine 2 % of 60 s",
       .mean_ms = 42,
       .shape = S::kUniform,
       .cv = 0.5,
       .period_s = 60,
       .period_share = 0.02},
      {.name = "cold rungs that drift",
       .mean_ms = 80,
       .shape = S::kLognormal,
       .cv = 0.25,
       .transient_s = 12,
       .transient_factor = 1.5,
       .transient_per_rung = true,
       .drift_per_600s = 0.015},
  };
}

}  // namespace headroom::capacity::test
