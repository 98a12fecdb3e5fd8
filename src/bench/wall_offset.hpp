// WallOffset: this machine's wall clock against its steady one, to place what others stamped with wall time.
//
// The wall clock may be set at any moment (NTP, by hand, after sleep); the steady one may not. Single
// threaded.
#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"

namespace headroom::bench {

// One moment on both clocks.
struct Moment {
  base::SteadyTime steady{};
  base::WallTime wall{};
};
// Read so closely together that what came between them does not count; the best of a few tries.
Moment read_moment(const base::Clock& clock);

class WallOffset {
 public:
  explicit WallOffset(Moment first) : first_(offset_of(first)), now_(first_) {}
  void see(Moment now) { now_ = offset_of(now); }
  // By the latest reading, since a clock is set in order to be right.
  base::SteadyTime steady_at(base::WallTime wall) const;
  // That the wall clock was set by more than a second between the first and the latest reading.
  std::optional<std::string> note() const;

 private:
  static base::Duration offset_of(Moment moment) {
    return std::chrono::duration_cast<base::Duration>(moment.wall.time_since_epoch()) -
           moment.steady.time_since_epoch();
  }
  base::Duration first_, now_;
};

}  // namespace headroom::bench
