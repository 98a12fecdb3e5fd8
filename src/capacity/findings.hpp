// The findings of a plan in two groups; used inside capacity alone. Pure.
#pragma once

#include "capacity/plan_rules.hpp"

namespace headroom::capacity::detail {

using Findings = std::vector<Finding>;
// What the measurement is worth: trust, repeatability, SLO budget, ceiling, queue limit, units, stages.
void find_measurement(const PlanInput& input, const Plan& plan, Findings& out);
// What the policy does: sizing, knee, surges, scale-in, metric, cost.
void find_policy(const PlanInput& input, const Plan& plan, Findings& out);

}  // namespace headroom::capacity::detail
