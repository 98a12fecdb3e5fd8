// One whole qmax search on a frozen endpoint: which rungs are held, in what order, within the budget.
#pragma once

#include <string>
#include <vector>

#include "bench/hold.hpp"
#include "bench/qmax.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {

struct SearchRun {
  std::vector<HeldRung> rungs;
  capacity::QmaxResult result;
  std::vector<double> unqueued_ms;  // TTFAB of the whole first hold of rung 1
  base::Duration took{};
  std::string ended_because;
};

base::Result<SearchRun> run_search(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms);

}  // namespace headroom::bench
