// Nearest-rank percentiles and moments.
#include "stats/percentile.hpp"

#include <algorithm>
#include <cmath>

namespace headroom::stats {
namespace {

std::size_t rank_of(double p, std::size_t count) {
  // 1e-9: 0.95 * 20 is 19.000000000000004 in binary and must stay rank 19.
  const double rank = std::ceil(p * static_cast<double>(count) - 1e-9);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(rank, 1.0)), 1, count);
}

}  // namespace

std::optional<double> percentile(std::span<const double> samples, double p) {
  if (samples.empty() || !(p > 0) || p > 1) return std::nullopt;
  std::vector<double> copy(samples.begin(), samples.end());
  const auto at = copy.begin() + static_cast<std::ptrdiff_t>(rank_of(p, copy.size()) - 1);
  std::nth_element(copy.begin(), at, copy.end());
  return *at;
}

std::vector<double> percentiles(std::span<const double> samples, std::span<const double> ps) {
  std::vector<double> result;
  if (samples.empty()) return result;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  for (const double p : ps) result.push_back(sorted[rank_of(p, sorted.size()) - 1]);
  return result;
}

std::optional<Moments> moments(std::span<const double> samples) {
  if (samples.empty()) return std::nullopt;
  Moments m;
  m.count = samples.size();
  m.min = m.max = samples[0];
  double sum_of_squares = 0;  // Welford: stable for long series with a small spread
  double n = 0;
  for (const double x : samples) {
    n += 1;
    const double delta = x - m.mean;
    m.mean += delta / n;
    sum_of_squares += delta * (x - m.mean);
    m.min = std::min(m.min, x);
    m.max = std::max(m.max, x);
  }
  if (m.count > 1) m.sd = std::sqrt(sum_of_squares / (n - 1));
  return m;
}

std::optional<double> median(std::span<const double> samples) { return percentile(samples, 0.5); }

bool all_finite(std::span<const double> samples) {
  return std::all_of(samples.begin(), samples.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace headroom::stats
