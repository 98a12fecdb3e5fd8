// One round over the alarms.
#include "cloud/alarm_engine.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "base/names.hpp"
#include "cloud/metric_query.hpp"

namespace headroom::cloud {
namespace {

using capacity::AlarmSettings;
using capacity::AlarmState;
using capacity::AlarmVerdict;
using capacity::MissingData;

constexpr std::size_t kMaxHistory = 1000;
constexpr const char* kActionLists[] = {"OKActions", "AlarmActions", "InsufficientDataActions"};

struct Points {
  std::vector<std::optional<double>> values;  // oldest first
  std::int64_t first_s = 0, period_s = 60;    // cloud seconds
};

std::optional<AlarmSettings> settings_of(const Json& alarm) {
  const auto comparison =
      capacity::parse_comparison(alarm.at("ComparisonOperator").get_ref<const std::string&>());
  if (!comparison || !alarm.contains("Threshold")) return std::nullopt;  // bands of anomaly detection
  AlarmSettings s;
  s.comparison = *comparison;
  s.threshold = alarm.at("Threshold");
  s.evaluation_periods = alarm.at("EvaluationPeriods");
  s.datapoints_to_alarm = alarm.value("DatapointsToAlarm", s.evaluation_periods);
  s.missing = capacity::parse_missing_data(alarm.value("TreatMissingData", "missing"))
                  .value_or(MissingData::kMissing);
  return s;
}

// The datapoints of the periods that have ended by `tick`.
base::Result<Points> read_points(World& world, const Json& alarm, int range, std::int64_t tick) {
  Points out;
  out.period_s = alarm_period_s(alarm);
  const std::int64_t end = tick - tick % out.period_s;
  out.first_s = end - range * out.period_s;
  const auto series = alarm_series(world.metrics, alarm, {out.first_s, end, out.period_s});
  if (!series) return tl::unexpected(series.error());
  for (std::int64_t t = out.first_s; t < end; t += out.period_s) {
    const auto it = series->find(t);
    out.values.push_back(it == series->end() ? std::nullopt : std::optional(it->second));
  }
  return out;
}

std::string short_time(double epoch_s) {
  const auto seconds = static_cast<std::time_t>(epoch_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:02}/{:02}/{:02} {:02}:{:02}:{:02}", utc.tm_mday, utc.tm_mon + 1, utc.tm_year % 100,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

const char* relation(capacity::Comparison comparison) {
  switch (comparison) {
    case capacity::Comparison::kGreater:
      return "greater than";
    case capacity::Comparison::kGreaterOrEqual:
      return "greater than or equal to";
    case capacity::Comparison::kLess:
      return "less than";
    case capacity::Comparison::kLessOrEqual:
      return "less than or equal to";
  }
  return "";
}

std::string treated_as(MissingData missing) {
  return missing == MissingData::kBreaching ? "Breaching" : "NonBreaching";
}

// CloudWatch's own sentences.
std::string reason(const AlarmSettings& s, const AlarmVerdict& verdict, const Points& points,
                   const Json& alarm, double fast) {
  if (verdict.state == AlarmState::kInsufficientData)
    return fmt::format("Insufficient Data: {} datapoints were unknown.", points.values.size());
  std::string shown;
  int there = 0;
  for (std::size_t i = points.values.size(); i-- > 0 && there < s.evaluation_periods;) {
    if (!points.values[i]) continue;
    const double at =
        static_cast<double>(points.first_s + static_cast<std::int64_t>(i) * points.period_s) / fast;
    shown += fmt::format("{}{} ({})", there == 0 ? "" : ", ", *points.values[i], short_time(at));
    ++there;
  }
  const int lacking = verdict.used - there;
  const std::string missing = lacking > 0
                                  ? fmt::format("{} missing datapoint{} treated as [{}]", lacking,
                                                lacking == 1 ? " was" : "s were", treated_as(s.missing))
                                  : "";
  if (there == 0)
    return fmt::format("Threshold Crossed: no datapoints were received for {} period{} and {}.", lacking,
                       lacking == 1 ? "" : "s", missing);
  const bool rings = verdict.state == AlarmState::kAlarm;
  const int counted = rings ? verdict.breaching : verdict.used - verdict.breaching;
  return fmt::format(
      "Threshold Crossed: {} out of the last {} datapoints [{}]{} {}{} the threshold ({}) (minimum {} "
      "datapoint{} "
      "for {} -> {} transition).",
      counted, verdict.used, shown, missing.empty() ? "" : " and " + missing, counted == 1 ? "was " : "were ",
      (rings ? "" : "not ") + std::string(relation(s.comparison)), s.threshold,
      rings ? s.datapoints_to_alarm : s.evaluation_periods - s.datapoints_to_alarm + 1,
      (rings ? s.datapoints_to_alarm : s.evaluation_periods - s.datapoints_to_alarm + 1) == 1 ? "" : "s",
      alarm.value("StateValue", ""), capacity::alarm_state_name(verdict.state));
}

Json reason_data(const AlarmSettings& s, const Points& points, const Json& alarm, base::WallTime now,
                 double fast) {
  Json recent = Json::array();
  for (const auto& value : points.values) {
    if (value) recent.push_back(*value);
  }
  Json out{
      {"version", "1.0"},
      {"queryDate", base::format_iso8601(now)},
      {"startDate", base::format_iso8601(from_epoch_seconds(static_cast<double>(points.first_s) / fast))},
      {"period", points.period_s},
      {"recentDatapoints", recent},
      {"threshold", s.threshold}};
  copy_members(alarm, out, {"Statistic"});
  if (out.contains("Statistic")) {
    out["statistic"] = out["Statistic"];
    out.erase("Statistic");
  }
  return out;
}

const char* action_list(AlarmState state) {
  if (state == AlarmState::kOk) return kActionLists[0];
  return state == AlarmState::kAlarm ? kActionLists[1] : kActionLists[2];
}

void collect_calls(const Json& alarm, AlarmState state, bool changed, const AlarmSettings& s,
                   const Points& points, std::vector<PolicyCall>& calls) {
  if (!alarm.value("ActionsEnabled", true)) return;
  for (const Json& action : alarm.value(action_list(state), Json::array())) {
    const std::string arn = action;
    if (arn.find(":scalingPolicy:") == std::string::npos) continue;
    PolicyCall call{arn,          alarm.at("AlarmName"), capacity::alarm_state_name(state),
                    changed,      s.comparison,          s.threshold,
                    points.values};
    const auto keep = static_cast<std::size_t>(s.evaluation_periods);
    if (call.points.size() > keep)
      call.points.erase(call.points.begin(), call.points.end() - static_cast<std::ptrdiff_t>(keep));
    calls.push_back(std::move(call));
  }
}

void evaluate_one(World& world, Json& alarm, std::int64_t tick, base::WallTime now, AlarmRound& round) {
  const auto settings = settings_of(alarm);
  if (!settings) return;
  const auto points = read_points(world, alarm, capacity::evaluation_range(*settings), tick);
  if (!points) {
    if (alarm.value("StateReason", "") == points.error().message) return;
    set_alarm_state(world, alarm, AlarmState::kInsufficientData, points.error().message, "", now);
    round.changed = true;
    return;
  }
  const AlarmState before =
      capacity::parse_alarm_state(alarm.value("StateValue", "")).value_or(AlarmState::kInsufficientData);
  const AlarmVerdict verdict = capacity::evaluate_alarm(*settings, points->values, before);
  const bool changed = verdict.state != before;
  if (changed) {
    const double fast = world.settings.fast;
    set_alarm_state(world, alarm, verdict.state, reason(*settings, verdict, *points, alarm, fast),
                    dump(reason_data(*settings, *points, alarm, now, fast)), now);
    round.changed = true;
  }
  collect_calls(alarm, verdict.state, changed, *settings, *points, round.calls);
}

void call_for_states_set_by_hand(World& world, std::int64_t cloud_now, AlarmRound& round) {
  for (const std::string& name : std::exchange(world.scaling.set_by_hand, {})) {
    const auto it = world.alarms.find(name);
    if (it == world.alarms.end()) continue;
    const auto settings = settings_of(it->second);
    const auto state = capacity::parse_alarm_state(it->second.value("StateValue", ""));
    if (!settings || !state) continue;
    const auto points = read_points(world, it->second, capacity::evaluation_range(*settings), cloud_now);
    collect_calls(it->second, *state, true, *settings, points.value_or(Points{}), round.calls);
  }
}

}  // namespace

void note_alarm_history(World& world, const std::string& alarm, const char* type, const std::string& summary,
                        const Json& data, base::WallTime now) {
  world.scaling.history.push_front({{"AlarmName", alarm},
                                    {"AlarmType", "MetricAlarm"},
                                    {"Timestamp", epoch_seconds(now)},
                                    {"HistoryItemType", type},
                                    {"HistorySummary", summary},
                                    {"HistoryData", dump(data)}});
  if (world.scaling.history.size() > kMaxHistory) world.scaling.history.pop_back();
}

bool set_alarm_state(World& world, Json& alarm, AlarmState state, const std::string& reason,
                     const std::string& data, base::WallTime now) {
  const std::string before = alarm.value("StateValue", ""), after = capacity::alarm_state_name(state);
  const Json old{{"stateValue", before}, {"stateReason", alarm.value("StateReason", "")}};
  alarm["StateReason"] = reason;
  if (data.empty())
    alarm.erase("StateReasonData");
  else
    alarm["StateReasonData"] = data;
  alarm["StateUpdatedTimestamp"] = epoch_seconds(now);
  if (before == after) return false;
  alarm["StateValue"] = after;
  alarm["StateTransitionedTimestamp"] = epoch_seconds(now);
  const std::string name = alarm.at("AlarmName");
  note_alarm_history(
      world, name, "StateUpdate", fmt::format("Alarm updated from {} to {}", before, after),
      {{"version", "1.0"}, {"oldState", old}, {"newState", {{"stateValue", after}, {"stateReason", reason}}}},
      now);
  if (!alarm.value("ActionsEnabled", true)) return true;
  for (const Json& action : alarm.value(action_list(state), Json::array())) {
    const std::string arn = action;
    const bool policy = arn.find(":scalingPolicy:") != std::string::npos;
    note_alarm_history(world, name, "Action",
                       policy ? fmt::format("Successfully executed action {}", arn)
                              : fmt::format("Action {} is not carried out by this cloud", arn),
                       {{"actionState", policy ? "Succeeded" : "Failed"},
                        {"stateUpdateTimestamp", epoch_ms(now)},
                        {"notificationResource", arn}},
                       now);
  }
  return true;
}

void call_alarm_policies(World& world, const Json& alarm) {
  world.scaling.set_by_hand.push_back(alarm.at("AlarmName"));
}

AlarmRound evaluate_alarms(World& world, base::WallTime now) {
  AlarmRound round;
  const auto cloud_now = static_cast<std::int64_t>(std::floor(world.metrics.cloud_now_s()));
  call_for_states_set_by_hand(world, cloud_now, round);
  for (auto& [name, alarm] : world.alarms) {
    const std::int64_t interval = capacity::evaluation_interval_s(alarm_period_s(alarm));
    const std::int64_t tick = cloud_now / interval * interval;
    const auto seen = world.scaling.evaluated.try_emplace(name, tick);
    if (seen.second || seen.first->second >= tick)
      continue;  // a new alarm waits for its first whole interval
    seen.first->second = tick;
    evaluate_one(world, alarm, tick, now, round);
  }
  // A deleted alarm that is made again is a new one.
  std::erase_if(world.scaling.evaluated, [&](const auto& row) { return world.alarms.count(row.first) == 0; });
  return round;
}

}  // namespace headroom::cloud
