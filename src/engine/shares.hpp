// Shares: how many segments are synthesised at once (workers) and with how many threads each.
//
// Does not measure anything (calibration.hpp does) and reads no file (cpu_limits.hpp does). Pure, thread
// safe. Units: cores. Errors: kInvalidArgument (workers or threads outside 1..256), names both.
#pragma once

#include <vector>

#include "base/result.hpp"

namespace headroom::engine {

inline constexpr int kMaxWorkers = 256;

struct Shares {
  int workers = 1;
  int threads = 1;
  friend bool operator==(const Shares&, const Shares&) = default;
};

// Two workers where there are cores for them, so that a short request need not wait for a long one; the rest
// of the cores become threads of each worker. What is not 0 stays as wished.
Shares choose_shares(int cores, int workers, int threads);

// The ways to divide the cores that are worth measuring, the one of choose_shares first: as many workers as
// cores, four, two and one, as far as they fit. One core has one way.
std::vector<Shares> candidate_shares(int cores);

base::Result<void> check_shares(const Shares& shares);

}  // namespace headroom::engine
