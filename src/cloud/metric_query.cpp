// Reading of metrics, periods and metric data queries.
#include "cloud/metric_query.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace headroom::cloud {
namespace {

constexpr int kDefaultPeriodS = 60;
constexpr std::int64_t kMaxGridPoints = 5'000'000;  // periods times queries that are computed at once

MetricKey key_of(const Json& metric) {
  Fields fields(metric);
  return read_metric(fields);
}

// The smallest period of the metrics: what their expressions are computed on.
std::int64_t period_of(const Json& queries) {
  std::int64_t period = 0;
  for (const Json& query : queries) {
    const auto stat = query.find("MetricStat");
    const std::int64_t own = stat == query.end() ? 0 : stat->value("Period", kDefaultPeriodS);
    if (own > 0 && (period == 0 || own < period)) period = own;
  }
  return period == 0 ? kDefaultPeriodS : period;
}

template <class Read>
base::Result<std::map<std::string, capacity::MathValue>> values_of(const Json& queries,
                                                                   const capacity::MathGrid& grid,
                                                                   Read read) {
  std::vector<capacity::MathQuery> all;
  for (const Json& query : queries) {
    capacity::MathQuery one;
    one.id = query.at("Id");
    if (query.contains("Expression")) {
      one.expression = query["Expression"];
      one.period_s = grid.period_s;
    } else {
      const Json& stat = query.at("MetricStat");
      const auto statistic = parse_statistic(stat.at("Stat").get_ref<const std::string&>());
      one.period_s = stat.value("Period", kDefaultPeriodS);
      if (statistic) one.series = read(key_of(stat.at("Metric")), *statistic, one.period_s);
    }
    all.push_back(std::move(one));
  }
  return capacity::evaluate_math(all, grid);
}

}  // namespace

MetricKey read_metric(Fields& fields) {
  std::string metric_namespace = fields.text("Namespace", 255);
  std::string name = fields.text("MetricName", 255);
  std::vector<std::pair<std::string, std::string>> dimensions;
  const Json& list = fields.maybe_list("Dimensions");
  if (list.size() > 30) fields.refuse("Dimensions", "Member must have at most 30 elements");
  for (const Json& dimension : list) {
    Fields row(dimension, "Dimensions.member.");
    dimensions.emplace_back(row.text("Name", 255), row.text("Value", 1024));
    fields.take(row);
  }
  return make_key(std::move(metric_namespace), std::move(name), std::move(dimensions));
}

Json metric_json(const MetricKey& key) {
  Json dimensions = Json::array();
  for (const auto& [name, value] : key.dimensions) dimensions.push_back({{"Name", name}, {"Value", value}});
  return {{"Namespace", key.metric_namespace}, {"MetricName", key.name}, {"Dimensions", dimensions}};
}

std::int64_t read_period(Fields& fields, const char* key) {
  const std::int64_t period = fields.integer(key, 1, 86'400);
  const bool known =
      period == 1 || period == 5 || period == 10 || period == 20 || period == 30 || period % 60 == 0;
  if (fields.ok() && !known) fields.refuse(key, "Member must be 1, 5, 10, 20, 30 or a multiple of 60");
  return period;
}

Json read_metric_query(const Json& in, Fields& outer) {
  Fields fields(in, "MetricDataQueries.member.");
  Json out{{"Id", fields.text("Id", 255)}};
  if (const auto label = fields.maybe_text("Label")) out["Label"] = *label;
  if (const auto wanted = fields.maybe_flag("ReturnData")) out["ReturnData"] = *wanted;
  if (fields.has("Period")) out["Period"] = read_period(fields, "Period");
  if (fields.has("MetricStat") == fields.has("Expression")) {
    fields.refuse("MetricStat", "Exactly one of MetricStat and Expression must be given");
  } else if (fields.has("Expression")) {
    out["Expression"] = fields.text("Expression", 2048);
  } else {
    Fields stat(fields.object("MetricStat"), "MetricStat.");
    Fields metric(stat.object("Metric"), "MetricStat.Metric.");
    const MetricKey key = read_metric(metric);
    stat.take(metric);
    const std::string statistic = stat.text("Stat", 64);
    if (stat.ok() && !parse_statistic(statistic))
      stat.refuse("Stat", "Member must be Average, Sum, Minimum, Maximum, SampleCount or pNN");
    out["MetricStat"] = {
        {"Metric", metric_json(key)}, {"Period", read_period(stat, "Period")}, {"Stat", statistic}};
    if (const auto unit = stat.maybe_text("Unit", 64)) out["MetricStat"]["Unit"] = *unit;
    fields.take(stat);
  }
  outer.take(fields);
  return out;
}

base::Result<void> check_metric_queries(const Json& queries) {
  std::vector<std::string> ids;
  for (const Json& query : queries) {
    const std::string id = query.at("Id");
    if (std::find(ids.begin(), ids.end(), id) != ids.end())
      return base::fail(base::ErrorCode::kInvalidArgument, fmt::format("The id '{}' is given twice.", id));
    ids.push_back(id);
  }
  for (const Json& query : queries) {
    if (!query.contains("Expression")) continue;
    if (const auto fine = capacity::check_math(query["Expression"], ids); !fine)
      return base::fail(
          base::ErrorCode::kInvalidArgument,
          fmt::format("Error in expression '{}': {}", query["Id"].get<std::string>(), fine.error().message));
  }
  return {};
}

int alarm_period_s(const Json& alarm) {
  if (const auto queries = alarm.find("Metrics"); queries != alarm.end())
    return static_cast<int>(period_of(*queries));
  return alarm.value("Period", kDefaultPeriodS);
}

base::Result<capacity::TimeSeries> alarm_series(MetricStore& store, const Json& alarm,
                                                const capacity::MathGrid& grid) {
  const auto read = [&](const MetricKey& key, Statistic statistic, std::int64_t period) {
    return store.cloud_points(key, statistic, period, grid.begin_s, grid.end_s);
  };
  const auto queries = alarm.find("Metrics");
  if (queries == alarm.end()) {
    const std::string name = alarm.contains("Statistic") ? alarm["Statistic"] : alarm.at("ExtendedStatistic");
    return read(key_of(alarm), parse_statistic(name).value_or(Statistic{}), grid.period_s);
  }
  const auto values = values_of(*queries, grid, read);
  if (!values) return tl::unexpected(values.error());
  for (const Json& query : *queries) {
    if (!query.value("ReturnData", true)) continue;
    const auto& value = values->at(query.at("Id"));
    if (const auto* series = std::get_if<capacity::TimeSeries>(&value)) return *series;
    return base::fail(
        base::ErrorCode::kInvalidArgument,
        fmt::format("The expression '{}' does not give one time series.", query["Id"].get<std::string>()));
  }
  return base::fail(base::ErrorCode::kInvalidArgument, "No metric of the alarm has ReturnData.");
}

base::Result<std::map<std::string, capacity::MathValue>> query_values(MetricStore& store, const Json& queries,
                                                                      base::WallTime start,
                                                                      base::WallTime end) {
  const std::int64_t period = period_of(queries);
  const auto first = std::chrono::floor<std::chrono::seconds>(start).time_since_epoch().count();
  const auto last = std::chrono::ceil<std::chrono::seconds>(end).time_since_epoch().count();
  if ((last - first) / period * static_cast<std::int64_t>(queries.size()) > kMaxGridPoints)
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "Too many periods for so many queries; ask for a shorter range or a longer period.");
  return values_of(queries, {first - first % period, last, period},
                   [&](const MetricKey& key, Statistic statistic, std::int64_t own) {
                     capacity::TimeSeries out;
                     for (const auto& point : store.query(key, statistic, own, start, end))
                       out[point.time_s] = point.value;
                     return out;
                   });
}

}  // namespace headroom::cloud
