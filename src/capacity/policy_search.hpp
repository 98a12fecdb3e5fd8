// Policy search: the cheapest recommended policy that still keeps a load within the SLO, found by simulation.
//
// Varies what rule R fixes: the utilisation to run at and how far below it the fleet shrinks. Every candidate
// meets the load with several seeds and has to keep 99.9 % within the SLO in each. Pure, deterministic by
// seed. Thread safety: independent calls. Errors: those of simulate(); kRefused where no candidate holds.
#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "capacity/contest.hpp"

namespace headroom::capacity {

struct SearchedPolicy {
  double utilisation = 0, scale_in_share = 0;
  double instance_hours = 0;    // mean over the seeds
  double share_within_slo = 0;  // the worst of the seeds
  std::optional<double> vs_clairvoyant;
  int candidates = 0;
};
base::Result<SearchedPolicy> search_policy(const PlanInput& input, const ContestRules& rules,
                                           const ContestLoad& load, int seeds = 3);

}  // namespace headroom::capacity
