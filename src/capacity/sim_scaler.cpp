// Policies through the shared rules, and the rivals.
#include "capacity/sim_scaler.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "capacity/alarm_rules.hpp"
#include "capacity/tracking_alarms.hpp"

namespace headroom::capacity {
namespace {

class StaticScaler final : public Scaler {
 public:
  std::optional<int> decide(const SimMetrics&, const Fleet&) override { return std::nullopt; }
};

AlarmSettings settings_of(const AlarmRule& rule) {
  AlarmSettings settings;
  settings.evaluation_periods = rule.evaluation_periods;
  settings.datapoints_to_alarm = rule.datapoints_to_alarm;
  settings.threshold = rule.threshold;
  settings.comparison = parse_comparison(rule.comparison).value_or(Comparison::kGreater);
  settings.missing = parse_missing_data(rule.missing_data).value_or(MissingData::kMissing);
  return settings;
}

int period_of(const AlarmRule& rule) {
  int period = rule.period_s.value_or(0);
  for (const AlarmQuery& query : rule.queries) period = std::max(period, query.period_s.value_or(0));
  return std::max(kSimPeriodS, period);
}

// The alarms that target tracking makes, and whether each asks for more. "CPUUtilization" is no predefined
// metric of SageMaker's: a rival tracks it as a customised one.
std::vector<std::pair<AlarmRule, bool>> alarms_of(const TargetTrackingRule& rule) {
  const PredefinedMetric* known = predefined_metric(rule.predefined_metric);
  AlarmRule alarm;
  alarm.metric = MetricRef{"AWS/SageMaker", known != nullptr ? known->name : rule.predefined_metric, {}};
  alarm.statistic = known != nullptr ? known->statistic : "Average";
  alarm.period_s = known != nullptr ? known->period_s : kTrackingPeriodS;
  alarm.missing_data = "missing";
  std::vector<std::pair<AlarmRule, bool>> out;
  for (const TrackingAlarm& row :
       tracking_alarms(rule.target_value, rule.disable_scale_in, *alarm.period_s)) {
    alarm.evaluation_periods = alarm.datapoints_to_alarm = row.datapoints;
    alarm.threshold = row.threshold;
    alarm.comparison = row.comparison;
    out.emplace_back(alarm, row.high);
  }
  return out;
}

// One alarm with the policy that it triggers.
struct Watch {
  AlarmRule alarm;
  AlarmSettings settings;
  PolicyRule policy;
  bool high = false;  // of a target-tracking pair
  AlarmState state = AlarmState::kInsufficientData;
  std::vector<std::optional<double>> points;
};

class PolicyScaler final : public Scaler {
 public:
  PolicyScaler(const Policy& policy, const Bounds& bounds, CapacityBase base) : bounds_(bounds), base_(base) {
    for (const auto* rules : {&policy.scale_out, &policy.scale_in}) {
      for (const PolicyRule& rule : *rules) {
        if (rule.target_tracking) {
          for (const auto& [alarm, high] : alarms_of(*rule.target_tracking)) add(alarm, rule, high);
        }
        for (const AlarmRule& alarm : policy.alarms) {
          if (rule.step_scaling && alarm.policy == rule.name) add(alarm, rule, false);
        }
      }
    }
  }

  std::optional<int> decide(const SimMetrics& metrics, const Fleet& fleet) override {
    const double now = metrics.now_s();
    std::vector<Proposal> proposals;
    for (Watch& watch : watches_) {
      // As in tts-local a policy is called when its alarm is evaluated, not in between on an old state.
      if (evaluate(watch, metrics, now) && watch.state == AlarmState::kAlarm)
        propose(watch, fleet, now, proposals);
    }
    const Decision decision = capacity::decide(fleet, bounds_, memory_, proposals, tracking_holds(), now);
    if (!decision.desired) return std::nullopt;
    note_scaled(memory_, decision, fleet, now);
    return decision.desired;
  }

 private:
  void add(const AlarmRule& alarm, const PolicyRule& policy, bool high) {
    watches_.push_back({alarm, settings_of(alarm), policy, high, {}, {}});
  }

  // False: it was not its time.
  static bool evaluate(Watch& watch, const SimMetrics& metrics, double now) {
    const int every = evaluation_interval_s(period_of(watch.alarm));
    if (std::fmod(now, every) > 1e-9) return false;
    const int range = evaluation_range(watch.settings);
    watch.points = metrics.points(watch.alarm, range);
    const AlarmVerdict verdict = evaluate_alarm(watch.settings, watch.points, watch.state);
    watch.state = verdict.state;
    return true;
  }

  void propose(const Watch& watch, const Fleet& fleet, double now, std::vector<Proposal>& out) const {
    // As in tts-local a policy sees the datapoints of the alarm's own periods.
    const auto n = static_cast<std::size_t>(watch.alarm.evaluation_periods);
    const auto points =
        std::span(watch.points).subspan(watch.points.size() > n ? watch.points.size() - n : 0);
    if (watch.policy.target_tracking) {
      if (const auto metric = newest_point(points))
        out.push_back(
            propose_tracking(*watch.policy.target_tracking, fleet, memory_, base_, now, *metric, watch.high));
      return;
    }
    const StepRule& rule = *watch.policy.step_scaling;
    const double breach =
        step_breach(watch.settings.comparison, watch.settings.threshold, rule.aggregation, points);
    out.push_back(propose_step(rule, fleet, memory_, base_, now, breach));
  }

  // A target-tracking policy that may scale in and does not ask for it.
  bool tracking_holds() const {
    return std::any_of(watches_.begin(), watches_.end(), [](const Watch& watch) {
      return watch.policy.target_tracking && !watch.high && watch.state != AlarmState::kAlarm;
    });
  }

  Bounds bounds_;
  CapacityBase base_;
  ScalingMemory memory_;
  std::vector<Watch> watches_;
};

class HpaScaler final : public Scaler {
 public:
  explicit HpaScaler(double target) : target_(target) {}
  std::optional<int> decide(const SimMetrics& metrics, const Fleet& fleet) override {
    constexpr double kEveryS = 20, kTolerance = 0.1, kStabilisationS = 300;
    const double now = metrics.now_s();
    if (std::fmod(now, kEveryS) > 1e-9) return std::nullopt;
    const auto cpu = metrics.value("CPUUtilization", "Average", now, 20);
    if (!cpu) return std::nullopt;
    const double share = *cpu / 100 / target_;
    int wish = fleet.desired;
    if (std::abs(share - 1) > kTolerance) wish = static_cast<int>(std::ceil(fleet.in_service * share - 1e-9));
    wish = std::min(wish, std::max(2 * fleet.desired, fleet.desired + 4));
    wishes_.emplace_back(now, wish);
    while (wishes_.front().first < now - kStabilisationS) wishes_.pop_front();
    for (const auto& [at, count] : wishes_) wish = std::max(wish, std::min(count, fleet.desired));
    return wish == fleet.desired ? std::nullopt : std::optional(wish);
  }

 private:
  double target_;
  std::deque<std::pair<double, int>> wishes_;
};

class SlopeScaler final : public Scaler {
 public:
  SlopeScaler(double throughput, double horizon_s, double spare)
      : per_instance_(throughput * (1 - spare)), horizon_s_(horizon_s) {}
  std::optional<int> decide(const SimMetrics& metrics, const Fleet& fleet) override {
    constexpr double kWindowS = 120, kQuietS = 180, kCooldownS = 300;
    const double now = metrics.now_s();
    const double wanted = (metrics.rate_rps(60) + slope(metrics, kWindowS) * horizon_s_) / per_instance_;
    const int wish = static_cast<int>(std::ceil(std::max(0.0, wanted) - 1e-9));
    if (wish >= fleet.desired) quiet_since_ = now;
    if (wish > fleet.desired) return wish;
    if (wish < fleet.desired && now - quiet_since_ >= kQuietS && now - last_in_ >= kCooldownS) {
      last_in_ = now;
      return fleet.desired - 1;
    }
    return std::nullopt;
  }

 private:
  static double slope(const SimMetrics& metrics, double window_s) {
    const auto& all = metrics.buckets();
    const std::size_t count = std::min(all.size(), static_cast<std::size_t>(window_s / kSimPeriodS));
    if (count < 3) return 0;
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(i) * kSimPeriodS;
      const double y = all[all.size() - count + i].offered / kSimPeriodS;
      sx += x;
      sy += y;
      sxx += x * x;
      sxy += x * y;
    }
    const auto n = static_cast<double>(count);
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
  }
  double per_instance_, horizon_s_;
  double quiet_since_ = 0, last_in_ = -1e9;
};

}  // namespace

Policy rival_policy(const std::string& kind, double throughput_rps) {
  TargetTrackingRule rule;
  rule.disable_scale_in = false;
  rule.predefined_metric = kind == "cpu" ? "CPUUtilization" : "SageMakerVariantInvocationsPerInstance";
  rule.target_value = kind == "cpu" ? 70 : 0.7 * 60 * throughput_rps;
  Policy policy;
  policy.carrier = Carrier::kConcurrency;
  policy.scale_out = {{kind, "TargetTrackingScaling", rule, std::nullopt}};
  return policy;
}

std::unique_ptr<Scaler> static_scaler() { return std::make_unique<StaticScaler>(); }
std::unique_ptr<Scaler> policy_scaler(const Policy& policy, const Bounds& bounds, CapacityBase base) {
  return std::make_unique<PolicyScaler>(policy, bounds, base);
}
std::unique_ptr<Scaler> hpa_scaler(double target_utilisation) {
  return std::make_unique<HpaScaler>(target_utilisation);
}
std::unique_ptr<Scaler> slope_scaler(double throughput_rps, double horizon_s, double spare) {
  return std::make_unique<SlopeScaler>(throughput_rps, horizon_s, spare);
}

}  // namespace headroom::capacity
