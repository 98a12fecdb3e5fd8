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
// Fills what only a simulation can tell about the alternatives, and simulated_load; leaves them unknown, with
// a note, where the load is too large for a plan.
void add_simulation(const PlanInput& input, Plan& plan);
Finding surge_survival(const PlanInput& input, const Plan& plan);
std::vector<Sensitivity> sensitivity(const PlanInput& input);
Cost cost_of(const PlanInput& input, const Plan& plan);

// "headroom-<endpoint>-<variant>-<what>": how apply recognises what it made.
std::string policy_name(const PlanInput& input, const std::string& what);
// What both rules share: queue limit, throughput figures, w_max, alarm on the unqueued p95.
base::Result<Plan> common_plan(const PlanInput& input);
// FirstChunkLatency p95 above the unqueued p95, 2 of 3: informative, since it rings at ordinary load.
std::optional<AlarmRule> unqueued_alarm(const PlanInput& input, const Plan& plan);

// Mean outstanding per instance of c instances behind least-outstanding routing at utilisation rho < 1,
// Poisson arrivals: rho + rho^sqrt(2(c+1)) / (1 - rho) * (1 + cv^2) / 2 / c (Sakasegawa 1977; cv of the
// service time). Infinite from 1 on.
double expected_outstanding(double rho, int c, double service_cv);
// cv of the service time from mean and p95 of the unqueued requests, as if normal.
double service_cv(const PlanInput& input);
// Six significant digits: what people and alarms read; 14.296 and not 14.296000000000001.
double neat(double value);

inline constexpr double kSaturatedShare = 0.9;  // rule R never plans an instance above 90 % of its throughput

}  // namespace headroom::capacity::detail
