// Late samples and late heartbeats.
#include "load/stall.hpp"

#include <algorithm>

namespace headroom::load {

std::vector<Stall> find_stalls(const std::vector<Sample>& samples, base::Duration every,
                               base::Duration least) {
  std::vector<Stall> out;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    base::Duration late = samples[i].loop_lag;
    if (i > 0) late = std::max(late, base::Duration(samples[i].at - samples[i - 1].at) - every);
    if (late < least) continue;
    const Stall stall{samples[i].at - late, samples[i].at};
    if (!out.empty() && stall.from <= out.back().to) {
      out.back().from = std::min(out.back().from, stall.from);
      out.back().to = stall.to;
    } else {
      out.push_back(stall);
    }
  }
  return out;
}

bool overlaps(const std::vector<Stall>& stalls, base::SteadyTime from, base::SteadyTime to) {
  return std::any_of(stalls.begin(), stalls.end(),
                     [&](const Stall& stall) { return stall.from <= to && from <= stall.to; });
}

base::Duration stood_still(const std::vector<Stall>& stalls, base::SteadyTime from, base::SteadyTime to) {
  base::Duration sum{};
  for (const Stall& stall : stalls)
    sum += std::max<base::Duration>(std::min(stall.to, to) - std::max(stall.from, from), base::Duration{});
  return sum;
}

}  // namespace headroom::load
