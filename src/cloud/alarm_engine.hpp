// Alarm engine: evaluates the alarms of the world when their turn comes, changes their states, keeps the
// history, and says which scaling policies they call.
//
// The rules are capacity/alarm_rules.hpp; here are the metrics, the texts and the times. An alarm is looked
// at once in each evaluation interval (10 s for high-resolution periods, else a minute) of cloud time
// (metric_store.hpp), when the interval ends; intervals that were slept through are not made up for. A policy
// among the actions of the present state is called at every evaluation, other actions are noted in the
// history when the state changes and never carried out. Not thread safe: the caller locks the world. Sources:
// CloudWatch user guide "Using CloudWatch alarms"; API DescribeAlarmHistory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/alarm_rules.hpp"
#include "cloud/world.hpp"

namespace headroom::cloud {

// A policy that an alarm in its present state calls.
struct PolicyCall {
  std::string policy_arn;
  std::string alarm;
  std::string state;     // of the alarm
  bool changed = false;  // the state is new
  capacity::Comparison comparison = capacity::Comparison::kGreater;
  double threshold = 0;
  std::vector<std::optional<double>> points;  // of the evaluation periods, newest last
};

struct AlarmRound {
  std::vector<PolicyCall> calls;
  bool changed = false;  // something that is saved changed
};

AlarmRound evaluate_alarms(World& world, base::WallTime now);

// Sets the state and writes the history; also for SetAlarmState. No-op on an equal state except the reason.
// Returns whether the state changed.
bool set_alarm_state(World& world, Json& alarm, capacity::AlarmState state, const std::string& reason,
                     const std::string& reason_data, base::WallTime now);

// The alarm's state was set by hand: its policies are called in the next round, with the newest datapoints.
void call_alarm_policies(World& world, const Json& alarm);

void note_alarm_history(World& world, const std::string& alarm, const char* type, const std::string& summary,
                        const Json& data, base::WallTime now);

}  // namespace headroom::cloud
