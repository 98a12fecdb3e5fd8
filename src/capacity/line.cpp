// Secant, weighted line, scatter.
#include "capacity/line.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom::capacity {
namespace {

constexpr double kFrom = 0.5, kTo = 1.6;  // of the crossing: what counts as near
constexpr double kModelError = 0.05;      // of the SLO, per unit of relative distance
constexpr double kSlopePrior = 0.15;      // relative sd
constexpr double kLeastError = 0.0005;    // of the SLO: clocks and rounding
constexpr double kManyServices = 20;      // summed: their sum has a shape that is known
constexpr double kMostSkew = 6;
constexpr double kModelShare = 0.7;     // the rest is the sample's own p95, which knows what no model does
constexpr double kRoundsThatSee = 100;  // a rung this long has the slow noise in its own spread

// Standard error of a rung's p95: of the mean, and of 1.645 sd.
double p95_error(const stats::RoundSummary& s) {
  return s.mean_error() * std::sqrt(1 + stats::kZ95 * stats::kZ95 / 2);
}

// Sums of a weighted fit y = a + b x about x = 0.
struct Fit {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  void add(double weight, double at, double value) {
    w += weight;
    x += weight * at;
    y += weight * value;
    xx += weight * at * at;
    xy += weight * at * value;
  }
  double determinant() const { return w * xx - x * x; }
  double slope() const { return (w * xy - x * y) / determinant(); }
  double value() const { return (xx * y - x * xy) / determinant(); }  // at x = 0
  double value_variance() const { return xx / determinant(); }
  double slope_variance() const { return w / determinant(); }
  double covariance() const { return -x / determinant(); }
};

}  // namespace

std::vector<SteeringPoint> steering_points(std::span<const LinePoint> points, double scatter) {
  double skew = 0, weight = 0;
  for (const LinePoint& point : points) {
    skew += point.summary.rounds * std::clamp(point.summary.skew, 0.0, kMostSkew) * std::sqrt(point.n);
    weight += point.summary.rounds;
  }
  if (weight > 0) skew /= weight;
  std::vector<SteeringPoint> out;
  for (const LinePoint& point : points) {
    const stats::RoundSummary& s = point.summary;
    const double unseen = scatter * s.mean * std::sqrt(std::max(0.0, 1 - s.rounds / kRoundsThatSee));
    const double quantile = stats::kZ95 + skew / std::sqrt(point.n) * (stats::kZ95 * stats::kZ95 - 1) / 6;
    const double modelled = s.mean + quantile * std::hypot(s.sigma, unseen);
    const double shared = kModelShare * std::min(1.0, point.n / kManyServices);
    out.push_back({point.n, shared * modelled + (1 - shared) * s.p95, p95_error(s)});
  }
  return out;
}

std::optional<double> secant_crossing(std::span<const SteeringPoint> points, double slo_ms) {
  if (points.empty()) return std::nullopt;
  std::vector<SteeringPoint> near(points.begin(), points.end());
  std::sort(near.begin(), near.end(), [&](const SteeringPoint& a, const SteeringPoint& b) {
    return std::abs(a.p95 - slo_ms) < std::abs(b.p95 - slo_ms);
  });
  const double proportional = near[0].n * slo_ms / near[0].p95;
  if (near.size() < 2) return proportional;
  const double slope = (near[0].p95 - near[1].p95) / (near[0].n - near[1].n);
  // A flat piece of the curve (workers that stand idle) points anywhere; at least a tenth of the proportion.
  return slope > 0.1 * near[0].p95 / near[0].n ? near[0].n + (slo_ms - near[0].p95) / slope : proportional;
}

std::optional<Crossing> line_crossing(std::span<const SteeringPoint> points, double slo_ms, double near) {
  Fit fit;
  std::size_t used = 0;
  for (const SteeringPoint& point : points) {
    if (point.n < kFrom * near || point.n > kTo * near) continue;
    const double away = (point.n - near) / near;
    const double error = std::hypot(std::max(point.error, kLeastError * slo_ms), kModelError * away * slo_ms);
    fit.add(1 / (error * error), point.n - near, point.p95);
    ++used;
  }
  if (used == 0) return std::nullopt;
  const double slope = slo_ms / near, spread = kSlopePrior * slope;
  fit.xx += 1 / (spread * spread);  // the prior is one observation of the slope alone
  fit.xy += slope / (spread * spread);
  const double b = fit.slope();
  if (!(b > 0)) return std::nullopt;
  const double beyond = (slo_ms - fit.value()) / b;
  const double variance =
      fit.value_variance() + 2 * beyond * fit.covariance() + beyond * beyond * fit.slope_variance();
  return Crossing{near + beyond, std::sqrt(std::max(0.0, variance)) / b};
}

std::optional<double> scatter_between(std::span<const LinePoint> points, double least_n) {
  std::vector<double> x, y, v;
  for (const LinePoint& point : points) {
    if (point.n < least_n) continue;
    x.push_back(point.n);
    y.push_back(point.summary.mean / point.n);
    const double error = std::max(point.summary.mean_error(), 1e-4 * point.summary.mean) / point.n;
    v.push_back(error * error);
  }
  if (x.size() < 3) return std::nullopt;
  Fit fit;
  for (std::size_t i = 0; i < x.size(); ++i) fit.add(1 / v[i], x[i], y[i]);
  if (!(fit.determinant() > 0)) return std::nullopt;
  const double a = fit.value(), b = fit.slope();
  // Cochran's Q about the line; its expectation is (k - 2) + tau^2 * c, c = sum of w (1 - leverage).
  double q = 0, c = 0, level = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rest = y[i] - a - b * x[i];
    const double leverage =
        (fit.value_variance() + 2 * x[i] * fit.covariance() + x[i] * x[i] * fit.slope_variance()) / v[i];
    q += rest * rest / v[i];
    c += (1 - leverage) / v[i];
    level += y[i] / static_cast<double>(x.size());
  }
  if (!(c > 0) || !(level > 0)) return std::nullopt;
  const double tau2 = (q - (static_cast<double>(x.size()) - 2)) / c;
  return std::sqrt(std::max(0.0, tau2)) / level;
}

}  // namespace headroom::capacity
