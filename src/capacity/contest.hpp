// Contest: several policies against the same load, side by side with the static fleet and the clairvoyant.
//
// Pure, deterministic by seed; each contender meets the same arrivals. Cost is instance-hours; the
// clairvoyant knows the future and runs no instance above 90 % (sim_load.hpp). A fleet begins at the size its
// contender would have had for the largest minute of the load's first H seconds, since nobody starts at a
// peak by surprise twice. Thread safety: independent calls. Errors: those of simulate().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "capacity/plan.hpp"
#include "capacity/simulation.hpp"

namespace headroom::capacity {

struct ContestLoad {
  std::string name;
  std::vector<double> per_second;  // requests/s, one value a second
  std::function<std::unique_ptr<Arrivals>(std::uint64_t seed)> arrivals;
};
ContestLoad contest_load(Profile profile);
ContestLoad contest_load(Trace trace, int copies, double jitter_s);

struct Contender {
  std::string name;
  enum class Kind { kPolicy, kStatic, kHpa, kSlope } kind = Kind::kPolicy;
  Policy policy;
  Bounds bounds;
  double utilisation = 0.8;  // that it aims at; for its size at the start
};

struct ContestRules {
  ServiceModel service;
  StartModel start;
  double throughput_rps = 0;
  double horizon_s = 0;  // H
  double slo_s = 3;
  int queue_limit = 0;
  std::optional<int> initial;  // instances at the start, within a contender's bounds; else its own size
  CapacityBase base = CapacityBase::kInService;
  std::uint64_t seed = 1;
};

struct ContestRow {
  std::string name;
  int min_instances = 0, max_instances = 0, most = 0;
  std::uint64_t offered = 0;
  std::optional<double> share_within_slo, share_refused, share_late;
  std::optional<double> p95_ms;
  double instance_hours = 0;
  std::optional<double> vs_clairvoyant;
  int scale_outs = 0, scale_ins = 0;
  double turns_per_hour = 0;
  std::vector<SimBucket> timeline;
};
base::Result<ContestRow> compete(const ContestRules& rules, const ContestLoad& load,
                                 const Contender& contender);

// What a measurement says about the instance; errors where the plan would refuse it too.
base::Result<ContestRules> contest_rules(const PlanInput& input);

// The plan's own policy and, for the load's trough and peak: published, recommended native and offered-rate,
// the static fleet at peak/0.9, and with `rivals` CPU target, invocations target, HPA and slope prediction.
std::vector<Contender> contenders(const PlanInput& input, const std::optional<Plan>& plan, bool rivals);

// Surges: a fleet that runs at the policy's own line meets growth by g within H, `runs` times.
struct SurgeOutcome {
  int runs = 0, held = 0;           // held: at least 99.9 % within the SLO
  double low = 0, high = 0;         // 95 % Wilson interval of the probability to hold
  std::optional<double> mean_shed;  // refused or late, of all requests of all runs
};
base::Result<SurgeOutcome> survive_surges(const ContestRules& rules, const Contender& contender,
                                          double growth, int runs);

// The load that a plan is for: trough, growth by g within each H up to the peak, the peak, and down again.
Profile planned_load(double trough_rps, double peak_rps, double growth, double horizon_s);

}  // namespace headroom::capacity
