// Offsets of time zones, read from the machine's zone files (TZif, /usr/share/zoneinfo).
//
// "UTC" and its like need no file. Names are checked before they touch a path. Times after the last recorded
// transition keep its offset. Immutable after load; safe to share. Errors: kNotFound for an unknown zone.
// Source: RFC 8536.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headroom::cloud {

class TimeZone {
 public:
  static base::Result<TimeZone> load(const std::string& name);
  int offset_s(std::int64_t utc_s) const;  // east of UTC

 private:
  struct Transition {
    std::int64_t at = 0;
    int offset = 0;
  };
  std::vector<Transition> transitions_;
  int first_ = 0;
};

}  // namespace headroom::cloud
