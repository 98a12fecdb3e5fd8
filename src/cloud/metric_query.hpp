// Metrics as they stand in CloudWatch requests and in alarms: namespace, name, dimensions and queries in
// Json.
//
// Pure. Faults go into the reader that is passed.
#pragma once

#include "cloud/json.hpp"
#include "cloud/metric_store.hpp"

namespace headroom::cloud {

// {Namespace, MetricName, Dimensions:[{Name, Value}]}
MetricKey read_metric(Fields& fields);
Json metric_json(const MetricKey& key);

// 1, 5, 10, 20, 30 or a multiple of 60 up to a day.
std::int64_t read_period(Fields& fields, const char* key);

// One MetricDataQuery in canonical types (numbers as numbers, flags as booleans), checked; metric math is
// stored but not computed here.
Json read_metric_query(const Json& in, Fields& outer);

}  // namespace headroom::cloud
