// Steps, tracking, cooldowns and the choice among proposals.
#include "capacity/scaling_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace headroom::capacity {
namespace {

constexpr int kMostInstances = 1'000'000;  // keeps arithmetic on absurd metrics finite

int bounded(double count) {
  return static_cast<int>(std::clamp(count, 0.0, static_cast<double>(kMostInstances)));
}

Decision held(NotScaled why, const Proposal& proposal) {
  Decision decision;
  decision.why = why;
  decision.by = proposal;
  return decision;
}

Decision scaled(int desired, const Proposal& proposal) {
  Decision decision;
  decision.desired = desired;
  decision.why = NotScaled::kScaled;
  decision.by = proposal;
  return decision;
}

}  // namespace

int scale_out_base(const Fleet& fleet, const ScalingMemory& memory, CapacityBase base, double now_s) {
  const bool cooling = memory.out_cooling(now_s);
  if (base == CapacityBase::kDesired) return cooling ? memory.out_from_desired : fleet.desired;
  return cooling ? std::min(memory.out_from_in_service, fleet.in_service) : fleet.in_service;
}

std::optional<double> aggregate(const std::string& type, std::span<const std::optional<double>> points) {
  double sum = 0, count = 0, low = 0, high = 0;
  for (const auto& point : points) {
    if (!point) continue;
    low = count == 0 ? *point : std::min(low, *point);
    high = count == 0 ? *point : std::max(high, *point);
    sum += *point;
    ++count;
  }
  if (count == 0) return std::nullopt;
  if (type == "Minimum") return low;
  if (type == "Maximum") return high;
  return sum / count;
}

double step_breach(Comparison comparison, double threshold, const std::string& aggregation,
                   std::span<const std::optional<double>> points) {
  const bool less = comparison == Comparison::kLess || comparison == Comparison::kLessOrEqual;
  const double beside = less ? -std::numeric_limits<double>::min() : 0.0;
  const auto value = aggregate(aggregation, points);
  if (!value) return beside;
  const double breach = *value - threshold;
  return (less ? breach > 0 : breach < 0) ? beside : breach;
}

std::optional<double> newest_point(std::span<const std::optional<double>> points) {
  for (auto it = points.rbegin(); it != points.rend(); ++it) {
    if (*it) return *it;
  }
  return std::nullopt;
}

std::optional<int> step_adjustment(const StepRule& rule, double breach) {
  for (const StepRow& row : rule.steps) {
    const bool above =
        !row.lower_bound || (breach >= 0 ? breach >= *row.lower_bound : breach > *row.lower_bound);
    const bool below =
        !row.upper_bound || (breach >= 0 ? breach < *row.upper_bound : breach <= *row.upper_bound);
    // A threshold met exactly belongs to the step that ends there as well as to the one that begins there.
    if (above && (below || (breach == 0 && row.upper_bound == 0.0))) return row.adjustment;
  }
  return std::nullopt;
}

int adjusted(const StepRule& rule, int base, int adjustment) {
  if (rule.adjustment_type == "ExactCapacity") return std::max(0, adjustment);
  if (rule.adjustment_type != "PercentChangeInCapacity")
    return bounded(static_cast<double>(base) + adjustment);
  double change = base * static_cast<double>(adjustment) / 100.0;
  change = std::abs(change) < 1 && change != 0 ? std::copysign(1.0, change) : std::trunc(change);
  const double least = rule.min_adjustment_magnitude.value_or(0);
  if (adjustment != 0 && std::abs(change) < least) change = std::copysign(least, adjustment);
  return bounded(base + change);
}

int tracked(const TargetTrackingRule& rule, int base, double metric) {
  return bounded(std::ceil(base * metric / rule.target_value - 1e-9));
}

Proposal propose_step(const StepRule& rule, const Fleet& fleet, const ScalingMemory& memory,
                      CapacityBase base, double now_s, double breach) {
  Proposal out;
  out.cooldown_s = rule.cooldown_s;
  out.capacity = fleet.desired;
  const auto adjustment = step_adjustment(rule, breach);
  if (!adjustment) return out;
  const int from_base = scale_out_base(fleet, memory, base, now_s);
  // An exact capacity is a direction of its own; else the sign says which.
  const bool in = rule.adjustment_type == "ExactCapacity" ? *adjustment < fleet.desired : *adjustment < 0;
  out.capacity = adjusted(rule, in ? fleet.desired : from_base, *adjustment);
  out.in = in && out.capacity < fleet.desired;
  out.out = !in && *adjustment != 0 && out.capacity > from_base;
  return out;
}

Proposal propose_tracking(const TargetTrackingRule& rule, const Fleet& fleet, const ScalingMemory& memory,
                          CapacityBase base, double now_s, double metric, bool out) {
  Proposal proposal;
  proposal.tracking = true;
  proposal.cooldown_s =
      (out ? rule.scale_out_cooldown_s : rule.scale_in_cooldown_s).value_or(kDefaultCooldownS);
  const int from = out ? scale_out_base(fleet, memory, base, now_s) : fleet.desired;
  proposal.capacity = tracked(rule, from, metric);
  proposal.out = out && proposal.capacity > from;
  proposal.in = !out && !rule.disable_scale_in && proposal.capacity < from;
  return proposal;
}

Decision decide(const Fleet& fleet, const Bounds& bounds, const ScalingMemory& memory,
                std::span<const Proposal> proposals, bool tracking_holds, double now_s) {
  const Proposal* out = nullptr;
  const Proposal* in = nullptr;
  const Proposal* waits = nullptr;
  for (const Proposal& p : proposals) {
    if (p.out && (out == nullptr || p.capacity > out->capacity)) out = &p;
    if (!p.in) continue;
    if (p.tracking && tracking_holds)
      waits = &p;
    else if (in == nullptr || p.capacity > in->capacity)
      in = &p;
  }
  if (out != nullptr) {
    const int wanted = std::min(out->capacity, bounds.maximum);
    if (bounds.out_suspended) return held(NotScaled::kSuspended, *out);
    if (wanted > fleet.desired) return scaled(wanted, *out);
    if (out->capacity > bounds.maximum) return held(NotScaled::kAtMaximum, *out);
    return held(memory.out_cooling(now_s) ? NotScaled::kCooling : NotScaled::kAtDesired, *out);
  }
  if (in == nullptr) return waits != nullptr ? held(NotScaled::kOthersHold, *waits) : Decision{};
  const int wanted = std::max(in->capacity, bounds.minimum);
  if (bounds.in_suspended) return held(NotScaled::kSuspended, *in);
  if (fleet.desired <= bounds.minimum) return held(NotScaled::kAtMinimum, *in);
  if (memory.in_cooling(now_s)) return held(NotScaled::kCooling, *in);
  if (wanted < fleet.desired) return scaled(wanted, *in);
  return held(NotScaled::kAtDesired, *in);
}

void note_scaled(ScalingMemory& memory, const Decision& decision, const Fleet& before, double now_s) {
  if (!decision.desired) return;
  if (*decision.desired > before.desired) {
    // A larger scale-out within a cooldown begins a new one, from what was before the first.
    if (!memory.out_cooling(now_s)) {
      memory.out_from_in_service = before.in_service;
      memory.out_from_desired = before.desired;
    }
    memory.out_at_s = now_s;
    memory.out_cooldown_s = decision.by.cooldown_s;
    memory.in_at_s.reset();
  } else {
    memory.in_at_s = now_s;
    memory.in_cooldown_s = decision.by.cooldown_s;
  }
}

}  // namespace headroom::capacity
