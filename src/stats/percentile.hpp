// Exact percentiles and moments of a set of samples.
//
// Definition: nearest rank (Hyndman and Fan's type 1). The p-th percentile is the smallest sample x such that
// at least p of all samples are <= x. It is always a value that was seen, and "p95 <= SLO" then means exactly
// "at least 95 % of the requests met the SLO", which an interpolated percentile does not. No buckets, no
// sketches. Pure. Samples need not be sorted. Errors: none; an empty set has no percentile (nullopt). NaN
// samples are the caller's fault and are refused by is_finite_set.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace headroom::stats {

// 0 < p <= 1. Outside that, or without samples: nullopt.
std::optional<double> percentile(std::span<const double> samples, double p);
// Several at once, sorting once; in the order of `ps`. Empty if there are no samples.
std::vector<double> percentiles(std::span<const double> samples, std::span<const double> ps);

struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double sd = 0;  // sample standard deviation (n - 1); 0 below two samples
  double min = 0;
  double max = 0;
};
std::optional<Moments> moments(std::span<const double> samples);

// Median by nearest rank.
std::optional<double> median(std::span<const double> samples);

bool all_finite(std::span<const double> samples);

}  // namespace headroom::stats
