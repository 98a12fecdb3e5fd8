// Metric math: CloudWatch's expressions over time series, as far as alarms, target tracking and dashboards
// need them.
//
// Pure, no clock: used by tts-local and by the simulation. It fetches nothing: the caller hands the series of
// the metrics. Offered: + - * / ^, unary -, comparisons, AND OR, parentheses, lists [a, b], and
//   on a list or a series: SUM AVG MAX MIN STDDEV METRIC_COUNT    element by element: ABS CEIL FLOOR LOG
//   LOG10 over time: RATE DIFF RUNNING_SUM PERIOD FILL(x, value|REPEAT|LINEAR)   choice: IF(condition, then[,
//   else]) making: TIME_SERIES(number), METRICS(), METRICS("text"), FIRST(list), LAST(list)
// SEARCH, SERVICE_QUOTA, ANOMALY_DETECTION_BAND and Metrics Insights are refused by name.
// Rules: a datapoint exists where all operands that are series have one; SUM, AVG, MAX, MIN of a list take
// those that are there; of one series they give a number, of an empty one an empty series. A quotient by zero
// is no datapoint. Times are the starts of periods in seconds. Thread safety: immutable. Errors:
// kInvalidArgument, says where. Source: CloudWatch user guide, "Using math expressions with CloudWatch
// metrics".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace headroom::capacity {

using TimeSeries = std::map<std::int64_t, double>;
using SeriesList = std::vector<TimeSeries>;
using MathValue = std::variant<double, TimeSeries, SeriesList>;

// One element of a request: a metric with its datapoints, or an expression over the other ids.
struct MathQuery {
  std::string id;
  std::string expression;  // empty: a metric
  TimeSeries series{};
  std::int64_t period_s = 60;
};

// The periods of the request, for TIME_SERIES, FILL and RUNNING_SUM: starts in [begin, end).
struct MathGrid {
  std::int64_t begin_s = 0, end_s = 0, period_s = 60;
};

// Every query's value by id. Expressions may use each other in any order, not in a circle.
base::Result<std::map<std::string, MathValue>> evaluate_math(const std::vector<MathQuery>& queries,
                                                             const MathGrid& grid);

// Faults of form alone: unknown functions, syntax, ids that are not in `ids`.
base::Result<void> check_math(const std::string& expression, const std::vector<std::string>& ids);

}  // namespace headroom::capacity
