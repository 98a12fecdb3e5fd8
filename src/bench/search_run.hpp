// One whole qmax search on a frozen endpoint: which rungs are held, in what order, within the budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/hold.hpp"
#include "bench/qmax.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {

struct SearchRun {
  std::vector<HeldRung> rungs;
  capacity::QmaxResult result;
  artifact::Unqueued unqueued;                 // of the whole first hold of rung 1
  std::optional<double> noise_ratio, scatter;  // adaptive
  base::Duration took{};
  std::string ended_because;
  std::optional<std::string> not_compared;  // why nobody knows whether the endpoint was still the same
  std::size_t resumed_rungs = 0;            // of `rungs`, held by the interrupted run
  capacity::Counts resumed_counts;  // what that run sent, as far as it had ended when its last rung was saved
};

// `config_name`: the EndpointConfigName that was frozen; empty (a bare server): not compared. `before`: rungs
// that an interrupted run held and that count as held. `after_each`: called when a rung was held, to save
// what is known.
base::Result<SearchRun> run_search(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms,
                                   std::string config_name, SearchRun before = {},
                                   const std::function<void(const SearchRun&)>& after_each = {});

}  // namespace headroom::bench
