// T_total: the stages between asking for an instance and traffic that is well again, made from stamps.
//
// Pure. Stamps may come in any order and may be missing. The clock runs from `desired_set` to
// `traffic_recovered`; what lies before it (load_applied) is reported apart and never summed. Seconds; a
// stage's s is exact to the nanosecond of its stamps, and the measured stages sum to measured_total_s exactly
// (they are differences of neighbours). Errors: kInvalidData (no desired_set, or one name twice).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::capacity {

inline constexpr std::string_view kLoadApplied = "load_applied";
inline constexpr std::string_view kDesiredSet = "desired_set";
inline constexpr std::string_view kTrafficRecovered = "traffic_recovered";

enum class StageKind {
  kObserved,  // the moment itself was seen (a log line with a time)
  kBounded,   // it lies within resolution_s before the stamp (polling)
};
std::string_view kind_name(StageKind kind);
std::optional<StageKind> parse_stage_kind(std::string_view name);

struct Stamp {
  std::string name;     // load_applied, desired_set, instance_logging, container_started, weights_fetched,
                        // framework_init, weights_ready, warmup_done, ready, in_service, traffic_recovered
  base::Duration at{};  // since any origin common to all; of a clock that nobody sets
  StageKind kind = StageKind::kObserved;
  double resolution_s = 0;
};

struct Stage {
  std::string from;  // the stamp before it in time
  std::string to;
  double s = 0;
  std::optional<StageKind> kind;
  std::optional<double> resolution_s;
};

struct Stages {
  std::vector<Stage> before_clock;
  std::vector<Stage> measured;             // desired_set -> ... -> traffic_recovered, in time order
  std::vector<Stage> after_recovery;       // stamped later than traffic_recovered; not part of any sum
  std::optional<double> measured_total_s;  // T_m; nullopt if traffic never recovered
};
base::Result<Stages> stages_from_stamps(std::vector<Stamp> stamps);

// lag: how long a breach can last until the policy acts: period x evaluations + cooldown. A bound, not a
// measurement.
double policy_lag_bound_s(int period_s, int evaluation_periods, int cooldown_s);

// The largest measured stage; what would shorten it.
std::optional<Stage> largest_stage(std::span<const Stage> measured);
std::string stage_remedy(std::string_view to);
// "instance_logging 180.8 s = 69.5 % of the measured 260.2 s, 56.5 % of T_total 320.2 s": the base is always
// named.
std::string share_sentence(const Stage& stage, double measured_total_s, double total_s);

}  // namespace headroom::capacity
