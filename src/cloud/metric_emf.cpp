// Reading one line.
#include "cloud/metric_emf.hpp"

#include <cmath>
#include <optional>

#include "cloud/json.hpp"

namespace headroom::cloud {
namespace {

constexpr std::size_t kMaxValues = 100;     // of one metric, CloudWatch's own limit
constexpr std::size_t kMaxDimensions = 30;  // of one set
constexpr std::string_view kReserved = "AWS/";

using Dimensions = std::vector<std::pair<std::string, std::string>>;

std::optional<Dimensions> dimensions_of(const Json& names, const Json& line) {
  if (!names.is_array() || names.size() > kMaxDimensions) return std::nullopt;
  Dimensions out;
  for (const Json& name : names) {
    if (!name.is_string()) return std::nullopt;
    const auto value = line.find(name.get_ref<const std::string&>());
    if (value == line.end() || !value->is_string()) return std::nullopt;
    out.emplace_back(name.get<std::string>(), value->get<std::string>());
  }
  return out;
}

std::optional<Readings> readings_of(const Json& value) {
  if (value.is_number()) return one_reading(value.get<double>());
  if (!value.is_array() || value.empty() || value.size() > kMaxValues) return std::nullopt;
  Readings all;
  for (const Json& one : value) {
    if (!one.is_number()) return std::nullopt;
    capacity::merge(all, one_reading(one.get<double>()));
  }
  return all;
}

int take_directive(MetricStore& store, const Json& directive, const Json& line, base::WallTime at) {
  int taken = 0;
  const std::string space = directive.at("Namespace");
  if (space.empty() || space.rfind(kReserved, 0) == 0) return 0;
  for (const Json& metric : directive.at("Metrics")) {
    const std::string name = metric.at("Name");
    const auto value = line.find(name);
    const auto readings = value == line.end() ? std::nullopt : readings_of(*value);
    if (!readings) continue;
    for (const Json& set : directive.value("Dimensions", Json::array({Json::array()}))) {
      auto dimensions = dimensions_of(set, line);
      if (!dimensions) continue;
      store.put_of_cloud_time(make_key(space, name, std::move(*dimensions)), *readings, at,
                              metric.value("Unit", "None"));
      ++taken;
    }
  }
  return taken;
}

}  // namespace

int take_embedded_metrics(MetricStore& store, std::string_view text) {
  if (text.empty() || text.front() != '{' || text.find("\"_aws\"") == std::string_view::npos) return 0;
  const auto parsed = parse_object(text);
  if (!parsed) return 0;
  try {
    const Json& head = parsed->at("_aws");
    const double ms = head.at("Timestamp");
    if (!std::isfinite(ms) || ms < 0 || ms > 9e12) return 0;
    const base::WallTime at = from_epoch_seconds(ms / 1000);
    if (!store.takes_time(at)) return 0;
    int taken = 0;
    for (const Json& directive : head.at("CloudWatchMetrics"))
      taken += take_directive(store, directive, *parsed, at);
    return taken;
  } catch (const Json::exception&) {
    return 0;
  }
}

}  // namespace headroom::cloud
