// Embedded metric format: how the instance tells CloudWatch its load through its log (SPEC 1.3).
//
// One JSON line every 10 s. Source: CloudWatch embedded metric format specification. Metrics (namespace
// Headroom): OfferedRequests (refused ones included), AcceptedRequests, OutstandingMaximum,
// OutstandingAverage, all of the period, at 1 s storage resolution. Dimensions that are not known are left
// out. Pure.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "serve/admission.hpp"

namespace headroom::serve {

struct EmfDimensions {
  std::string endpoint_name;
  std::string variant_name;
};

// Without the line's end. `fast`: the interval lasted 10 s divided by this, where a cloud's time runs faster;
// what was counted is multiplied by it, as if the load had lasted for all of the 10 s.
std::string emf_line(const Admission::Interval& interval, const EmfDimensions& dimensions, base::WallTime at,
                     double fast = 1);

}  // namespace headroom::serve
