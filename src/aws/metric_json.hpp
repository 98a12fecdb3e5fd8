// Internal to src/aws: metrics and metric queries as JSON, shared by CloudWatch and customised scaling
// metrics.
#pragma once

#include "aws/cloudwatch.hpp"
#include "aws/json_call.hpp"

namespace headroom::aws {

json metric_json(const Metric& metric);
Metric read_metric(const json& in);
json query_json(const MetricQuery& query);
MetricQuery read_query(const json& in);

}  // namespace headroom::aws
