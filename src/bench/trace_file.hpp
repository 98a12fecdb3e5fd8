// Trace files: when requests arrived, for `simulate` and `plan --trace`.
//
// CSV with a header line: the column named timestamp, time, t_s or at_s (any case), or one of timestamp_ms,
// time_ms, t_ms and at_ms, else the first. JSON lines: "t_s", "timestamp", "t_ms" or "timestamp_ms". A
// timestamp is a number, of seconds or, where its name ends in _ms, of milliseconds, or a date with time (ISO
// 8601 or "YYYY-MM-DD hh:mm:ss[.fraction]"); a number above 1e11 s is taken for the wrong unit and refused.
// Times begin at the first. Out of order is sorted. With a column `count` a line stands for so many arrivals,
// spread evenly over `period_s` (60) from its time on. Reads the one file named. Thread safe. Errors:
// kNotFound, kInvalidData (names the line and what was expected), kResourceExhausted (over 512 MiB).
#pragma once

#include <string>

#include "base/result.hpp"
#include "capacity/sim_load.hpp"

namespace headroom::bench {

base::Result<capacity::Trace> read_trace(const std::string& path);
base::Result<capacity::Trace> parse_trace(const std::string& text, const std::string& name);

}  // namespace headroom::bench
