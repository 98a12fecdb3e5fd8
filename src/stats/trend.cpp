// Mann-Kendall over batch means.
#include "stats/trend.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace headroom::stats {
namespace {

constexpr std::size_t kBatches = 10;
constexpr std::size_t kMinSamples = 30;
constexpr double kCriticalZ = 2.58;

double mean_of(std::span<const double> part) {
  return std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(part.size());
}

}  // namespace

std::optional<Trend> trend(std::span<const double> series, double min_change) {
  if (series.size() < kMinSamples) return std::nullopt;
  std::array<double, kBatches> batch{};
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t from = series.size() * i / kBatches;
    const std::size_t to = series.size() * (i + 1) / kBatches;
    batch[i] = mean_of(series.subspan(from, to - from));
  }
  double s = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    for (std::size_t j = i + 1; j < kBatches; ++j)
      s += batch[j] > batch[i] ? 1 : batch[j] < batch[i] ? -1 : 0;
  }
  const double n = kBatches;
  const double variance = n * (n - 1) * (2 * n + 5) / 18;
  Trend result;
  result.z = s == 0 ? 0 : (s - std::copysign(1.0, s)) / std::sqrt(variance);  // continuity correction
  const std::size_t third = series.size() / 3;
  const double mean = mean_of(series);
  const double difference = mean_of(series.last(third)) - mean_of(series.first(third));
  result.change = mean == 0 ? 0 : difference / std::abs(mean);
  result.moving = std::abs(result.z) > kCriticalZ && std::abs(result.change) > min_change;
  return result;
}

}  // namespace headroom::stats
