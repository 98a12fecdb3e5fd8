// One minus the sum of the smaller counts.
#include "stats/binomial.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::stats {

double binomial_tail(std::uint64_t events, std::uint64_t trials, double p) {
  double log_term = static_cast<double>(trials) * std::log1p(-p);
  double below = 0;
  for (std::uint64_t k = 0; k < events; ++k) {
    below += std::exp(log_term);
    log_term +=
        std::log(static_cast<double>(trials - k) / static_cast<double>(k + 1)) + std::log(p) - std::log1p(-p);
  }
  return std::max(0.0, 1 - below);
}

}  // namespace headroom::stats
