// Policy: everything `apply` and the CDK app need to register a scaling policy, field by field as AWS names
// it.
//
// Plain values, no AWS types: aws and infra translate them. Seconds; thresholds in the unit of the metric
// named. Alarms point at their policy by name, because ARNs exist only after registering. Sources:
// Application Auto Scaling API 2016-02-06 (PutScalingPolicy), CloudWatch API 2010-08-01 (PutMetricAlarm).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace headroom::capacity {

struct MetricDimension {
  std::string name, value;
  bool operator==(const MetricDimension&) const = default;
};

struct MetricRef {
  std::string metric_namespace, name;
  std::vector<MetricDimension> dimensions;
  bool operator==(const MetricRef&) const = default;
};

// One element of a metric-math alarm: a metric with statistic and period, or an expression over the other
// ids.
struct AlarmQuery {
  std::string id;
  std::optional<MetricRef> metric;
  std::string statistic;
  std::optional<int> period_s;
  std::string expression;
  std::string label;
  bool return_data = false;
  bool operator==(const AlarmQuery&) const = default;
};

struct StepRow {
  std::optional<double> lower_bound;  // relative to the alarm's threshold; nullopt = minus infinity
  std::optional<double> upper_bound;  // nullopt = plus infinity
  int adjustment = 0;
  bool operator==(const StepRow&) const = default;
};

struct TargetTrackingRule {
  double target_value = 0;
  std::string predefined_metric;
  bool disable_scale_in = true;
  std::optional<int> scale_out_cooldown_s, scale_in_cooldown_s;
  bool operator==(const TargetTrackingRule&) const = default;
};

struct StepRule {
  std::string adjustment_type;  // ChangeInCapacity, PercentChangeInCapacity
  std::vector<StepRow> steps;
  int cooldown_s = 0;
  std::optional<int> min_adjustment_magnitude;
  std::string aggregation;  // Average, Minimum, Maximum
  bool operator==(const StepRule&) const = default;
};

struct PolicyRule {
  std::string name;
  std::string type;  // TargetTrackingScaling, StepScaling
  std::optional<TargetTrackingRule> target_tracking;
  std::optional<StepRule> step_scaling;
  bool operator==(const PolicyRule&) const = default;
};

struct AlarmRule {
  std::string name;
  std::string description;
  std::string purpose;              // scale_out, scale_in, informative
  std::string policy;               // name of the policy it triggers; empty = informative
  std::optional<MetricRef> metric;  // or queries
  std::vector<AlarmQuery> queries;
  std::string statistic;           // Average, ... or empty
  std::string extended_statistic;  // p95 or empty
  std::optional<int> period_s;     // nullopt with queries
  int evaluation_periods = 3;
  int datapoints_to_alarm = 3;
  double threshold = 0;
  std::string comparison;    // GreaterThanThreshold, LessThanThreshold
  std::string missing_data;  // breaching, notBreaching, ignore, missing
  std::string sources;       // where n and the rate come from, when the line depends on them
  bool operator==(const AlarmRule&) const = default;
};

enum class Carrier {
  kConcurrency,  // the published rule: target tracking on concurrency
  kNative,       // step scaling on ConcurrentRequestsPerModel, 10 s Average
  kOfferedRate,  // step scaling on the container's own metric of offered requests (EMF)
};
const char* carrier_name(Carrier carrier);  // concurrency, native, offered-rate
std::optional<Carrier> parse_carrier(const std::string& name);

struct Policy {
  Carrier carrier = Carrier::kNative;
  std::optional<double> growth;                 // g; published has none
  std::optional<double> rate_per_instance_rps;  // the rate above which it scales out: u * mu
  std::string variant;
  std::vector<PolicyRule> scale_out, scale_in;
  std::vector<AlarmRule> alarms;
};

// Metrics that policies and alarms use; one place for names and namespaces.
MetricRef concurrency_metric(const std::string& endpoint, const std::string& variant);
MetricRef first_chunk_metric(const std::string& endpoint, const std::string& variant);
MetricRef invocations_metric(const std::string& endpoint, const std::string& variant);
MetricRef invocations_per_instance_metric(const std::string& endpoint, const std::string& variant);
MetricRef offered_metric(const std::string& endpoint, const std::string& variant);

}  // namespace headroom::capacity
