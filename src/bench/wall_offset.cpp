// Two clocks read as one moment.
#include "bench/wall_offset.hpp"

#include <fmt/format.h>

namespace headroom::bench {
namespace {

constexpr int kTries = 5;
constexpr base::Duration kCloseEnough = std::chrono::milliseconds(1);
constexpr base::Duration kMatters = std::chrono::seconds(1);

}  // namespace

Moment read_moment(const base::Clock& clock) {
  Moment best;
  std::optional<base::Duration> narrowest;
  for (int i = 0; i < kTries; ++i) {
    const auto before = clock.steady();
    const auto wall = clock.wall();
    const base::Duration took = clock.steady() - before;
    if (narrowest && took >= *narrowest) continue;
    narrowest = took;
    best = {before + took / 2, wall};
    if (took <= kCloseEnough) break;
  }
  return best;
}

base::SteadyTime WallOffset::steady_at(base::WallTime wall) const {
  return base::SteadyTime(std::chrono::duration_cast<base::Duration>(wall.time_since_epoch()) - now_);
}

std::optional<std::string> WallOffset::note() const {
  const base::Duration moved = now_ - first_;
  if (moved <= kMatters && moved >= -kMatters) return std::nullopt;
  return fmt::format(
      "this machine's clock was set by {:+.1f} s while it measured (or it slept): what it saw itself is "
      "timed "
      "by a clock that nobody sets, and the new instance's log is placed by the clock as it was set last",
      base::to_s(moved));
}

}  // namespace headroom::bench
