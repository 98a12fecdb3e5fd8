// Transient, guards, and the p95's tolerance limit against the SLO.
#include "capacity/bound.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "stats/percentile.hpp"
#include "stats/quantile.hpp"
#include "stats/trend.hpp"

namespace headroom::capacity {
namespace {

constexpr double kLeastKeptS = 19;  // two metric periods less what a look may come early
constexpr double kGuardErrors = 2, kGuardShare = 0.01;
constexpr double kNoVerdictOnWorthS = 60, kWorthShare = 0.5;
constexpr double kTrendRounds = 20;
constexpr double kFewRoundsFactor = 1.6;  // sd of a p95 from few rounds, in sd of a sample

// Where the steady part begins, as an index into the series.
std::size_t steady_from(std::span<const Completion> all, std::span<const double> series, int n) {
  const auto means = stats::round_means(series, n);
  const std::size_t from = stats::transient_length(means) * static_cast<std::size_t>(n);
  return from > 0 && all.back().at_s - all[from].at_s >= kLeastKeptS ? from : 0;
}

// The last third against the first, in ms; nullopt unless it matters: beyond two standard errors and 1 % of
// the SLO.
std::optional<double> movement(std::span<const double> series, const stats::RoundSummary& s, double slo_ms) {
  const std::size_t third = series.size() / 3;
  if (third == 0) return std::nullopt;
  const double change = stats::moments(series.last(third))->mean - stats::moments(series.first(third))->mean;
  const double error = s.sd * std::sqrt(2 * s.noise_ratio / (s.rounds / 3));
  if (std::abs(change) <= std::max(kGuardErrors * error, kGuardShare * slo_ms)) return std::nullopt;
  return change;
}

struct Limits {
  double low, high;  // one-sided bounds of the p95, ms
};

Limits p95_limits(const stats::RoundSummary& s, double alpha_per_look) {
  const double z = stats::normal_quantile(1 - alpha_per_look);
  if (const auto k = stats::tolerance_factors(s.effective_rounds(), z)) {
    const double heavier = std::max(0.0, s.p95 - s.normal_p95());  // a tail heavier than the normal's
    // A few short ones widen sigma, not the p95: a limit beyond what was seen would prove against the
    // evidence.
    return {std::min(s.p95, s.mean + k->lower * s.sigma), s.mean + k->upper * s.sigma + heavier};
  }
  const double reach = stats::student_quantile(1 - alpha_per_look, s.rounds - 1) * kFewRoundsFactor *
                       s.sigma * std::sqrt(s.noise_ratio / s.rounds);
  return {std::min(s.p95, s.normal_p95()) - reach, std::max(s.p95, s.normal_p95()) + reach};
}

BoundJudgement judge_whole(const BoundSettings& settings, int n, std::span<const Completion> all,
                           bool last_look) {
  BoundJudgement out;
  std::vector<double> whole;
  whole.reserve(all.size());
  for (const Completion& one : all) whole.push_back(one.ttfab_ms);
  if (all.empty() || !stats::all_finite(whole)) {
    out.reason = "no request has succeeded yet";
    return out;
  }
  const std::size_t from = steady_from(all, whole, n);
  const std::span<const double> series = std::span(whole).subspan(from);
  out.cut = from > 0;
  out.from_s = from > 0 ? all[from].at_s : all.front().at_s;
  out.judged_ms.assign(series.begin(), series.end());
  out.summary = stats::summarise_rounds(series, n);
  if (!out.summary || out.summary->rounds < settings.least_rounds) {
    out.reason = fmt::format("{:.1f} rounds of {} requests are too few to judge; at least {:.0f} are needed",
                             out.summary ? out.summary->rounds : 0, n, settings.least_rounds);
    return out;
  }
  const stats::RoundSummary& s = *out.summary;
  const double looks = static_cast<double>(settings.looks_s.size() + 1);
  const Limits p95 = p95_limits(s, settings.alpha / (2 * looks));
  const double margin = settings.margin * settings.slo_ms;
  const auto moving = movement(series, s, settings.slo_ms);
  // Batches of under two rounds hang together, and a trend test takes that for movement.
  const auto trend =
      s.rounds >= kTrendRounds ? stats::trend(series).value_or(stats::Trend{}) : stats::Trend{};
  const bool rising = trend.moving && trend.change > 0;
  if (p95.high + margin <= settings.slo_ms && !rising) {
    out.verdict = RungVerdict::kPass;
    out.reason = fmt::format("p95 {:.1f} ms, at most {:.1f} ms: it meets the SLO of {:.0f} ms", s.p95,
                             p95.high, settings.slo_ms);
  } else if (p95.low - margin > settings.slo_ms && !(moving && *moving < 0)) {
    out.verdict = RungVerdict::kFail;
    out.reason = fmt::format("p95 {:.1f} ms, at least {:.1f} ms: it misses the SLO of {:.0f} ms", s.p95,
                             p95.low, settings.slo_ms);
  } else if (last_look && trend.moving) {
    out.verdict = RungVerdict::kUnstable;
    out.reason = fmt::format("TTFAB still moves by {:+.0f} % over the hold; hold longer", trend.change * 100);
  } else {
    out.reason =
        fmt::format("p95 lies between {:.1f} and {:.1f} ms: too near the SLO of {:.0f} ms for the noise",
                    p95.low, p95.high, settings.slo_ms);
  }
  return out;
}

// p95 since `from_s` of touched and untouched alike, without what the host's stalls may have added.
double p95_less_stalls(std::span<const Completion> all, double from_s) {
  std::vector<double> ms;
  for (const Completion& one : all) {
    if (one.at_s >= from_s) ms.push_back(std::max(0.0, one.ttfab_ms - one.stalled_ms));
  }
  return stats::percentile(ms, 0.95).value_or(0);
}

}  // namespace

BoundJudgement judge_bound(const BoundSettings& settings, int n, std::span<const Completion> all,
                           bool last_look) {
  std::vector<Completion> untouched;
  std::copy_if(all.begin(), all.end(), std::back_inserter(untouched),
               [](const Completion& one) { return !one.stalled; });
  const std::size_t touched = all.size() - untouched.size();
  if (touched == 0) return judge_whole(settings, n, all, last_look);
  const bool rare = touched <= untouched.size();
  BoundJudgement out = judge_whole(settings, n, rare ? untouched : all, last_look);
  const bool too_few = !out.summary || out.summary->rounds < settings.least_rounds;
  if (rare ? too_few && last_look : out.verdict == RungVerdict::kFail)
    out.verdict = last_look ? RungVerdict::kUnstable : RungVerdict::kUndecided;
  if (rare && out.verdict == RungVerdict::kPass) {
    if (const double p95 = p95_less_stalls(all, out.from_s); p95 > settings.slo_ms) {
      out = judge_whole(settings, n, all, last_look);
      out.verdict = RungVerdict::kUndecided;
      out.reason = fmt::format(
          "without what this host stood still, the p95 of all {} requests is still {:.1f} ms, over the SLO "
          "of {:.0f} ms; those that its stalls left alone, the shorter ones, meet it: hold again when it is "
          "quieter",
          all.size(), p95, settings.slo_ms);
      return out;
    }
  }
  out.reason += fmt::format("; this host stood still while {} of {} requests were under way{}", touched,
                            all.size(), rare ? ", which are left out" : ": hold again when it is quieter");
  return out;
}

std::optional<P95Interval> p95_interval(const Rung& rung) {
  if (!rung.mean_ms || !rung.p95_ms || !rung.sd_ms || !rung.rounds || !rung.noise_ratio) return std::nullopt;
  if (!(*rung.rounds >= 2) || !(*rung.noise_ratio >= 1)) return std::nullopt;
  stats::RoundSummary s;
  s.rounds = *rung.rounds;
  s.mean = *rung.mean_ms;
  s.sd = *rung.sd_ms;
  s.p95 = *rung.p95_ms;
  s.noise_ratio = *rung.noise_ratio;
  s.sigma = s.sd * std::sqrt(1 + s.noise_ratio / s.rounds);
  const Limits limits = p95_limits(s, 0.025);  // each side
  return P95Interval{std::max(0.0, limits.low), limits.high};
}

double next_look(const BoundSettings& settings, double held_s, double at_most_s) {
  for (const double look : settings.looks_s) {
    if (look > held_s + 1e-9 && look < at_most_s) return look;
  }
  return at_most_s;
}

bool worth_holding(const BoundSettings& settings, const BoundJudgement& so_far, double held_s,
                   double at_most_s) {
  if (!so_far.summary || held_s < kNoVerdictOnWorthS) return true;
  stats::RoundSummary s = *so_far.summary;
  const double away = std::abs(std::max(s.p95, s.normal_p95()) - settings.slo_ms);
  s.rounds *= (at_most_s - so_far.from_s) / std::max(1.0, held_s - so_far.from_s);
  const Limits then = p95_limits(s, settings.alpha / (2 * static_cast<double>(settings.looks_s.size() + 1)));
  const double reach = (then.high - then.low) / 2 + settings.margin * settings.slo_ms;
  return away > kWorthShare * reach;
}

std::size_t transient_completions(int n, int surplus) {
  return static_cast<std::size_t>(std::max(0, surplus)) + static_cast<std::size_t>(std::ceil(1.5 * n));
}

}  // namespace headroom::capacity
