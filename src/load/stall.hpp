// Stall: when this host did not give the load driver its core, read from the driver's own samples.
//
// Each sample says by its distance from the one before, and by how late a lane's heartbeat came, how long
// nothing ran here. A request that was under way then may owe part of its latency to this host, not to the
// server. Says nothing about a server that stands still by itself: its clients go on sampling. Pure. Errors:
// none.
#pragma once

#include <vector>

#include "base/clock.hpp"
#include "load/record.hpp"

namespace headroom::load {

struct Stall {
  base::SteadyTime from{}, to{};
  bool operator==(const Stall&) const = default;
};

// Stalls of at least `least`, in order, those that overlap made one. `samples` in order, asked for every
// `every`.
std::vector<Stall> find_stalls(const std::vector<Sample>& samples, base::Duration every,
                               base::Duration least);

// Whether any of them lies, at least in part, within [from, to].
bool overlaps(const std::vector<Stall>& stalls, base::SteadyTime from, base::SteadyTime to);

// How much of [from, to] lies within them. `stalls` as find_stalls gives them: none counts twice.
base::Duration stood_still(const std::vector<Stall>& stalls, base::SteadyTime from, base::SteadyTime to);

}  // namespace headroom::load
