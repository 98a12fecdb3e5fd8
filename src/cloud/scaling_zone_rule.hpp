// ZoneRule: the offsets of a time zone for all years, as a POSIX TZ string has them
// ("CET-1CEST,M3.5.0,M10.5.0/3").
//
// Understood: both names, their offsets, and the three forms of a day (Mm.w.d, Jn, n) with times from -167 to
// 167 hours; not the names of files. Immutable; pure. Units: seconds, east of UTC positive (POSIX writes them
// the other way round). Errors: nullopt for anything else. Source: RFC 8536 section 3.3, POSIX XBD 8.3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom::cloud {

class ZoneRule {
 public:
  static std::optional<ZoneRule> parse(std::string_view text);
  int offset_s(std::int64_t utc_s) const;

 private:
  struct Day {
    enum class Form { kMonthWeekDay, kJulian, kDayOfYear } form = Form::kMonthWeekDay;
    int month = 0, week = 0, day = 0;
    int time_s = 2 * 3600;  // after midnight, of the clock that is in force until then
  };
  friend class ZoneRuleReader;

  static std::int64_t begin_of(const Day& day, int year);  // as if the clock showed UTC

  int standard_s_ = 0, summer_s_ = 0;
  bool changes_ = false;
  Day to_summer_, to_standard_;
};

}  // namespace headroom::cloud
