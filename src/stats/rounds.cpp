// Round means, noise ratio, MSER and tolerance factors.
#include "stats/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "stats/percentile.hpp"

namespace headroom::stats {
namespace {

constexpr double kLeastA = 0.05;
constexpr double kHeadErrors = 3, kHeadDeviations = 2;

}  // namespace

double RoundSummary::mean_error() const { return rounds > 0 ? sd * std::sqrt(noise_ratio / rounds) : 0; }

std::vector<double> round_means(std::span<const double> series, int n) {
  std::vector<double> means;
  const auto step = static_cast<std::size_t>(std::max(1, n));
  for (std::size_t at = 0; at + step <= series.size(); at += step)
    means.push_back(moments(series.subspan(at, step))->mean);
  return means;
}

std::optional<RoundSummary> summarise_rounds(std::span<const double> series, int n) {
  RoundSummary r;
  r.count = series.size();
  r.rounds = static_cast<double>(series.size()) / std::max(1, n);
  if (series.size() < 2 || r.rounds < 2) return std::nullopt;
  const Moments all = *moments(series);
  r.mean = all.mean;
  r.sd = all.sd;
  r.p95 = *percentile(series, 0.95);
  if (all.sd > 0) {
    double cubes = 0;
    for (const double x : series) cubes += std::pow((x - all.mean) / all.sd, 3);
    r.skew = cubes / static_cast<double>(series.size());
  }
  const int m = std::max(1, static_cast<int>(r.rounds / 10));
  const auto batches = moments(round_means(series, m * std::max(1, n)));
  if (all.sd > 0 && batches && batches->count > 1) {
    const double per_round = std::max(1, n);
    const double independent = (1 - (1 - 1 / (per_round * per_round)) / (3.0 * m)) / m;
    r.noise_ratio = std::max(1.0, batches->sd * batches->sd / (independent * all.sd * all.sd));
  }
  r.sigma = r.sd * std::sqrt(1 + r.noise_ratio / r.rounds);
  return r;
}

std::size_t transient_length(std::span<const double> means) {
  const std::size_t count = means.size();
  if (count < 4) return 0;
  // From the end, so that the moments of every rest are at hand.
  double sum = 0, squares = 0, best = 0;
  std::size_t cut = 0;
  for (std::size_t from = count; from-- > 0;) {
    sum += means[from];
    squares += means[from] * means[from];
    if (from > count / 2) continue;
    const auto rest = static_cast<double>(count - from);
    const double score = (squares - sum * sum / rest) / (rest * rest);
    if (cut == 0 && from == count / 2) best = score;
    if (score <= best) {
      best = score;
      cut = from;
    }
  }
  if (cut == 0) return 0;
  const Moments head = *moments(means.first(cut));
  const Moments rest = *moments(means.subspan(cut));
  const double difference = std::abs(head.mean - rest.mean);
  const double error =
      rest.sd * std::sqrt(1.0 / static_cast<double>(cut) + 1.0 / static_cast<double>(count - cut));
  return difference > kHeadErrors * error || difference > kHeadDeviations * rest.sd ? cut : 0;
}

std::optional<ToleranceFactors> tolerance_factors(double effective, double z) {
  if (!(effective > 0)) return std::nullopt;
  const double a = 1 - z * z / (2 * effective);
  if (a <= kLeastA) return std::nullopt;
  const double b = kZ95 * kZ95 - z * z / effective;
  const double root = std::sqrt(std::max(0.0, kZ95 * kZ95 - a * b));
  return ToleranceFactors{(kZ95 - root) / a, (kZ95 + root) / a};
}

}  // namespace headroom::stats
