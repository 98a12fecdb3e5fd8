// Divides cores.
#include "engine/shares.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace headroom::engine {

Shares choose_shares(int cores, int workers, int threads) {
  const int chosen = workers > 0 ? workers : std::min(2, std::max(1, cores));
  return {chosen, threads > 0 ? threads : std::clamp(cores / chosen, 1, kMaxWorkers)};
}

std::vector<Shares> candidate_shares(int cores) {
  std::vector<Shares> found{choose_shares(cores, 0, 0)};
  for (const int workers : {cores, 4, 2, 1}) {
    if (workers < 1 || workers > std::min(cores, kMaxWorkers)) continue;
    const Shares shares{workers, std::min(cores / workers, kMaxWorkers)};
    if (std::find(found.begin(), found.end(), shares) == found.end()) found.push_back(shares);
  }
  return found;
}

base::Result<void> check_shares(const Shares& shares) {
  const auto within = [](int n) { return n >= 1 && n <= kMaxWorkers; };
  if (within(shares.workers) && within(shares.threads)) return {};
  return base::fail(base::ErrorCode::kInvalidArgument,
                    fmt::format("workers ({}) and threads ({}) must be 1 to {}", shares.workers,
                                shares.threads, kMaxWorkers));
}

}  // namespace headroom::engine
