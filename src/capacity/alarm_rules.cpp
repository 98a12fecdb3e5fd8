// M of N with missing data.
#include "capacity/alarm_rules.hpp"

#include <algorithm>
#include <vector>

namespace headroom::capacity {
namespace {

constexpr int kExtraPeriods = 2;

// "Alarms always go into ALARM state when the oldest available breaching datapoint during the evaluation
// periods is at least as old as Datapoints to Alarm, and all more recent ones are breaching or missing."
// The guide's tables show that a datapoint within the threshold anywhere in the range forbids it.
bool breaching_for_long(const AlarmSettings& s, std::span<const std::optional<double>> points) {
  int oldest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i]) continue;
    if (!breaches(s.comparison, *points[i], s.threshold)) return false;
    const int age = static_cast<int>(points.size() - i);
    if (age <= s.evaluation_periods) oldest = std::max(oldest, age);
  }
  return oldest >= s.datapoints_to_alarm;
}

}  // namespace

const char* alarm_state_name(AlarmState state) {
  if (state == AlarmState::kOk) return "OK";
  return state == AlarmState::kAlarm ? "ALARM" : "INSUFFICIENT_DATA";
}

std::optional<AlarmState> parse_alarm_state(std::string_view text) {
  for (const AlarmState state : {AlarmState::kOk, AlarmState::kAlarm, AlarmState::kInsufficientData}) {
    if (text == alarm_state_name(state)) return state;
  }
  return std::nullopt;
}

std::optional<MissingData> parse_missing_data(std::string_view text) {
  if (text == "missing") return MissingData::kMissing;
  if (text == "ignore") return MissingData::kIgnore;
  if (text == "breaching") return MissingData::kBreaching;
  if (text == "notBreaching") return MissingData::kNotBreaching;
  return std::nullopt;
}

std::optional<Comparison> parse_comparison(std::string_view text) {
  if (text == "GreaterThanThreshold") return Comparison::kGreater;
  if (text == "GreaterThanOrEqualToThreshold") return Comparison::kGreaterOrEqual;
  if (text == "LessThanThreshold") return Comparison::kLess;
  if (text == "LessThanOrEqualToThreshold") return Comparison::kLessOrEqual;
  return std::nullopt;
}

bool breaches(Comparison comparison, double value, double threshold) {
  switch (comparison) {
    case Comparison::kGreater:
      return value > threshold;
    case Comparison::kGreaterOrEqual:
      return value >= threshold;
    case Comparison::kLess:
      return value < threshold;
    case Comparison::kLessOrEqual:
      return value <= threshold;
  }
  return false;
}

int evaluation_range(const AlarmSettings& settings) { return settings.evaluation_periods + kExtraPeriods; }

int evaluation_interval_s(int period_s) { return period_s < 60 ? 10 : 60; }

AlarmVerdict evaluate_alarm(const AlarmSettings& s, std::span<const std::optional<double>> points,
                            AlarmState current) {
  const auto range = static_cast<std::size_t>(evaluation_range(s));
  if (points.size() > range) points = points.subspan(points.size() - range);
  AlarmVerdict verdict;
  int there = 0;
  for (auto it = points.rbegin(); it != points.rend() && there < s.evaluation_periods; ++it) {
    if (!*it) continue;
    if (!verdict.newest) verdict.newest = **it;
    ++there;
    verdict.breaching += breaches(s.comparison, **it, s.threshold) ? 1 : 0;
  }
  const int lacking = s.evaluation_periods - there;
  const bool fills = s.missing == MissingData::kBreaching || s.missing == MissingData::kNotBreaching;
  verdict.used = fills ? s.evaluation_periods : there;
  if (s.missing == MissingData::kBreaching) verdict.breaching += lacking;
  if (verdict.breaching >= s.datapoints_to_alarm) {
    verdict.state = AlarmState::kAlarm;
  } else if (lacking == 0 || fills) {
    verdict.state = AlarmState::kOk;
  } else if (there == 0) {
    verdict.state = s.missing == MissingData::kIgnore ? current : AlarmState::kInsufficientData;
  } else if (breaching_for_long(s, points)) {
    verdict.state = s.missing == MissingData::kIgnore ? current : AlarmState::kAlarm;
  } else {
    // Nothing but breaching datapoints, too few and too young to alarm: the next one decides.
    verdict.state = verdict.breaching == there ? current : AlarmState::kOk;
  }
  return verdict;
}

}  // namespace headroom::capacity
