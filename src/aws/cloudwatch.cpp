// CloudWatch as JSON 1.0.
#include "aws/cloudwatch.hpp"

#include <algorithm>
#include <map>

#include "aws/json_call.hpp"
#include "aws/metric_json.hpp"

namespace headroom::aws {
namespace {

using base::Result;

constexpr std::size_t kQueriesPerCall = 500;  // GetMetricData's own limit
constexpr std::size_t kNamesPerCall = 100;    // DescribeAlarms, DeleteAlarms

Alarm read_alarm(const json& in) {
  Alarm out;
  out.name = text_of(in, "AlarmName");
  out.arn = text_of(in, "AlarmArn");
  out.description = text_of(in, "AlarmDescription");
  if (!text_of(in, "MetricName").empty()) out.metric = read_metric(in);
  out.statistic = text_of(in, "Statistic");
  out.extended_statistic = text_of(in, "ExtendedStatistic");
  out.period_s = int_of(in, "Period");
  out.unit = text_of(in, "Unit");
  for (const json& query : list_of(in, "Metrics")) out.queries.push_back(read_query(query));
  out.evaluation_periods = int_of(in, "EvaluationPeriods");
  out.datapoints_to_alarm = int_of(in, "DatapointsToAlarm");
  out.threshold = number_of(in, "Threshold");
  out.comparison = text_of(in, "ComparisonOperator");
  out.missing_data = text_of(in, "TreatMissingData");
  out.actions_enabled = bool_of(in, "ActionsEnabled");
  out.alarm_actions = strings_of(in, "AlarmActions");
  out.ok_actions = strings_of(in, "OKActions");
  out.insufficient_data_actions = strings_of(in, "InsufficientDataActions");
  out.state = text_of(in, "StateValue");
  out.state_reason = text_of(in, "StateReason");
  out.state_updated = time_of(in, "StateUpdatedTimestamp");
  return out;
}

Result<std::vector<Alarm>> describe(Transport& transport, const std::string& resource, json body,
                                    base::Deadline deadline) {
  std::vector<Alarm> out;
  body["AlarmTypes"] = {"MetricAlarm"};
  auto done = call_pages(transport, {Service::kCloudWatch, "DescribeAlarms", resource, deadline},
                         std::move(body), "NextToken", "NextToken", [&](const json& page) {
                           for (const json& alarm : list_of(page, "MetricAlarms"))
                             out.push_back(read_alarm(alarm));
                         });
  if (!done) return tl::unexpected(done.error());
  return out;
}

}  // namespace

json metric_json(const Metric& metric) {
  json dimensions = json::array();
  for (const Dimension& d : metric.dimensions) dimensions.push_back({{"Name", d.name}, {"Value", d.value}});
  return {{"Namespace", metric.metric_namespace}, {"MetricName", metric.name}, {"Dimensions", dimensions}};
}

Metric read_metric(const json& in) {
  Metric out;
  out.metric_namespace = text_of(in, "Namespace");
  out.name = text_of(in, "MetricName");
  for (const json& d : list_of(in, "Dimensions"))
    out.dimensions.push_back({text_of(d, "Name"), text_of(d, "Value")});
  return out;
}

json query_json(const MetricQuery& query) {
  json out = {{"Id", query.id}};
  if (query.metric) {
    json stat = {{"Metric", metric_json(*query.metric)}, {"Stat", query.statistic}};
    set_if(stat, "Period", query.period_s);
    set_if(stat, "Unit", query.unit);
    out["MetricStat"] = stat;
  } else {
    out["Expression"] = query.expression;
    set_if(out, "Period", query.period_s);
  }
  set_if(out, "Label", query.label);
  set_if(out, "ReturnData", query.return_data);
  return out;
}

MetricQuery read_query(const json& in) {
  MetricQuery out;
  out.id = text_of(in, "Id");
  out.expression = text_of(in, "Expression");
  out.label = text_of(in, "Label");
  out.return_data = bool_of(in, "ReturnData");
  out.period_s = int_of(in, "Period");
  const json& stat = object_of(in, "MetricStat");
  if (!stat.empty()) {
    out.metric = read_metric(object_of(stat, "Metric"));
    out.statistic = text_of(stat, "Stat");
    out.unit = text_of(stat, "Unit");
    if (const auto period = int_of(stat, "Period")) out.period_s = period;
  }
  return out;
}

Result<std::vector<MetricSeries>> CloudWatch::get_metric_data(const std::vector<MetricQuery>& queries,
                                                              base::WallTime start, base::WallTime end,
                                                              base::Deadline deadline) {
  if (queries.size() > kQueriesPerCall) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "GetMetricData takes at most 500 queries; ask in parts");
  }
  json body = {{"StartTime", epoch_seconds(start)},
               {"EndTime", epoch_seconds(end)},
               {"ScanBy", "TimestampAscending"},
               {"MetricDataQueries", json::array()}};
  for (const MetricQuery& query : queries) body["MetricDataQueries"].push_back(query_json(query));
  std::map<std::string, MetricSeries> found;
  const auto read_page = [&](const json& page) {
    for (const json& result : list_of(page, "MetricDataResults")) {
      MetricSeries& series = found[text_of(result, "Id")];
      series.id = text_of(result, "Id");
      series.label = text_of(result, "Label");
      series.status = text_of(result, "StatusCode");
      const json& times = list_of(result, "Timestamps");
      const json& values = list_of(result, "Values");
      for (std::size_t i = 0; i < std::min(times.size(), values.size()); ++i) {
        const json point = {{"t", times[i]}, {"v", values[i]}};
        const auto at = time_of(point, "t");
        const auto value = number_of(point, "v");
        if (at && value) series.points.push_back({*at, *value});
      }
    }
  };
  const std::string resource = queries.empty() || !queries[0].metric ? "" : queries[0].metric->name;
  auto done = call_pages(transport_, {Service::kCloudWatch, "GetMetricData", resource, deadline},
                         std::move(body), "NextToken", "NextToken", read_page);
  if (!done) return tl::unexpected(done.error());
  std::vector<MetricSeries> out;
  for (auto& [id, series] : found) {
    std::sort(series.points.begin(), series.points.end(),
              [](const MetricPoint& a, const MetricPoint& b) { return a.at < b.at; });
    out.push_back(std::move(series));
  }
  return out;
}

Result<std::vector<MetricPoint>> CloudWatch::series(const Metric& metric, const std::string& statistic,
                                                    int period_s, base::WallTime start, base::WallTime end,
                                                    base::Deadline deadline) {
  MetricQuery query;
  query.id = "m1";
  query.metric = metric;
  query.statistic = statistic;
  query.period_s = period_s;
  auto all = get_metric_data({query}, start, end, deadline);
  if (!all) return tl::unexpected(all.error());
  if (all->empty()) return std::vector<MetricPoint>{};
  return std::move(all->front().points);
}

Result<std::vector<MetricDatapoint>> CloudWatch::get_metric_statistics(
    const Metric& metric, int period_s, const std::vector<std::string>& statistics,
    const std::vector<std::string>& extended, base::WallTime start, base::WallTime end,
    base::Deadline deadline) {
  json body = metric_json(metric);
  body["StartTime"] = epoch_seconds(start);
  body["EndTime"] = epoch_seconds(end);
  body["Period"] = period_s;
  if (!statistics.empty()) body["Statistics"] = statistics;
  if (!extended.empty()) body["ExtendedStatistics"] = extended;
  auto answer = call(transport_, {Service::kCloudWatch, "GetMetricStatistics", metric.name, deadline}, body);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<MetricDatapoint> out;
  for (const json& point : list_of(*answer, "Datapoints")) {
    const auto at = time_of(point, "Timestamp");
    if (!at) continue;
    MetricDatapoint read;
    read.at = *at;
    read.average = number_of(point, "Average");
    read.maximum = number_of(point, "Maximum");
    read.minimum = number_of(point, "Minimum");
    read.sum = number_of(point, "Sum");
    read.sample_count = number_of(point, "SampleCount");
    for (const auto& [name, value] : object_of(point, "ExtendedStatistics").items()) {
      if (value.is_number()) read.extended[name] = value.get<double>();
    }
    out.push_back(std::move(read));
  }
  std::sort(out.begin(), out.end(),
            [](const MetricDatapoint& a, const MetricDatapoint& b) { return a.at < b.at; });
  return out;
}

Result<void> CloudWatch::put_alarm(const Alarm& alarm, base::Deadline deadline) {
  json body = {{"AlarmName", alarm.name}, {"ComparisonOperator", alarm.comparison}};
  set_if(body, "AlarmDescription", alarm.description);
  if (alarm.metric) {
    body.update(metric_json(*alarm.metric));
    set_if(body, "Statistic", alarm.statistic);
    set_if(body, "ExtendedStatistic", alarm.extended_statistic);
    set_if(body, "Period", alarm.period_s);
    set_if(body, "Unit", alarm.unit);
  } else {
    body["Metrics"] = json::array();
    for (const MetricQuery& query : alarm.queries) body["Metrics"].push_back(query_json(query));
  }
  set_if(body, "EvaluationPeriods", alarm.evaluation_periods);
  set_if(body, "DatapointsToAlarm", alarm.datapoints_to_alarm);
  set_if(body, "Threshold", alarm.threshold);
  set_if(body, "TreatMissingData", alarm.missing_data);
  set_if(body, "ActionsEnabled", alarm.actions_enabled);
  body["AlarmActions"] = alarm.alarm_actions;  // sent when empty too: PutMetricAlarm replaces the whole alarm
  body["OKActions"] = alarm.ok_actions;
  body["InsufficientDataActions"] = alarm.insufficient_data_actions;
  auto answer = call(transport_, {Service::kCloudWatch, "PutMetricAlarm", alarm.name, deadline}, body);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Result<std::vector<Alarm>> CloudWatch::describe_alarms(const std::vector<std::string>& names,
                                                       base::Deadline deadline) {
  std::vector<Alarm> out;
  for (std::size_t from = 0; from < names.size(); from += kNamesPerCall) {
    const std::size_t to = std::min(from + kNamesPerCall, names.size());
    const std::vector<std::string> part(names.begin() + static_cast<std::ptrdiff_t>(from),
                                        names.begin() + static_cast<std::ptrdiff_t>(to));
    auto page = describe(transport_, part.front(), {{"AlarmNames", part}}, deadline);
    if (!page) return page;
    out.insert(out.end(), page->begin(), page->end());
  }
  return out;
}

Result<std::vector<Alarm>> CloudWatch::describe_alarms_by_prefix(const std::string& prefix,
                                                                 base::Deadline deadline) {
  json body = json::object();
  set_if(body, "AlarmNamePrefix", prefix);
  return describe(transport_, prefix, std::move(body), deadline);
}

Result<void> CloudWatch::delete_alarms(const std::vector<std::string>& names, base::Deadline deadline) {
  for (std::size_t from = 0; from < names.size(); from += kNamesPerCall) {
    const std::size_t to = std::min(from + kNamesPerCall, names.size());
    const std::vector<std::string> part(names.begin() + static_cast<std::ptrdiff_t>(from),
                                        names.begin() + static_cast<std::ptrdiff_t>(to));
    auto answer = call(transport_, {Service::kCloudWatch, "DeleteAlarms", part.front(), deadline},
                       {{"AlarmNames", part}});
    if (!answer) return tl::unexpected(answer.error());
  }
  return {};
}

}  // namespace headroom::aws
