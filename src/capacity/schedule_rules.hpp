// Schedules of scheduled scaling: at(...), rate(...) and cron(...), and when they run next.
//
// Pure, no clock, no time zone data: the caller hands the offset of a zone as a function. It changes no
// capacity. Times are epoch seconds. cron has AWS's six fields (minutes hours day-of-month month day-of-week
// year) with * ? , - / L and #, names of months and days, Sunday = 1; W is refused. Of day-of-month and
// day-of-week one must be "?". Thread safety: immutable. Errors: kInvalidArgument, says what is wrong.
// Source: Application Auto Scaling user guide, "Schedule recurring scaling actions using cron expressions".
// A local time that a change of the clocks skips does not run; one that it repeats runs once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headroom::capacity {

struct CronDay {
  int weekday = -1;  // 1 = Sunday; -1: a day of the month
  int nth = 0;       // of the month; 0: every one, -1: the last one
};

struct Schedule {
  enum class Kind { kAt, kRate, kCron } kind = Kind::kAt;
  std::int64_t at_local_s = 0;  // kAt: the named local time, read as if it were UTC
  std::int64_t every_s = 0;     // kRate
  // kCron: allowed values; an empty list allows all.
  std::vector<int> minutes, hours, days, months, years;
  std::vector<CronDay> weekdays;
  bool last_day_of_month = false;
};

base::Result<Schedule> parse_schedule(const std::string& text);

using ZoneOffset = std::function<int(std::int64_t utc_s)>;  // seconds east of UTC

// The first run after `after_s`; for a rate counted from `from_s`. nullopt: never again (within 8 years).
std::optional<std::int64_t> next_run(const Schedule& schedule, std::int64_t after_s, std::int64_t from_s,
                                     const ZoneOffset& offset);

}  // namespace headroom::capacity
