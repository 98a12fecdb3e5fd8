// Tracking alarms: what Application Auto Scaling makes of a target-tracking policy, the metric it watches and
// the alarms that call it.
//
// Pure, no clock: used by tts-local and by the simulation, so that both watch the same thing. It evaluates no
// alarm (alarm_rules.hpp) and asks for no capacity (scaling_rules.hpp). Units: thresholds in the metric's
// own, periods in seconds. Thread safety: immutable. No errors. Sources: Application Auto Scaling API
// reference, PredefinedMetricSpecification (of the service's metric types those of SageMaker variants that
// real-time endpoints have); user guide, "How target tracking works" (three datapoints above the target); AWS
// Machine Learning Blog, "Unlock cost savings with the new scale down to zero feature in SageMaker Inference"
// (in after 15 minutes: 90 datapoints of 10 s), 15 datapoints of 60 s and the 90 % as seen on AWS.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace headroom::capacity {

struct PredefinedMetric {
  std::string_view type;  // PredefinedMetricType
  const char* name;       // in the namespace AWS/SageMaker, dimensions EndpointName and VariantName
  const char* statistic;
  int period_s;
};
std::span<const PredefinedMetric> predefined_metrics();
const PredefinedMetric* predefined_metric(std::string_view type);  // nullptr: there is none of that type

constexpr int kTrackingPeriodS = 60;  // of customised metrics: a policy names no period for them

struct TrackingAlarm {
  const char* name;  // AlarmHigh, AlarmLow: part of AWS's alarm name
  bool high;         // asks for more
  const char* comparison;
  int datapoints;  // M and N
  double threshold;
};
// The high alarm, and the low one unless scale-in is disabled. Missing data: "missing".
std::vector<TrackingAlarm> tracking_alarms(double target_value, bool disable_scale_in, int period_s);

}  // namespace headroom::capacity
