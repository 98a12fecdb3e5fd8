// Alarm rules: from the datapoints of an alarm's metric to its state, as CloudWatch documents it.
//
// Pure, no clock: used by tts-local and by the simulation. It fetches no data and performs no action. The
// caller hands the datapoints of the evaluation range, the newest last; a missing one is nullopt. Thread
// safety: plain values. No errors. Sources: CloudWatch user guide, "Evaluating an alarm", "Configuring how
// CloudWatch alarms treat missing data" (both tables are in the test) and "Avoiding premature transitions".
// CloudWatch looks at more than N periods; how many is not documented, its examples show N + 2, which is
// taken.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom::capacity {

enum class AlarmState { kOk, kAlarm, kInsufficientData };
const char* alarm_state_name(AlarmState state);  // OK, ALARM, INSUFFICIENT_DATA
std::optional<AlarmState> parse_alarm_state(std::string_view text);

enum class MissingData { kMissing, kIgnore, kBreaching, kNotBreaching };
std::optional<MissingData> parse_missing_data(std::string_view text);  // AWS's spelling

enum class Comparison { kGreater, kGreaterOrEqual, kLess, kLessOrEqual };
std::optional<Comparison> parse_comparison(std::string_view text);  // GreaterThanThreshold, ...
bool breaches(Comparison comparison, double value, double threshold);

struct AlarmSettings {
  int evaluation_periods = 1;   // N
  int datapoints_to_alarm = 1;  // M
  double threshold = 0;
  Comparison comparison = Comparison::kGreater;
  MissingData missing = MissingData::kMissing;
};

int evaluation_range(const AlarmSettings& settings);  // how many datapoints evaluate_alarm looks at

// How often an alarm of this period is evaluated: every 10 s for high-resolution periods, else every minute.
int evaluation_interval_s(int period_s);

struct AlarmVerdict {
  AlarmState state = AlarmState::kInsufficientData;
  int breaching = 0;  // of the datapoints that were used, filled ones included
  int used = 0;
  std::optional<double> newest;  // the newest datapoint that is there
};

// `points`: oldest first, evaluation_range() of them (fewer are taken as missing before).
AlarmVerdict evaluate_alarm(const AlarmSettings& settings, std::span<const std::optional<double>> points,
                            AlarmState current);

}  // namespace headroom::capacity
