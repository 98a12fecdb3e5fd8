// One table of metrics and one rule of alarms.
#include "capacity/tracking_alarms.hpp"

#include <algorithm>

namespace headroom::capacity {
namespace {

constexpr PredefinedMetric kPredefined[] = {
    {"SageMakerVariantConcurrentRequestsPerModelHighResolution", "ConcurrentRequestsPerModel", "Maximum", 10},
    {"SageMakerVariantInvocationsPerInstance", "InvocationsPerInstance", "Sum", 60},
};
constexpr int kHighDatapoints = 3;
constexpr int kLowS = 15 * 60;
constexpr double kLowShare = 0.9;

}  // namespace

std::span<const PredefinedMetric> predefined_metrics() { return kPredefined; }

const PredefinedMetric* predefined_metric(std::string_view type) {
  const auto* found = std::find_if(std::begin(kPredefined), std::end(kPredefined),
                                   [&](const PredefinedMetric& row) { return row.type == type; });
  return found == std::end(kPredefined) ? nullptr : found;
}

std::vector<TrackingAlarm> tracking_alarms(double target_value, bool disable_scale_in, int period_s) {
  std::vector<TrackingAlarm> out{{"AlarmHigh", true, "GreaterThanThreshold", kHighDatapoints, target_value}};
  if (!disable_scale_in)
    out.push_back({"AlarmLow", false, "LessThanThreshold", std::max(1, kLowS / std::max(1, period_s)),
                   kLowShare * target_value});
  return out;
}

}  // namespace headroom::capacity
