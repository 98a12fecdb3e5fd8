// ScalingState: what alarms and scaling remember beside the records that AWS returns.
//
// Plain data, part of the world; saved with it. Times in ScalingMemory and `evaluated` are cloud seconds
// (metric_store.hpp). Not thread safe: the caller locks the world.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "capacity/scaling_rules.hpp"
#include "cloud/json.hpp"

namespace headroom::cloud {

struct ScalingSettings {
  capacity::CapacityBase base = capacity::CapacityBase::kInService;  // what policies multiply
  bool while_updating = true;  // policies act while an earlier change is still being carried out
};

struct ScalingState {
  ScalingSettings settings;                               // not saved
  std::vector<std::string> set_by_hand;                   // alarms that SetAlarmState changed; not saved
  std::map<std::string, std::int64_t> evaluated;          // by alarm: when last; not saved
  std::map<std::string, capacity::ScalingMemory> memory;  // by resource id
  std::deque<Json> history;                               // as DescribeAlarmHistory returns it, newest first
  std::vector<Json> scheduled;                            // as DescribeScheduledActions returns them
  std::map<std::string, double> scheduled_after;          // by ARN: epoch seconds up to which it has run
};

// `fast`: cloud seconds in a real one; memories are saved in real time.
Json save_scaling(const ScalingState& state, double fast);
void load_scaling(const Json& saved, double fast, ScalingState& state);  // throws Json::exception

}  // namespace headroom::cloud
