// Embedded metric format: metrics that a container writes into its log become metrics of the store.
//
// A line that is not a JSON object with an "_aws" member is no metric and no error; a malformed one is
// ignored, as CloudWatch does. Taken: numbers and lists of numbers, each dimension set, "Timestamp" in epoch
// milliseconds, within what PutMetricData takes. Not thread safe: the caller locks. Source: CloudWatch user
// guide, "Specification: Embedded metric format".
#pragma once

#include <string_view>

#include "cloud/metric_store.hpp"

namespace headroom::cloud {

// Returns how many metrics the line held.
int take_embedded_metrics(MetricStore& store, std::string_view line);

}  // namespace headroom::cloud
