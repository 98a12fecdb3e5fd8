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

CertifiedResult CertifiedSearch::result() const {
  CertifiedResult r;
  r.last_pass = last_pass();
  r.first_fail = first_fail();
  if (r.first_fail) r.not_slow = other_than_slow(held_.at(*r.first_fail), settings_.slo_ms);
  r.open_above = !r.first_fail;
  const auto all = points();
  const auto at = crossing();
  double noise = 1;
  bool near = false;
  for (const LinePoint& point : all) {
    if (!at || point.n < kNearFrom * *at || point.n > kNearTo * *at) continue;
    noise = std::max(noise, point.summary.noise_ratio);
    near = true;
  }
  if (near) r.noise_ratio = noise;
  const double stairs = stair();
  r.scatter = scatter();
  const double slow = slow_noise();
  const auto line = at ? line_crossing(steering_points(all, slow), settings_.slo_ms, *at) : std::nullopt;

  const double proven_low = r.last_pass.value_or(0);
  const std::optional<double> proven_high =
      r.first_fail ? std::optional<double>(*r.first_fail - 1) : std::nullopt;
  double low = proven_low;
  std::optional<double> high = proven_high;
  r.interval_method = "certified";
  if (line) {
    double variance = line->error * line->error;
    variance += std::pow(slow * line->n, 2) / 2;
    variance += std::pow(kShapeError * deviation_at(line->n) / (settings_.slo_ms / line->n), 2);
    const double reach = kErrors * std::sqrt(variance);
    const double line_low = std::max(0.0, std::floor(line->n - reach));
    const double line_high = std::floor(line->n + reach);
    const bool wide = !high || *high - low > settings_.precision * line->n;
    if (slow > 0) {
      r.interval_method = "scatter";
      const bool trusted = noise <= kLongNoise;
      low = trusted ? line_low : std::min(low, line_low);
      high = trusted || !high ? line_high : std::max(*high, line_high);
    } else if (wide && noise <= kLongNoise) {
      r.interval_method = "line";
      low = std::max(low, line_low);
      high = high ? std::min(*high, line_high) : std::max(line_high, low);
    } else if (noise >
               kLongNoise) {  // the line's error is a guess: it only serves where nothing near is proven
      if (low < kNearFrom * line->n) low = std::max(low, std::floor(line->n - kUntrusted * reach));
      if (!high) high = std::max(low, std::floor(line->n + kUntrusted * reach));
    }
  }
  if (line && stairs > 0) {  // where on the stair a count lies depends on how its clients happen to be spaced
    const double half = stairs / 2 + 0.5;
    low = std::max(0.0, std::min(low, std::floor(line->n - half)));
    if (high) high = std::max(*high, std::floor(line->n + half));
  }
  if (high && *high < low) {  // line and proof disagree: what is proven stands
    low = std::min(low, *high);
  }
  if (low >= 1 && high) r.interval = Interval{low, *high};
  if (line) {
    r.estimate = line->n - 0.5;  // Q_max is the whole count below the crossing
    if (r.interval) r.estimate = std::clamp(*r.estimate, r.interval->low, r.interval->high);
  } else if (r.last_pass) {
    r.estimate = *r.last_pass;
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
