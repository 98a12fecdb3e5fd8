// ClockLook: the steady and the wall clock read together, which turns the kernel's wall-clock stamps into
// steady time.
//
// Pure: the clocks are given. It keeps no pair and sets no clock. A pair is good to half of what passed
// between its two steady readings, so one that the scheduler tore apart is read again. Thread safety:
// immutable. No errors.
#pragma once

#include <optional>

#include "base/clock.hpp"

namespace headroom::load {

struct ClockLook {
  base::SteadyTime at;          // no sooner than the pair was read
  base::Duration wall_ahead{};  // the wall clock's reading then, less the steady clock's
};

constexpr base::Duration kLongestLook = std::chrono::microseconds{20};
// An older stamp is not believed: the wall clock was set in between.
constexpr base::Duration kOldestStamp = std::chrono::seconds{10};
constexpr int kMostLooks = 5;  // then the best of them

// `steady()` and `wall()` read the clocks, each as the time since its epoch.
template <class Steady, class Wall>
ClockLook take_look(Steady steady, Wall wall) {
  ClockLook best;
  base::Duration shortest = base::Duration::max();
  for (int i = 0; i < kMostLooks && shortest > kLongestLook; ++i) {
    const base::Duration before = steady();
    const base::Duration between = wall();
    const base::Duration after = steady();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {base::SteadyTime(after), between - before - shortest / 2};
  }
  return best;
}

// When the kernel stamped, in steady time. nullopt: after the look, or the wall clock was set in between.
inline std::optional<base::SteadyTime> arrival(const ClockLook& look, base::Duration stamp,
                                               base::Duration oldest) {
  const base::SteadyTime when(stamp - look.wall_ahead);
  if (when > look.at || look.at - when >= oldest) return std::nullopt;
  return when;
}

}  // namespace headroom::load
