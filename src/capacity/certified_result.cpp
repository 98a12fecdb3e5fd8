// The interval: proven between pass and failure, narrowed by the line where the noise allows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "capacity/certified.hpp"

namespace headroom::capacity {
namespace {

constexpr double kErrors = 2.4;
constexpr double kLongNoise = 1.5;    // noise ratio above which the line's error is not to be trusted
constexpr double kShapeError = 0.15;  // of the sd: the tail's shape is borrowed, the same in all rungs
constexpr double kUntrusted = 1.5;
constexpr double kNearFrom = 0.5, kNearTo = 1.6;

// The reason of a rung that did not miss the SLO and failed all the same; empty: it was slow.
std::string other_than_slow(const HeldEvidence& held, double slo_ms) {
  const bool slow = held.summary && held.summary->p95 > slo_ms;
  return slow && held.verdict != RungVerdict::kSaturated ? "" : held.reason;
}

}  // namespace

std::optional<double> CertifiedSearch::noise_near(double crossing) const {
  std::optional<double> noise;
  for (const LinePoint& point : points()) {
    if (point.n < kNearFrom * crossing || point.n > kNearTo * crossing) continue;
    noise = std::max(noise.value_or(1), point.summary.noise_ratio);
  }
  return noise;
}

// `ends`, which are proven, narrowed or widened by where the line crosses the SLO.
void CertifiedSearch::apply_line(const Crossing& line, double noise, CertifiedEnds& ends,
                                 std::string& method) const {
  const double slow = slow_noise();
  double variance = line.error * line.error;
  variance += std::pow(slow * line.n, 2) / 2;
  variance += std::pow(kShapeError * deviation_at(line.n) / (settings_.slo_ms / line.n), 2);
  const double reach = kErrors * std::sqrt(variance);
  const double line_low = std::max(0.0, std::floor(line.n - reach));
  const double line_high = std::floor(line.n + reach);
  const bool wide = !ends.high || *ends.high - ends.low > settings_.precision * line.n;
  if (slow > 0) {
    method = "scatter";
    const bool trusted = noise <= kLongNoise;
    ends.low = trusted ? line_low : std::min(ends.low, line_low);
    ends.high = trusted ? line_high : std::max(ends.high.value_or(line_high), line_high);
  } else if (wide && noise <= kLongNoise) {
    method = "line";
    ends.low = std::max(ends.low, line_low);
    ends.high = ends.high ? std::min(*ends.high, line_high) : std::max(line_high, ends.low);
  } else if (noise > kLongNoise) {
    // The line's error is a guess: it only serves where nothing near is proven.
    if (ends.low < kNearFrom * line.n) ends.low = std::max(ends.low, std::floor(line.n - kUntrusted * reach));
    if (!ends.high) ends.high = std::max(ends.low, std::floor(line.n + kUntrusted * reach));
  }
  if (const double stairs = stair(); stairs > 0) {
    // Where on the stair a count lies depends on how its clients happen to be spaced.
    const double half = stairs / 2 + 0.5;
    ends.low = std::max(0.0, std::min(ends.low, std::floor(line.n - half)));
    if (ends.high) ends.high = std::max(*ends.high, std::floor(line.n + half));
  }
}

CertifiedResult CertifiedSearch::result() const {
  CertifiedResult r;
  r.last_pass = last_pass();
  r.first_fail = first_fail();
  if (r.first_fail) r.not_slow = other_than_slow(held_.at(*r.first_fail), settings_.slo_ms);
  r.open_above = !r.first_fail;
  r.interval_method = "certified";
  r.scatter = scatter();
  if (r.last_pass) r.estimate = *r.last_pass;
  CertifiedEnds ends{static_cast<double>(r.last_pass.value_or(0)), std::nullopt};
  if (r.first_fail) ends.high = *r.first_fail - 1;
  const auto take_ends = [&] {
    if (ends.high && *ends.high < ends.low) ends.low = *ends.high;  // line and proof disagree
    if (ends.low >= 1 && ends.high) r.interval = Interval{ends.low, *ends.high};
  };
  const auto at = crossing();
  if (!at) {
    take_ends();
    return r;
  }
  r.noise_ratio = noise_near(*at);
  const auto line = line_crossing(steering_points(points(), slow_noise()), settings_.slo_ms, *at);
  if (line && line_trusted_) apply_line(*line, r.noise_ratio.value_or(1), ends, r.interval_method);
  take_ends();
  if (line) {
    const double estimate = line->n - 0.5;  // Q_max is the whole count below the crossing
    r.estimate = r.interval ? std::clamp(estimate, r.interval->low, r.interval->high) : estimate;
  }
  return r;
}

QmaxResult to_qmax_result(const CertifiedResult& result, double slo_ms) {
  QmaxResult r;
  r.first_fail = result.first_fail;
  r.q_max_interval = result.interval;
  r.interval_method = result.interval_method;
  if (result.interval)
    r.q_max = static_cast<int>(result.interval->low);
  else if (result.last_pass && result.open_above)
    r.q_max = result.last_pass;
  r.q_max_estimate = result.estimate;
  r.verdict = !r.q_max            ? QmaxVerdict::kNone
              : result.open_above ? QmaxVerdict::kLowerBound
                                  : QmaxVerdict::kBracketed;
  const std::string slo = fmt::format("{:.0f} ms", slo_ms);
  if (nothing_judged(r)) {
    r.sentence =
        "No rung was proven to meet or to miss the SLO of " + slo + ": Q_max is unknown; measure longer.";
  } else if (r.verdict == QmaxVerdict::kNone) {
    r.sentence =
        result.not_slow.empty()
            ? fmt::format("{} outstanding miss the SLO of {}, and no smaller count was proven to meet it.",
                          *r.first_fail, slo)
            : fmt::format("{} outstanding fail ({}), and no smaller count was proven to meet the SLO of {}.",
                          *r.first_fail, result.not_slow, slo);
  } else if (!result.interval) {
    r.sentence = fmt::format(
        "LOWER BOUND: one instance holds at least {} outstanding within {}; nothing failed.", *r.q_max, slo);
  } else {
    r.sentence = fmt::format(
        "One instance holds {} outstanding within {}; with 95 % certainty Q_max is {:.0f} to {:.0f}",
        *r.q_max, slo, result.interval->low, result.interval->high);
    if (result.estimate) r.sentence += fmt::format(", most likely about {:.0f}", *result.estimate);
    r.sentence += result.open_above
                      ? ". LOWER BOUND: no count was proven to miss the SLO, the upper end is extrapolated."
                  : result.not_slow.empty()
                      ? fmt::format("; {} outstanding miss it.", *result.first_fail)
                      : fmt::format("; {} outstanding fail: {}.", *result.first_fail, result.not_slow);
  }
  return r;
}

}  // namespace headroom::capacity
