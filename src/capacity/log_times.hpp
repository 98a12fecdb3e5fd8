// Log times: what a new instance's log says of its start, placed on the client's time line.
//
// Pure. The log's times are of other clocks, which may be ahead of the client's or behind. By how much is
// bounded by causality: nothing of the new instance is older than the request for it, nothing was read before
// it was written, and InService comes after ready. Where the times as they stand break this, they are shifted
// together to the latest place that it allows (a log is read within seconds of its writing, while a start
// takes minutes), become bounded, and a note says how far the clocks are apart at least. So no stage is
// negative, and none leaves the clock's span because of a skew. Seconds in notes; durations since any origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "capacity/ttotal.hpp"

namespace headroom::capacity {

struct LogTime {
  std::string name;          // of the stamp
  base::Duration at{};       // as if the log's clock and the client's agreed
  base::Duration seen{};     // when the client had read it
  bool of_instance = false;  // the instance wrote it itself; else it is the log service's time of the line
};

struct LogBounds {
  base::Duration asked{};                    // the new instance was asked for no earlier
  std::optional<base::Duration> in_service;  // it was InService by then
  bool watched = true;                       // the log was looked at from its first line on
};

struct PlacedLog {
  std::vector<Stamp> stamps;       // in the order given
  std::vector<std::string> notes;  // for the artifact
};
PlacedLog place_log_times(const std::vector<LogTime>& times, const LogBounds& bounds);

}  // namespace headroom::capacity
