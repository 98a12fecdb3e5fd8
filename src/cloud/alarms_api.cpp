// CloudWatch: alarms, stored and described.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cloud/metric_query.hpp"
#include "cloud/operations.hpp"

namespace headroom::cloud {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

void read_alarm_metric(Fields& fields, Json& alarm) {
  const Json& queries = fields.maybe_list("Metrics");
  if (!queries.empty()) {
    if (fields.has("MetricName"))
      fields.refuse("MetricName", "MetricName cannot be given together with Metrics");
    alarm["Metrics"] = Json::array();
    for (const Json& query : queries) alarm["Metrics"].push_back(read_metric_query(query, fields));
    return;
  }
  const Json metric = metric_json(read_metric(fields));
  copy_members(metric, alarm, {"Namespace", "MetricName", "Dimensions"});
  alarm["Period"] = read_period(fields, "Period");
  const auto statistic =
      fields.maybe_choice("Statistic", {"SampleCount", "Average", "Sum", "Minimum", "Maximum"});
  const auto extended = fields.maybe_text("ExtendedStatistic", 64);
  if (statistic) alarm["Statistic"] = *statistic;
  if (extended) alarm["ExtendedStatistic"] = *extended;
  if (statistic.has_value() == extended.has_value())
    fields.refuse("Statistic", "Exactly one of Statistic and ExtendedStatistic must be given");
  if (extended && !parse_statistic(*extended))
    fields.refuse("ExtendedStatistic", "Member must have the form pNN");
}

Result<Json> put_alarm(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.text("AlarmName", 255);
  Json alarm{{"AlarmName", name},
             {"AlarmArn", api.world.arn("cloudwatch", "alarm:" + name)},
             {"AlarmConfigurationUpdatedTimestamp", epoch_seconds(api.now)},
             {"ActionsEnabled", fields.maybe_flag("ActionsEnabled").value_or(true)}};
  for (const char* key : {"OKActions", "AlarmActions", "InsufficientDataActions"}) {
    alarm[key] = fields.texts(key, 1024);
    if (alarm[key].size() > 5) fields.refuse(key, "Member must have at most 5 elements");
  }
  alarm["ComparisonOperator"] = fields.choice(
      "ComparisonOperator", {"GreaterThanOrEqualToThreshold", "GreaterThanThreshold", "LessThanThreshold",
                             "LessThanOrEqualToThreshold", "LessThanLowerOrGreaterThanUpperThreshold",
                             "LessThanLowerThreshold", "GreaterThanUpperThreshold"});
  const auto periods = fields.integer("EvaluationPeriods", 1, 1440);
  alarm["EvaluationPeriods"] = periods;
  if (const auto points = fields.maybe_integer("DatapointsToAlarm", 1, periods))
    alarm["DatapointsToAlarm"] = *points;
  if (fields.has("ThresholdMetricId"))
    alarm["ThresholdMetricId"] = fields.text("ThresholdMetricId", 255);
  else
    alarm["Threshold"] = fields.number("Threshold");
  if (const auto text = fields.maybe_text("AlarmDescription", 1024)) alarm["AlarmDescription"] = *text;
  if (const auto unit = fields.maybe_text("Unit", 64)) alarm["Unit"] = *unit;
  if (const auto missing =
          fields.maybe_choice("TreatMissingData", {"breaching", "notBreaching", "ignore", "missing"}))
    alarm["TreatMissingData"] = *missing;
  if (const auto low = fields.maybe_text("EvaluateLowSampleCountPercentile", 64))
    alarm["EvaluateLowSampleCountPercentile"] = *low;
  read_alarm_metric(fields, alarm);
  if (!fields.ok()) return fields.failure();
  const auto known = api.world.alarms.find(name);
  if (known != api.world.alarms.end()) {
    copy_members(known->second, alarm,
                 {"StateValue", "StateReason", "StateReasonData", "StateUpdatedTimestamp",
                  "StateTransitionedTimestamp"});
  } else {
    alarm["StateValue"] = "INSUFFICIENT_DATA";
    alarm["StateReason"] = "Unchecked: Initial alarm creation";
    alarm["StateUpdatedTimestamp"] = alarm["StateTransitionedTimestamp"] = epoch_seconds(api.now);
  }
  api.world.alarms[name] = std::move(alarm);
  return Json::object();
}

bool any_action_starts_with(const Json& alarm, const std::string& prefix) {
  for (const char* key : {"OKActions", "AlarmActions", "InsufficientDataActions"}) {
    for (const Json& action : alarm.value(key, Json::array())) {
      if (action.get_ref<const std::string&>().rfind(prefix, 0) == 0) return true;
    }
  }
  return false;
}

Result<Json> describe_alarms(Api& api, const Json& in) {
  Fields fields(in);
  const auto names = fields.texts("AlarmNames", 255), types = fields.texts("AlarmTypes", 64);
  const auto prefix = fields.maybe_text("AlarmNamePrefix", 255),
             action = fields.maybe_text("ActionPrefix", 1024);
  const auto state = fields.maybe_choice("StateValue", {"OK", "ALARM", "INSUFFICIENT_DATA"});
  const auto limit = fields.maybe_integer("MaxRecords", 1, 100).value_or(50);
  const auto token = fields.maybe_text("NextToken");
  if (!fields.ok()) return fields.failure();
  const bool wanted = types.empty() || std::find(types.begin(), types.end(), "MetricAlarm") != types.end();
  std::vector<const Json*> rows;
  for (const auto& [name, alarm] : api.world.alarms) {
    if (!wanted) break;
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (prefix && name.rfind(*prefix, 0) != 0) continue;
    if (state && alarm["StateValue"] != *state) continue;
    if (action && !any_action_starts_with(alarm, *action)) continue;
    rows.push_back(&alarm);
  }
  const auto page = paginate(rows.size(), names.empty() ? limit : 100, token);
  if (!page) return fail(ErrorCode::kInvalidArgument, page.error().message, "InvalidNextToken");
  Json out{{"MetricAlarms", Json::array()}, {"CompositeAlarms", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["MetricAlarms"].push_back(*rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

Result<Json> delete_alarms(Api& api, const Json& in) {
  Fields fields(in);
  fields.list("AlarmNames");
  const auto names = fields.texts("AlarmNames", 255);
  if (names.size() > 100) fields.refuse("AlarmNames", "Member must have at most 100 elements");
  if (!fields.ok()) return fields.failure();
  for (const auto& name : names) {
    if (api.world.alarms.count(name) == 0)
      return fail(ErrorCode::kNotFound, fmt::format("No alarm named {}; nothing was deleted", name));
  }
  for (const auto& name : names) api.world.alarms.erase(name);
  return Json::object();
}

constexpr std::array kOperations{
    OperationRow{"PutMetricAlarm", put_alarm, true},
    OperationRow{"DescribeAlarms", describe_alarms},
    OperationRow{"DeleteAlarms", delete_alarms, true},
};

}  // namespace

std::span<const OperationRow> alarm_operations() { return kOperations; }

}  // namespace headroom::cloud
