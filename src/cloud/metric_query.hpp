// Metrics as they stand in CloudWatch requests and in alarms: namespace, name, dimensions and queries in
// Json.
//
// Pure. Faults go into the reader that is passed.
#pragma once

#include <map>
#include <string>

#include "capacity/metric_math.hpp"
#include "cloud/json.hpp"
#include "cloud/metric_store.hpp"

namespace headroom::cloud {

// {Namespace, MetricName, Dimensions:[{Name, Value}]}
MetricKey read_metric(Fields& fields);
Json metric_json(const MetricKey& key);

// 1, 5, 10, 20, 30 or a multiple of 60 up to a day.
std::int64_t read_period(Fields& fields, const char* key);

// One MetricDataQuery in canonical types (numbers as numbers, flags as booleans), checked.
Json read_metric_query(const Json& in, Fields& outer);
// Ids are unique and expressions of a form that can be computed. kInvalidArgument, names the id.
base::Result<void> check_metric_queries(const Json& queries);

// The series that an alarm compares with its threshold, in cloud time (metric_store.hpp); a fault of its
// expressions is an error.
int alarm_period_s(const Json& alarm);
base::Result<capacity::TimeSeries> alarm_series(MetricStore& store, const Json& alarm,
                                                const capacity::MathGrid& grid);

// Values of queries in real time, by id. `queries` as read_metric_query gives them.
base::Result<std::map<std::string, capacity::MathValue>> query_values(MetricStore& store, const Json& queries,
                                                                      base::WallTime start,
                                                                      base::WallTime end);

}  // namespace headroom::cloud
