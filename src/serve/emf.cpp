// Builds the line.
#include "serve/emf.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

namespace headroom::serve {

std::string emf_line(const Admission::Interval& interval, const EmfDimensions& dimensions, base::WallTime at,
                     double fast) {
  using json = nlohmann::ordered_json;
  json names = json::array();
  json body;
  for (const auto& [name, value] : {std::pair("EndpointName", &dimensions.endpoint_name),
                                    std::pair("VariantName", &dimensions.variant_name)}) {
    if (value->empty()) continue;
    names.push_back(name);
    body[name] = *value;
  }
  json metrics = json::array();
  for (const char* name : {"OfferedRequests", "AcceptedRequests", "OutstandingMaximum", "OutstandingAverage"})
    metrics.push_back({{"Name", name}, {"Unit", "Count"}, {"StorageResolution", 1}});
  body["OfferedRequests"] = std::llround(static_cast<double>(interval.offered) * fast);
  body["AcceptedRequests"] = std::llround(static_cast<double>(interval.accepted) * fast);
  body["OutstandingMaximum"] = interval.outstanding_max;
  body["OutstandingAverage"] = std::round(interval.outstanding_average * 1000.0) / 1000.0;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
  json line;
  line["_aws"] = {
      {"Timestamp", ms},
      {"CloudWatchMetrics",
       json::array(
           {{{"Namespace", "Headroom"}, {"Dimensions", json::array({names})}, {"Metrics", metrics}}})}};
  line.update(body);
  return line.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace headroom::serve
