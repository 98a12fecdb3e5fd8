// CloudWatch: metrics read, alarms put, read and deleted, as plain structs; missing values are nullopt, never
// 0.
//
// Blocking; as thread safe as its Transport. Every list is read to its last page. Source: CloudWatch API
// 2010-08-01, spoken as JSON 1.0 (what boto3 1.44 sends). Periods in seconds: 1, 5, 10, 30 or a multiple
// of 60.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aws/transport.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

namespace headroom::aws {

struct Dimension {
  std::string name;
  std::string value;
  bool operator==(const Dimension&) const = default;
};

struct Metric {
  std::string metric_namespace;  // AWS/SageMaker
  std::string name;
  std::vector<Dimension> dimensions;
  bool operator==(const Metric&) const = default;
};

// One element of GetMetricData, of a metric-math alarm, or of a customised target-tracking metric: a metric
// with a statistic, or an expression over the ids of other elements.
struct MetricQuery {
  std::string id;
  std::optional<Metric> metric;
  std::string statistic;  // Maximum, Average, SampleCount, Sum, Minimum, p95
  std::optional<int> period_s;
  std::string unit;
  std::string expression;
  std::string label;
  std::optional<bool> return_data;
  bool operator==(const MetricQuery&) const = default;
};

struct MetricPoint {
  base::WallTime at;  // start of the period
  double value = 0;
};

struct MetricSeries {
  std::string id;
  std::string label;
  std::string status;               // Complete, PartialData, InternalError, Forbidden
  std::vector<MetricPoint> points;  // ascending
};

struct MetricDatapoint {
  base::WallTime at;
  std::optional<double> average, maximum, minimum, sum, sample_count;
  std::map<std::string, double> extended;  // p95 -> value
};

struct Alarm {
  std::string name;
  std::string arn;
  std::string description;
  std::optional<Metric> metric;  // or `queries`
  std::string statistic;
  std::string extended_statistic;
  std::optional<int> period_s;
  std::string unit;
  std::vector<MetricQuery> queries;
  std::optional<int> evaluation_periods;
  std::optional<int> datapoints_to_alarm;
  std::optional<double> threshold;
  std::string comparison;    // GreaterThanThreshold, ...
  std::string missing_data;  // notBreaching, breaching, ignore, missing or ""
  std::optional<bool> actions_enabled;
  std::vector<std::string> alarm_actions, ok_actions, insufficient_data_actions;
  std::string state;  // read only: OK, ALARM, INSUFFICIENT_DATA
  std::string state_reason;
  std::optional<base::WallTime> state_updated;
};

class CloudWatch {
 public:
  explicit CloudWatch(Transport& transport) : transport_(transport) {}

  base::Result<std::vector<MetricSeries>> get_metric_data(const std::vector<MetricQuery>& queries,
                                                          base::WallTime start, base::WallTime end,
                                                          base::Deadline deadline);
  // One metric, one statistic: the usual case.
  base::Result<std::vector<MetricPoint>> series(const Metric& metric, const std::string& statistic,
                                                int period_s, base::WallTime start, base::WallTime end,
                                                base::Deadline deadline);
  base::Result<std::vector<MetricDatapoint>> get_metric_statistics(const Metric& metric, int period_s,
                                                                   const std::vector<std::string>& statistics,
                                                                   const std::vector<std::string>& extended,
                                                                   base::WallTime start, base::WallTime end,
                                                                   base::Deadline deadline);

  base::Result<void> put_alarm(const Alarm& alarm, base::Deadline deadline);
  base::Result<std::vector<Alarm>> describe_alarms(const std::vector<std::string>& names,
                                                   base::Deadline deadline);
  base::Result<std::vector<Alarm>> describe_alarms_by_prefix(const std::string& prefix,
                                                             base::Deadline deadline);
  base::Result<void> delete_alarms(const std::vector<std::string>& names, base::Deadline deadline);

 private:
  Transport& transport_;
};

}  // namespace headroom::aws
