// CloudWatch: metrics in and out.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "cloud/metric_query.hpp"
#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr std::size_t kMaxDatapoints = 100'800;  // of one GetMetricData reply, as AWS

Result<std::pair<base::WallTime, base::WallTime>> read_range(Fields& fields) {
  const auto start = fields.time("StartTime"), end = fields.time("EndTime");
  if (!fields.ok()) return fields.failure();
  if (start >= end)
    return fail(ErrorCode::kInvalidArgument,
                "The parameter StartTime must be less than the parameter EndTime.");
  return std::pair{start, end};
}

Json points_json(const Json& query, const capacity::TimeSeries& points, bool ascending) {
  Json times = Json::array(), values = Json::array();
  for (const auto& [time, value] : points) {
    times.push_back(static_cast<double>(time));
    values.push_back(value);
  }
  if (!ascending) {
    std::reverse(times.begin(), times.end());
    std::reverse(values.begin(), values.end());
  }
  const std::string label =
      query.contains("MetricStat") ? query["MetricStat"]["Metric"]["MetricName"] : query["Id"];
  return {{"Id", query["Id"]},
          {"Label", query.value("Label", label)},
          {"Timestamps", times},
          {"Values", values},
          {"StatusCode", "Complete"}};
}

Result<Json> read_queries(Fields& fields) {
  const Json& raw = fields.list("MetricDataQueries");
  if (fields.ok() && (raw.empty() || raw.size() > 500))
    fields.refuse("MetricDataQueries", "Member must have 1 to 500 elements");
  Json queries = Json::array();
  for (const Json& query : raw) queries.push_back(read_metric_query(query, fields));
  if (!fields.ok()) return fields.failure();
  if (const auto fine = check_metric_queries(queries); !fine)
    return fail(ErrorCode::kInvalidArgument, fine.error().message, "ValidationError");
  return queries;
}

// The series of one query: an expression may give several.
Result<capacity::SeriesList> series_of(const Json& query, const capacity::MathValue& value) {
  if (const auto* series = std::get_if<capacity::TimeSeries>(&value)) return capacity::SeriesList{*series};
  if (const auto* list = std::get_if<capacity::SeriesList>(&value)) return *list;
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("Error in expression '{}': it gives a number, a time series is needed; use TIME_SERIES",
                  query["Id"].get<std::string>()),
      "ValidationError");
}

Result<Json> get_metric_data(Api& api, const Json& in) {
  Fields fields(in);
  const auto range = read_range(fields);
  if (!range) return tl::unexpected(range.error());
  const bool ascending =
      fields.maybe_choice("ScanBy", {"TimestampDescending", "TimestampAscending"}) == "TimestampAscending";
  const auto queries = read_queries(fields);
  if (!queries) return tl::unexpected(queries.error());
  const auto values = query_values(api.world.metrics, *queries, range->first, range->second);
  if (!values) return fail(ErrorCode::kInvalidArgument, values.error().message, "ValidationError");
  Json results = Json::array();
  std::size_t total = 0;
  for (const Json& query : *queries) {
    if (!query.value("ReturnData", true)) continue;
    const auto list = series_of(query, values->at(query["Id"]));
    if (!list) return tl::unexpected(list.error());
    for (const auto& series : *list) {
      total += series.size();
      if (total > kMaxDatapoints)
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("more than {} datapoints; ask for a shorter range", kMaxDatapoints));
      results.push_back(points_json(query, series, ascending));
    }
  }
  return Json{{"MetricDataResults", results}, {"Messages", Json::array()}};
}

// SageMaker's latencies are in microseconds; nobody says so when they are recorded.
std::string unit_of(const MetricStore& metrics, const MetricKey& key) {
  const bool latency = key.name.size() > 7 && key.name.compare(key.name.size() - 7, 7, "Latency") == 0;
  return key.metric_namespace == "AWS/SageMaker" && latency ? "Microseconds" : metrics.unit(key);
}

Result<Json> get_metric_statistics(Api& api, const Json& in) {
  Fields fields(in);
  const MetricKey key = read_metric(fields);
  const auto period = read_period(fields, "Period");
  const auto statistics = fields.texts("Statistics", 64), extended = fields.texts("ExtendedStatistics", 64);
  const auto range = read_range(fields);
  if (!range) return tl::unexpected(range.error());
  if (statistics.empty() && extended.empty())
    return fail(ErrorCode::kInvalidArgument, "Must specify either Statistics or ExtendedStatistics",
                "InvalidParameterCombinationException");
  std::map<std::int64_t, Json> rows;
  const auto collect = [&](const std::string& name, bool percentile) -> Result<void> {
    const auto statistic = parse_statistic(name);
    if (!statistic || (statistic->kind == StatKind::kPercentile) != percentile)
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("The statistic {} is not one of this parameter's", name));
    for (const auto& point : api.world.metrics.query(key, *statistic, period, range->first, range->second)) {
      Json& row = rows[point.time_s];
      if (percentile)
        row["ExtendedStatistics"][name] = point.value;
      else
        row[name] = point.value;
    }
    return {};
  };
  for (const auto& name : statistics) {
    if (const auto done = collect(name, false); !done) return tl::unexpected(done.error());
  }
  for (const auto& name : extended) {
    if (const auto done = collect(name, true); !done) return tl::unexpected(done.error());
  }
  if (rows.size() > 1440)
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("You have requested up to {} datapoints, which exceeds the limit of 1440.", rows.size()),
        "InvalidParameterCombinationException");
  Json datapoints = Json::array();
  for (auto& [time, row] : rows) {
    row["Timestamp"] = static_cast<double>(time);
    row["Unit"] = unit_of(api.world.metrics, key);
    datapoints.push_back(std::move(row));
  }
  return Json{{"Label", key.name}, {"Datapoints", datapoints}};
}

bool dimensions_match(const MetricKey& key, const Json& filters) {
  return std::all_of(filters.begin(), filters.end(), [&](const Json& filter) {
    return std::any_of(key.dimensions.begin(), key.dimensions.end(), [&](const auto& dimension) {
      return dimension.first == filter.value("Name", "") &&
             (!filter.contains("Value") || dimension.second == filter.value("Value", ""));
    });
  });
}

Result<Json> list_metrics(Api& api, const Json& in) {
  Fields fields(in);
  const auto metric_namespace = fields.maybe_text("Namespace", 255),
             name = fields.maybe_text("MetricName", 255);
  const Json& filters = fields.maybe_list("Dimensions");
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  std::vector<Json> rows;
  for (const MetricKey& key : api.world.metrics.list()) {
    if (metric_namespace && key.metric_namespace != *metric_namespace) continue;
    if (name && key.name != *name) continue;
    if (dimensions_match(key, filters)) rows.push_back(metric_json(key));
  }
  const auto page = paginate(rows.size(), 500, token);
  if (!page) return tl::unexpected(page.error());
  Json out{{"Metrics", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["Metrics"].push_back(rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

// The readings of one MetricDatum: a value, values with counts, or a statistic set.
Readings read_datum(Fields& datum) {
  if (datum.has("StatisticValues")) {
    Fields set(datum.object("StatisticValues"), "StatisticValues.");
    Readings readings{
        set.number("Sum"), set.number("Minimum"), set.number("Maximum"), set.number("SampleCount"), {}};
    datum.take(set);
    return readings;
  }
  const Json& values = datum.maybe_list("Values");
  const Json& counts = datum.maybe_list("Counts");
  if (values.empty()) return one_reading(datum.number("Value"));
  if (values.size() > 150 || (!counts.empty() && counts.size() != values.size())) {
    datum.refuse("Values", "Member must have at most 150 elements, and Counts as many");
    return {};
  }
  Readings all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Json pair{{"Value", values[i]}, {"Count", counts.empty() ? Json(1) : counts[i]}};
    Fields row(pair, "Values.member.");
    const Readings one = one_reading(row.number("Value"), row.number("Count"));
    datum.take(row);
    if (all.count == 0) all.minimum = all.maximum = one.minimum;
    all.sum += one.sum;
    all.count += one.count;
    all.minimum = std::min(all.minimum, one.minimum);
    all.maximum = std::max(all.maximum, one.maximum);
    all.raw.push_back(one.raw.front());
  }
  return all;
}

struct Datum {
  MetricKey key;
  Readings readings;
  base::WallTime at;
  std::string unit;
};

Result<void> check_time(const Api& api, base::WallTime at, std::size_t member) {
  if (api.world.metrics.takes_time(at)) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      fmt::format("The parameter MetricData.member.{}.Timestamp must specify a time {}.", member,
                  at > api.now ? "no more than two hours in the future" : "within the past two weeks"));
}

Result<Json> put_metric_data(Api& api, const Json& in) {
  Fields fields(in);
  const std::string metric_namespace = fields.text("Namespace", 255);
  if (fields.ok() && metric_namespace.rfind("AWS/", 0) == 0)
    fields.refuse("Namespace", "The value for parameter Namespace must not begin with AWS/");
  std::vector<Datum> data;
  for (const Json& raw : fields.maybe_list("MetricData")) {
    Json named = raw;
    if (named.is_object()) named["Namespace"] = metric_namespace;
    Fields row(named, "MetricData.member.");
    Datum datum;
    datum.key = read_metric(row);
    datum.readings = read_datum(row);
    datum.at = row.maybe_time("Timestamp").value_or(api.now);
    datum.unit = row.maybe_text("Unit", 64).value_or("");
    row.maybe_integer("StorageResolution", 1, 60);
    fields.take(row);
    if (const auto fine = check_time(api, datum.at, data.size() + 1); fields.ok() && !fine)
      return tl::unexpected(fine.error());
    data.push_back(std::move(datum));
  }
  if (!fields.ok()) return fields.failure();
  for (Datum& datum : data) api.world.metrics.put(datum.key, std::move(datum.readings), datum.at, datum.unit);
  return Json::object();
}

constexpr std::array kOperations{
    OperationRow{"GetMetricData", get_metric_data},
    OperationRow{"GetMetricStatistics", get_metric_statistics},
    OperationRow{"ListMetrics", list_metrics},
    OperationRow{"PutMetricData", put_metric_data},
};

}  // namespace

std::span<const OperationRow> metric_operations() { return kOperations; }

}  // namespace headroom::cloud
