// Statistics that CloudWatch makes of readings: Average, Sum, Minimum, Maximum, SampleCount and percentiles.
//
// Pure values, no clock. A statistic set (sum, minimum, maximum, count) has no single readings, so no
// percentile. Percentiles are exact: nearest rank, the smallest reading that at least p percent are not
// above. Units: the caller's. Thread safety: plain values. Source: CloudWatch API 2010-08-01
// (MetricStat.Stat).
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::capacity {

// One or more readings taken together.
struct Readings {
  double sum = 0, minimum = 0, maximum = 0, count = 0;
  std::vector<std::pair<double, double>> raw{};  // value, how often; empty for a statistic set
};
Readings one_reading(double value, double count = 1);
void merge(Readings& into, const Readings& more);

enum class StatKind { kAverage, kSum, kMinimum, kMaximum, kSampleCount, kPercentile };
struct Statistic {
  StatKind kind = StatKind::kAverage;
  double percentile = 0;
};
std::optional<Statistic> parse_statistic(std::string_view text);  // "Maximum", "p95", "p99.9"

// nullopt where the readings do not carry the statistic. Sorts `raw`.
std::optional<double> evaluate(Readings& all, Statistic statistic);

}  // namespace headroom::capacity
