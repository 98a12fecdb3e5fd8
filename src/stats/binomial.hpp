// How likely a count is.
//
// Pure; thread safe; no errors. Summed term by term from the logarithms, so that nothing underflows before
// its turn; the error is that of a sum of `events` doubles, the time proportional to `events`.
#pragma once

#include <cstdint>

namespace headroom::stats {

// Probability of `events` or more among `trials` of which each is one with probability p. 0 < p < 1,
// events <= trials + 1.
double binomial_tail(std::uint64_t events, std::uint64_t trials, double p);

}  // namespace headroom::stats
