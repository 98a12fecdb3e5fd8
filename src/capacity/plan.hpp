// Plan: from Q_max and T_total to a scaling policy, with its findings and its alternatives. Pure, no network.
//
// Two rules. `published`: the rule of the published run, to the digit (docs/policies.md has the table).
// `recommended`: rule R, sized by throughput and by the growth g within the reaction time H. What only a
// simulation can tell (share within the SLO, instance-hours, turns) is filled where PlanInput.simulate asks
// for it, else nullopt. Units in the names. Immutable result, shared. Errors: kInvalidArgument (headroom,
// rates), kInvalidData (a measurement that cannot be planned), kRefused (concurrency target without a
// calibration ratio).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "capacity/policy.hpp"
#include "capacity/qmax.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::capacity {

struct ContestLoad;

// The largest growth that is planned for. Rule R's widest step multiplies a fleet by so much, and who needs
// more within one reaction time starts from next to nothing: no policy carries that, a higher minimum does.
inline constexpr double kMostGrowth = 20;

enum class Rule { kRecommended, kPublished };
std::string_view rule_name(Rule rule);
std::optional<Rule> parse_rule(std::string_view name);

enum class Level { kOk, kInfo, kWarn, kFail };
std::string_view level_name(Level level);  // OK, INFO, WARN, FAIL
std::optional<Level> parse_level(std::string_view name);

struct Finding {
  std::string id;
  Level level = Level::kOk;
  std::string evidence;
  std::string remedy;  // empty where nothing is to be done
};

struct PlanInput {
  Rule rule = Rule::kRecommended;
  Carrier carrier = Carrier::kNative;  // for the recommended rule
  std::string endpoint = "endpoint";
  std::string variant = "AllTraffic";
  // measured
  std::vector<Rung> rungs;
  std::optional<int> q_max;
  std::optional<QmaxVerdict> qmax_verdict;
  std::optional<Interval> q_max_interval;
  std::optional<double> runs_spread;
  std::optional<double> unqueued_mean_ms, unqueued_p95_ms;
  std::vector<double> unqueued_samples_s;   // single times where they were kept (compact_sample)
  std::optional<double> calibration_ratio;  // nullopt: the metric had no data
  std::optional<double> assume_ratio;       // --assume-ratio: used where calibration_ratio is unknown
  std::optional<double> measured_total_s, total_s;
  std::vector<Stage> measured_stages;
  bool host_contended = false;
  std::optional<std::string> ttotal_client_bound;  // why the driver may have set T_m
  bool paced_engine = false;
  bool fingerprint_known = true;
  const ContestLoad* simulated_load = nullptr;  // else the planned load; outlives the call
  bool simulate = false;  // fill the alternatives and surge_survival by simulation; takes up to a second
  bool emits_offered_rate = false;  // the container runs with TTS_EMF, so the offered-rate metric exists
  // wanted
  double slo_ms = 3000;
  double headroom = 1.25;
  double peak_rps = 0;
  double trough_rps = 0;
  std::optional<double> turning_period_s;  // of the load, where one is known (sim_load.hpp)
  // found by policy_search.hpp; the recommended rule's own are min(0.9, 1/headroom) and 0.9
  std::optional<double> utilisation, scale_in_share;
  // known about the deployment
  std::optional<double> price_per_hour_usd;
  std::optional<double> characters_per_request;
  std::optional<int> allowed_min_instances, allowed_max_instances;  // the model file's
  std::optional<int> deployed_queue_limit;
};

// What one rule would do; two or more stand side by side in every plan.
struct Alternative {
  std::string name;  // published, recommended native, recommended offered-rate, static
  std::optional<int> min_instances, max_instances;
  std::optional<double> peak_rps_served;  // by max_instances, at the measured throughput
  std::optional<double> cost_per_hour_at_peak_usd;
  std::optional<double> share_within_slo, instance_hours, turns_per_hour;  // simulated; nullopt if not
  std::string note;
};

// What the plan would be if a measurement were another.
struct Sensitivity {
  std::string what;  // "T_total halved", "Q_max 10 % lower", ...
  std::optional<int> min_instances, max_instances, queue_limit;
  std::optional<double> utilisation;
  std::string note;  // where no plan comes out: why
};

// Null where the price, or the characters of a request, are unknown.
struct Cost {
  std::optional<double> per_hour_at_trough_usd, per_hour_at_peak_usd;
  std::optional<double> per_million_characters_usd;  // at the planned utilisation
  std::optional<double> per_month_usd;               // of the simulated load, repeated for 730 h
};

enum class PlanVerdict { kFeasible, kWarnings, kInfeasible };
std::string_view verdict_name(PlanVerdict verdict);
std::optional<PlanVerdict> parse_plan_verdict(std::string_view name);

struct Plan {
  Rule rule = Rule::kRecommended;
  double headroom = 0, peak_rps = 0, trough_rps = 0, slo_ms = 0;
  std::optional<double> scale_out_target;    // metric units of the carrier
  std::optional<double> scale_in_threshold;  // published: metric units; recommended: 0.9 u mu, per instance
  int queue_limit = 0;
  int min_instances = 0, max_instances = 0;
  int scale_out_cooldown_s = 0, scale_in_cooldown_s = 0;
  std::optional<int> unqueued_alarm_ms;
  std::optional<int> safe_scale_in_minimum;
  std::optional<double> w_max_s;
  double utilisation = 0;
  // throughput beside it
  double throughput_per_instance_rps = 0;  // mu: rps of the largest passing rung
  int instances_by_throughput_peak = 0, instances_by_throughput_trough = 0;
  double max_fleet_rps = 0;               // max_instances x mu
  std::optional<double> reaction_time_s;  // H of rule R
  std::optional<double> calibration_ratio;
  bool ratio_assumed = false;
  Policy policy;
  std::vector<Alternative> alternatives;
  double simulated_hours = 0;
  std::string simulated_load;  // what the alternatives were simulated against; empty: not simulated
  std::vector<Sensitivity> sensitivity;
  Cost cost;
  std::vector<Finding> findings;
  PlanVerdict verdict = PlanVerdict::kFeasible;
};

base::Result<Plan> make_plan(const PlanInput& input);

// H of rule R: the policy's lag, its scale-out cooldown (T_m, in tens of seconds) included, and T_m.
// nullopt where T_m is unknown.
std::optional<double> reaction_time_s(const PlanInput& input);
// The cooldown of rule R: an instance's start, up to tens of seconds.
int recommended_cooldown_s(double measured_total_s);
// mu: throughput of the largest passing rung.
base::Result<double> throughput_per_instance(const PlanInput& input);
// ceil that forgives what binary fractions add: ceil_up(3.0000000001) is 3.
int ceil_up(double value);

}  // namespace headroom::capacity
