// Q_max, knee, calibration and the curve from rungs.
#include "capacity/qmax.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "stats/percentile.hpp"

namespace headroom::capacity {
namespace {

constexpr double kKneeShare = 0.95;
constexpr double kSpreadLimit = 0.20;

// Verdict of a rung; one that came without (an external file) is judged by its p95.
std::optional<RungVerdict> verdict_of(const Rung& rung, double slo_ms) {
  if (rung.verdict) return rung.verdict;
  if (!rung.p95_ms) return std::nullopt;
  return *rung.p95_ms <= slo_ms ? RungVerdict::kPass : RungVerdict::kFail;
}

// Rungs of the curve (no repeats), by n; of two with the same n the later counts.
std::vector<Rung> curve_of(std::span<const Rung> rungs) {
  std::vector<Rung> curve;
  for (const Rung& rung : rungs) {
    if (!rung.repeat) curve.push_back(rung);
  }
  std::stable_sort(curve.begin(), curve.end(), [](const Rung& a, const Rung& b) { return a.n < b.n; });
  std::vector<Rung> unique;
  for (Rung& rung : curve) {
    if (!unique.empty() && unique.back().n == rung.n) unique.pop_back();
    unique.push_back(std::move(rung));
  }
  return unique;
}

// Throughput means something unless the driver, the instance count or the stability of the hold spoiled it.
bool has_throughput(const Rung& rung) {
  if (!rung.rps || !(*rung.rps > 0)) return false;
  return !rung.verdict ||
         (*rung.verdict != RungVerdict::kClientBound && *rung.verdict != RungVerdict::kCapacityChanged &&
          *rung.verdict != RungVerdict::kUnstable);
}

const Rung* find_rung(const std::vector<Rung>& curve, std::optional<int> n) {
  const auto at = std::find_if(curve.begin(), curve.end(), [&](const Rung& r) { return r.n == n; });
  return at == curve.end() ? nullptr : &*at;
}

// "5 unstable, 10 client_bound": why nothing was judged.
std::string unjudged(const std::vector<Rung>& curve) {
  std::string out;
  for (const Rung& rung : curve) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", rung.n,
                       rung.verdict ? verdict_name(*rung.verdict) : "without a p95");
  }
  return out.empty() ? "none was held" : out;
}

void describe_result(QmaxResult& r, const std::vector<Rung>& curve, double slo_ms) {
  if (nothing_judged(r)) {
    r.sentence =
        fmt::format("No rung judged anything ({}): Q_max is unknown; measure again.", unjudged(curve));
  } else if (r.verdict == QmaxVerdict::kNone) {
    r.sentence = fmt::format(
        "No rung met the SLO of {:.0f} ms: one instance cannot hold it even for the smallest load tried.",
        slo_ms);
  } else if (r.verdict == QmaxVerdict::kLowerBound) {
    r.sentence = fmt::format(
        "LOWER BOUND: one instance holds at least {} outstanding within {:.0f} ms; nothing larger failed.",
        *r.q_max, slo_ms);
  } else {
    r.sentence = fmt::format("One instance holds {} outstanding within {:.0f} ms; {} did not.", *r.q_max,
                             slo_ms, *r.first_fail);
  }
}

}  // namespace

std::string_view verdict_name(QmaxVerdict verdict) {
  if (verdict == QmaxVerdict::kBracketed) return "bracketed";
  return verdict == QmaxVerdict::kLowerBound ? "lower_bound" : "none";
}

std::optional<QmaxVerdict> parse_qmax_verdict(std::string_view name) {
  if (name == "bracketed") return QmaxVerdict::kBracketed;
  if (name == "lower_bound") return QmaxVerdict::kLowerBound;
  if (name == "none") return QmaxVerdict::kNone;
  return std::nullopt;
}

QmaxResult evaluate_qmax(std::span<const Rung> rungs, double slo_ms) {
  const std::vector<Rung> curve = curve_of(rungs);
  QmaxResult r;
  for (const Rung& rung : curve) {
    const auto verdict = verdict_of(rung, slo_ms);
    if (verdict == RungVerdict::kFail || verdict == RungVerdict::kSaturated) {
      r.first_fail = rung.n;
      break;  // a pass above a failure proves nothing: the SLO must hold up to Q_max, not at it alone
    }
    if (verdict == RungVerdict::kPass) r.q_max = rung.n;
  }
  r.verdict = !r.q_max       ? QmaxVerdict::kNone
              : r.first_fail ? QmaxVerdict::kBracketed
                             : QmaxVerdict::kLowerBound;
  if (r.verdict == QmaxVerdict::kBracketed) {
    r.q_max_interval = Interval{static_cast<double>(*r.q_max), static_cast<double>(*r.first_fail - 1)};
    const Rung* pass = find_rung(curve, r.q_max);
    const Rung* fail = find_rung(curve, r.first_fail);
    r.q_max_estimate = *r.q_max;
    if (pass->p95_ms && fail->p95_ms && *fail->p95_ms > slo_ms && *fail->p95_ms > *pass->p95_ms) {
      const double share = (slo_ms - *pass->p95_ms) / (*fail->p95_ms - *pass->p95_ms);
      const double crossing = pass->n + share * (fail->n - pass->n);
      r.q_max_estimate = std::clamp(crossing, r.q_max_interval->low, r.q_max_interval->high);
    }
  } else if (r.q_max) {
    r.q_max_estimate = *r.q_max;
  }
  describe_result(r, curve, slo_ms);
  return r;
}

bool nothing_judged(const QmaxResult& result) { return !result.q_max && !result.first_fail; }

std::vector<Rung> last_holds(std::span<const Rung> rungs) {
  std::vector<Rung> out = curve_of(rungs);
  std::copy_if(rungs.begin(), rungs.end(), std::back_inserter(out), [](const Rung& r) { return r.repeat; });
  return out;
}

bool tells_latency(RungVerdict verdict) { return judges(verdict) || verdict == RungVerdict::kUndecided; }

std::vector<Rung> latency_curve(std::span<const Rung> rungs) {
  std::vector<Rung> curve = curve_of(rungs);
  std::erase_if(curve, [](const Rung& r) { return !r.p95_ms || (r.verdict && !tells_latency(*r.verdict)); });
  return curve;
}

std::vector<HoldDoubt> doubtful_holds(std::span<const Rung> rungs) {
  std::vector<HoldDoubt> doubts;
  for (const Rung& rung : last_holds(rungs)) {
    if (!rung.verdict) continue;
    // Undecided lies within the interval and saturated bounds it: both are results. A sustain that fails or
    // is refused is not.
    const bool result = tells_latency(*rung.verdict) || *rung.verdict == RungVerdict::kSaturated;
    const bool sustain = rung.repeat && rung.n > 1;
    const bool failed = *rung.verdict == RungVerdict::kFail || *rung.verdict == RungVerdict::kSaturated;
    if (!result || (sustain && failed)) doubts.push_back({rung, sustain && failed});
  }
  return doubts;
}

RunsSummary choose_run(std::span<const QmaxResult> runs) {
  RunsSummary summary;
  std::optional<int> low, high;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto q = runs[i].q_max;
    if (!q) {  // a run in which nothing passed is the smallest of all
      summary.chosen = i;
      summary.spread_warns = runs.size() > 1;
      return summary;
    }
    if (!low || *q < *low) {
      low = q;
      summary.chosen = i;
    }
    if (!high || *q > *high) high = q;
  }
  if (runs.size() > 1 && *low > 0) {
    summary.spread = static_cast<double>(*high - *low) / *low;
    summary.spread_warns = *summary.spread > kSpreadLimit;
  }
  return summary;
}

std::optional<int> knee(std::span<const Rung> rungs) {
  double peak = 0;
  const std::vector<Rung> curve = curve_of(rungs);
  for (const Rung& rung : curve) {
    if (has_throughput(rung)) peak = std::max(peak, *rung.rps);
  }
  for (const Rung& rung : curve) {
    if (has_throughput(rung) && *rung.rps >= kKneeShare * peak) return rung.n;
  }
  return std::nullopt;
}

std::string knee_sentence(std::span<const Rung> rungs, std::optional<int> q_max) {
  const auto at = knee(rungs);
  if (!at) return "No throughput was measured.";
  const std::vector<Rung> curve = curve_of(rungs);
  const Rung* rung = find_rung(curve, at);
  std::string text = fmt::format(
      "Throughput is within 5 % of its peak from {} outstanding on ({:.2f} requests/s)", *at, *rung->rps);
  if (q_max && *q_max > *at) {
    text += fmt::format(
        "; from there to Q_max = {} more outstanding is only more waiting, not more work done", *q_max);
  }
  return text + ".";
}

std::optional<double> calibration_ratio(std::span<const Rung> rungs) {
  std::vector<double> ratios;
  for (const Rung& rung : rungs) {
    if (rung.metric_ratio && std::isfinite(*rung.metric_ratio) && *rung.metric_ratio > 0)
      ratios.push_back(*rung.metric_ratio);
  }
  return stats::median(ratios);
}

std::optional<int> ttotal_load(int q_max) {
  if (q_max < 2) return std::nullopt;
  return std::min(10, q_max) / 2 * 2;
}

std::optional<double> outstanding_at(std::span<const Rung> rungs, double rps) {
  double n0 = 0, rps0 = 0;
  for (const Rung& rung : curve_of(rungs)) {
    if (!has_throughput(rung)) continue;
    if (*rung.rps >= rps) return n0 + (rps - rps0) / (*rung.rps - rps0) * (rung.n - n0);
    if (*rung.rps > rps0) {  // past the peak the curve is flat or falls; keep the first way up
      n0 = rung.n;
      rps0 = *rung.rps;
    }
  }
  return std::nullopt;
}

}  // namespace headroom::capacity
