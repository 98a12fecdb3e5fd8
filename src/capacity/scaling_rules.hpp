// Scaling rules: what Application Auto Scaling does with the desired count of one scalable target when its
// policies' alarms ring.
//
// Pure, no clock: used by tts-local and by the simulation. It evaluates no alarm (alarm_rules.hpp), reads no
// metric and starts no instance. Use: for each policy in alarm make a Proposal (propose_step,
// propose_tracking), ask decide(), carry the desired count out, then note_scaled(). Times are seconds on any
// axis that only grows; counts are instances. Thread safety: plain values. No errors.
//
// Sources: Application Auto Scaling user guide, "How step scaling works", "How target tracking works",
// cooldown paragraphs of both, "Suspending and resuming scaling"; API reference PutScalingPolicy.
// Chosen where AWS documents nothing:
// - What is multiplied, the in-service or the desired count, is CapacityBase (default in-service). While a
//   scale-out cooldown runs it is the count from before the activity that began it: what that activity added
//   is part of the next one's result, as the guide says. Scale-in always works on the desired count.
// - Target tracking asks for ceil(base * metric / target) in both directions.
// - Cooldowns belong to the scalable target, one for each direction, with the length of the policy that
// acted.
//   A scale-out ends a scale-in cooldown; a scale-out cooldown does not block scale-in.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capacity/alarm_rules.hpp"
#include "capacity/policy.hpp"

namespace headroom::capacity {

enum class CapacityBase { kInService, kDesired };

struct Fleet {
  int desired = 0;
  int in_service = 0;
};

struct Bounds {
  int minimum = 0;
  int maximum = 0;
  bool in_suspended = false;
  bool out_suspended = false;
};

// What a scalable target remembers of its last scalings.
struct ScalingMemory {
  std::optional<double> out_at_s;
  double out_cooldown_s = 0;
  int out_from_in_service = 0;  // the counts before the activity that began the cooldown
  int out_from_desired = 0;
  std::optional<double> in_at_s;
  double in_cooldown_s = 0;
  bool out_cooling(double now_s) const { return out_at_s && now_s < *out_at_s + out_cooldown_s; }
  bool in_cooling(double now_s) const { return in_at_s && now_s < *in_at_s + in_cooldown_s; }
};

// The count that policies of this direction work on.
int scale_out_base(const Fleet& fleet, const ScalingMemory& memory, CapacityBase base, double now_s);

// The metric that steps are chosen by. MetricAggregationType: over the datapoints that the alarm looked at.
std::optional<double> aggregate(const std::string& type, std::span<const std::optional<double>> points);

// Metric minus threshold, for step_adjustment(). An alarm that rings by its missing-data rule, without a
// datapoint or with present ones on the other side, takes the step beside its threshold.
double step_breach(Comparison comparison, double threshold, const std::string& aggregation,
                   std::span<const std::optional<double>> points);
// What target tracking goes by: the newest datapoint that is there.
std::optional<double> newest_point(std::span<const std::optional<double>> points);

// The adjustment of the step that holds `breach` (metric minus threshold); nullopt in a gap. A step holds its
// lower bound where the breach is positive, its upper bound where it is negative.
std::optional<int> step_adjustment(const StepRule& rule, double breach);
// The count after an adjustment. Percentages: rounded away from zero where they are under one instance, else
// towards zero; MinAdjustmentMagnitude applies to percentages.
int adjusted(const StepRule& rule, int base, int adjustment);

int tracked(const TargetTrackingRule& rule, int base, double metric);  // ceil(base * metric / target)

struct Proposal {
  std::string policy;   // a name or ARN, handed back
  std::string trigger;  // the alarm, handed back
  int capacity = 0;
  bool out = false;
  bool in = false;  // neither: the policy is content
  bool tracking = false;
  double cooldown_s = 0;
};
constexpr double kDefaultCooldownS = 300;  // SageMaker variants, both kinds of policy

Proposal propose_step(const StepRule& rule, const Fleet& fleet, const ScalingMemory& memory,
                      CapacityBase base, double now_s, double breach);
// `out`: the high alarm rings; else the low one does.
Proposal propose_tracking(const TargetTrackingRule& rule, const Fleet& fleet, const ScalingMemory& memory,
                          CapacityBase base, double now_s, double metric, bool out);

enum class NotScaled {
  kScaled,
  kContent,
  kAtMaximum,
  kAtMinimum,
  kSuspended,
  kCooling,
  kAtDesired,
  kOthersHold
};
struct Decision {
  std::optional<int> desired;  // nullopt: nothing changes, `why` says why
  NotScaled why = NotScaled::kContent;
  Proposal by;  // the proposal that won, or the one that was held back
};

// The largest capacity wins, out before in. Target tracking scales in only when every target-tracking policy
// that may scale in asks for it: `tracking_holds` is true while one does not.
Decision decide(const Fleet& fleet, const Bounds& bounds, const ScalingMemory& memory,
                std::span<const Proposal> proposals, bool tracking_holds, double now_s);

void note_scaled(ScalingMemory& memory, const Decision& decision, const Fleet& before, double now_s);

}  // namespace headroom::capacity
