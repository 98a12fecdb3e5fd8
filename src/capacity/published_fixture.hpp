// The published ladder and stages as plan input; for tests only.
#pragma once

#include "capacity/plan.hpp"

namespace headroom::capacity::test {

inline std::vector<Rung> published_ladder() {
  struct Row {
    int n;
    double p50, p95, p99, rps;
  };
  const std::vector<Row> rows{{1, 60.02, 65.37, 68.54, 16.08},       {5, 278.02, 286.17, 289.96, 17.9},
                              {10, 554.92, 568.49, 573.52, 17.92},   {20, 1112.12, 1129.32, 1137.06, 17.92},
                              {30, 1674.18, 1689.8, 1700.65, 17.9},  {40, 2235.28, 2245.0, 2247.94, 17.88},
                              {50, 2793.5, 2805.66, 2840.48, 17.87}, {60, 3353.92, 3374.78, 3403.99, 17.9}};
  std::vector<Rung> rungs;
  for (const Row& row : rows) {
    Rung r;
    r.n = row.n;
    r.p50_ms = row.p50;
    r.p95_ms = row.p95;
    r.p99_ms = row.p99;
    r.rps = row.rps;
    r.metric_ratio = 1.0;
    rungs.push_back(r);
  }
  return rungs;
}

inline PlanInput published_input() {
  PlanInput in;
  in.rule = Rule::kPublished;
  in.rungs = published_ladder();
  in.q_max = 50;
  in.qmax_verdict = QmaxVerdict::kBracketed;
  in.unqueued_mean_ms = 61.32;
  in.unqueued_p95_ms = 66.14;
  in.calibration_ratio = 1.0;
  in.measured_total_s = 260.248;
  in.total_s = 320.248;
  in.headroom = 1.25;
  in.peak_rps = 5000;
  in.trough_rps = 10;
  return in;
}

}  // namespace headroom::capacity::test
