// The rules behind make_plan, one function each; used inside capacity alone. Pure.
#pragma once

#include "capacity/plan.hpp"

namespace headroom::capacity::detail {

// Checks every number before a rule uses it: finite, in range, present. The error names the field and the
// remedy.
base::Result<void> check_input(const PlanInput& input);
// The ratio that converts outstanding counts into metric units: measured, else assumed, else kRefused.
base::Result<double> unit_ratio(const PlanInput& input);

// Each fills everything but alternatives, findings and verdict.
base::Result<Plan> plan_published(const PlanInput& input);
base::Result<Plan> plan_recommended(const PlanInput& input);

std::vector<Finding> find_all(const PlanInput& input, const Plan& plan);
std::vector<Alternative> alternatives(const PlanInput& input);

// "headroom-<endpoint>-<variant>-<what>": how apply recognises what it made.
std::string policy_name(const PlanInput& input, const std::string& what);
// What both rules share: queue limit, throughput figures, w_max, alarm on the unqueued p95.
base::Result<Plan> common_plan(const PlanInput& input);
// FirstChunkLatency p95 above the unqueued p95, 2 of 3: informative, since it rings at ordinary load.
std::optional<AlarmRule> unqueued_alarm(const PlanInput& input, const Plan& plan);

inline constexpr double kSaturatedShare = 0.9;  // rule R never plans an instance above 90 % of its throughput

}  // namespace headroom::capacity::detail
