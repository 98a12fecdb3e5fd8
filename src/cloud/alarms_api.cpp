// CloudWatch: alarms, their states and their history.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cloud/alarm_engine.hpp"
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
    int returned = 0;
    for (const Json& query : queries) {
      alarm["Metrics"].push_back(read_metric_query(query, fields));
      if (fields.ok() && alarm["Metrics"].back().value("ReturnData", true)) ++returned;
    }
    if (fields.ok() && returned != 1 && !alarm.contains("ThresholdMetricId"))
      fields.refuse("Metrics", "Exactly one element must have ReturnData");
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
  if (alarm.contains("Metrics")) {
    if (const auto fine = check_metric_queries(alarm["Metrics"]); !fine)
      return fail(ErrorCode::kInvalidArgument, fine.error().message, "ValidationError");
  }
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
  const bool fresh = known == api.world.alarms.end();
  note_alarm_history(api.world, name, "ConfigurationUpdate",
                     fmt::format("Alarm \"{}\" {}", name, fresh ? "created" : "updated"),
                     {{"version", "1.0"}, {"type", fresh ? "Create" : "Update"}}, api.now);
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
  for (const auto& name : names) {
    api.world.alarms.erase(name);
    note_alarm_history(api.world, name, "ConfigurationUpdate", fmt::format("Alarm \"{}\" deleted", name),
                       {{"version", "1.0"}, {"type", "Delete"}}, api.now);
  }
  return Json::object();
}

// The next evaluation may change the state again, as on AWS.
Result<Json> set_state(Api& api, const Json& in) {
  Fields fields(in);
  const std::string name = fields.text("AlarmName", 255);
  const auto state =
      capacity::parse_alarm_state(fields.choice("StateValue", {"OK", "ALARM", "INSUFFICIENT_DATA"}));
  const std::string reason = fields.text("StateReason", 1023);
  const auto data = fields.maybe_text("StateReasonData", 4000);
  if (!fields.ok()) return fields.failure();
  if (data && !Json::accept(*data))
    return fail(ErrorCode::kInvalidArgument, "StateReasonData was not valid JSON", "InvalidFormatFault");
  const auto known = api.world.alarms.find(name);
  if (known == api.world.alarms.end())
    return fail(ErrorCode::kNotFound, fmt::format("No alarm named {}", name));
  set_alarm_state(api.world, known->second, *state, reason, data.value_or(""), api.now);
  call_alarm_policies(api.world, known->second);
  return Json::object();
}

Result<Json> describe_history(Api& api, const Json& in) {
  Fields fields(in);
  const auto name = fields.maybe_text("AlarmName", 255);
  const auto types = fields.texts("AlarmTypes", 64);
  const auto type =
      fields.maybe_choice("HistoryItemType", {"ConfigurationUpdate", "StateUpdate", "Action",
                                              "AlarmContributorStateUpdate", "AlarmContributorAction"});
  const auto start = fields.maybe_time("StartDate"), end = fields.maybe_time("EndDate");
  const auto limit = fields.maybe_integer("MaxRecords", 1, 100).value_or(100);
  const auto token = fields.maybe_text("NextToken");
  const bool ascending =
      fields.maybe_choice("ScanBy", {"TimestampDescending", "TimestampAscending"}) == "TimestampAscending";
  if (!fields.ok()) return fields.failure();
  std::vector<const Json*> rows;
  for (const Json& item : api.world.scaling.history) {
    const double at = item["Timestamp"];
    if (name && item["AlarmName"] != *name) continue;
    if (type && item["HistoryItemType"] != *type) continue;
    if (!types.empty() && std::find(types.begin(), types.end(), "MetricAlarm") == types.end()) continue;
    if ((start && at < epoch_seconds(*start)) || (end && at > epoch_seconds(*end))) continue;
    rows.push_back(&item);
  }
  if (ascending) std::reverse(rows.begin(), rows.end());
  const auto page = paginate(rows.size(), limit, token);
  if (!page) return fail(ErrorCode::kInvalidArgument, page.error().message, "InvalidNextToken");
  Json out{{"AlarmHistoryItems", Json::array()}};
  for (std::size_t i = page->begin; i < page->end; ++i) out["AlarmHistoryItems"].push_back(*rows[i]);
  if (!page->next_token.empty()) out["NextToken"] = page->next_token;
  return out;
}

constexpr std::array kOperations{
    OperationRow{"PutMetricAlarm", put_alarm, true},        OperationRow{"DescribeAlarms", describe_alarms},
    OperationRow{"DeleteAlarms", delete_alarms, true},      OperationRow{"SetAlarmState", set_state, true},
    OperationRow{"DescribeAlarmHistory", describe_history},
};

}  // namespace

std::span<const OperationRow> alarm_operations() { return kOperations; }

}  // namespace headroom::cloud
