// SystemClock: the real clocks.
#include "base/clock.hpp"

namespace headroom::base {

SteadyTime SystemClock::steady() const { return std::chrono::steady_clock::now(); }
WallTime SystemClock::wall() const { return std::chrono::system_clock::now(); }

SystemClock& SystemClock::instance() {
  static SystemClock clock;
  return clock;
}

}  // namespace headroom::base
