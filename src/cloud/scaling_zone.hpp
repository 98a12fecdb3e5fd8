// Offsets of time zones, read from the machine's zone files (TZif, /usr/share/zoneinfo).
//
// "UTC" and its like need no file. Names are checked before they touch a path. After the last recorded
// transition the rule of the file's footer holds: files of the "slim" kind have no transitions after 2007. A
// zone without a rule keeps its last offset as long as that transition is still to come. Immutable after
// load; safe to share. Errors: kNotFound for an unknown zone, kInvalidData for one whose rule is needed and
// cannot be read (names the zone). Source: RFC 8536.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cloud/scaling_zone_rule.hpp"

namespace headroom::cloud {

class TimeZone {
 public:
  static base::Result<TimeZone> load(const std::string& name, base::WallTime now);
  // What load() makes of a file's content.
  static base::Result<TimeZone> parse(const std::string& name, const std::string& data, base::WallTime now);
  int offset_s(std::int64_t utc_s) const;  // east of UTC

 private:
  struct Transition {
    std::int64_t at = 0;
    int offset = 0;
  };
  std::vector<Transition> transitions_;
  int first_ = 0;
  std::optional<ZoneRule> rule_;
};

}  // namespace headroom::cloud
