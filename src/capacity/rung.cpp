// Names of rung verdicts and the judging of one rung.
#include "capacity/rung.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "stats/binomial.hpp"
#include "stats/percentile.hpp"
#include "stats/trend.hpp"

namespace headroom::capacity {
namespace {

constexpr std::array<std::pair<RungVerdict, std::string_view>, 8> kNames{{
    {RungVerdict::kPass, "pass"},
    {RungVerdict::kFail, "fail"},
    {RungVerdict::kUndecided, "undecided"},
    {RungVerdict::kUnstable, "unstable"},
    {RungVerdict::kSaturated, "saturated"},
    {RungVerdict::kClientBound, "client_bound"},
    {RungVerdict::kCapacityChanged, "capacity_changed"},
    {RungVerdict::kDegraded, "degraded"},
}};

constexpr double kRejectedShare = 0.01;
constexpr double kFailedShare = 0.01;
constexpr double kOverdueShare = 0.05;  // of a p95
constexpr std::uint64_t kLeastEvents = 3;
constexpr double kProofLevel = 0.025 / 14;

bool exceeds(std::uint64_t events, std::uint64_t requests, double share) {
  return static_cast<double>(events) > share * static_cast<double>(requests);
}

std::uint64_t lost(const Counts& counts) { return counts.failed + counts.timed_out; }

std::string refused_words(const Counts& c) {
  return fmt::format("{} of {} requests were refused", c.rejected, c.started);
}

std::string lost_words(const Counts& c) {
  return fmt::format("{} of {} requests failed or timed out ({} and {}), over 1 %", lost(c), c.ended(),
                     c.failed, c.timed_out);
}

// Whether `events` of `requests` speak against a rung.
using SpeaksAgainst = bool (*)(std::uint64_t events, std::uint64_t requests);

// `silence_counts`: that nothing was answered, or too much is overdue, is held against the rung.
std::optional<Judgement> judge_outcomes_by(const RungEvidence& e, bool silence_counts,
                                           SpeaksAgainst refused_against, SpeaksAgainst lost_against) {
  if (e.capacity_changed)
    return Judgement{RungVerdict::kCapacityChanged,
                     e.capacity_changed_why.empty()
                         ? "the number of instances changed during the hold; hold again"
                         : e.capacity_changed_why};
  if (e.client_bound)
    return Judgement{RungVerdict::kClientBound, "the driver was the limit: " + e.client_bound_why};
  if (refused_against(e.counts.rejected, e.counts.started))
    return Judgement{RungVerdict::kSaturated,
                     refused_words(e.counts) + ": the queue limit was met before the SLO"};
  if (silence_counts && (e.ttfab_ms.empty() || !stats::all_finite(e.ttfab_ms)))
    return Judgement{RungVerdict::kFail, "no successful request"};
  if (lost_against(lost(e.counts), e.counts.ended()))
    return Judgement{RungVerdict::kFail, lost_words(e.counts)};
  if (auto waits = overdue_reason(e); waits && silence_counts)
    return Judgement{RungVerdict::kFail, std::move(*waits)};
  return std::nullopt;
}

bool refused_as_counted(std::uint64_t events, std::uint64_t requests) {
  return exceeds(events, requests, kRejectedShare);
}

bool lost_as_counted(std::uint64_t events, std::uint64_t requests) {
  return exceeds(events, requests, kFailedShare);
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  started += other.started;
  ok += other.ok;
  rejected += other.rejected;
  failed += other.failed;
  timed_out += other.timed_out;
  aborted += other.aborted;
  return *this;
}

std::string_view verdict_name(RungVerdict verdict) {
  for (const auto& [value, name] : kNames) {
    if (value == verdict) return name;
  }
  return "undecided";
}

std::optional<RungVerdict> parse_rung_verdict(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

bool judges(RungVerdict verdict) { return verdict == RungVerdict::kPass || verdict == RungVerdict::kFail; }

double drift_between(double first, double again) {
  return first == 0 ? 0 : std::abs(again - first) / std::abs(first);
}

std::optional<std::string> overdue_reason(const RungEvidence& e) {
  const auto known = static_cast<double>(e.counts.ok + e.overdue);
  if (static_cast<double>(e.overdue) <= kOverdueShare * known) return std::nullopt;
  return fmt::format("{} requests wait longer than the SLO without an answer", e.overdue);
}

bool share_is_proven(std::uint64_t events, std::uint64_t requests) {
  static_assert(kRejectedShare == kFailedShare);
  return events >= kLeastEvents && exceeds(events, requests, kFailedShare) &&
         stats::binomial_tail(std::min(events, requests), requests, kFailedShare) < kProofLevel;
}

std::optional<Judgement> judge_outcomes(const RungEvidence& e) {
  return judge_outcomes_by(e, false, share_is_proven, share_is_proven);
}

std::optional<std::string> unproven_share(const RungEvidence& e) {
  if (refused_as_counted(e.counts.rejected, e.counts.started))
    return refused_words(e.counts) + ": over 1 %, but too few to prove it";
  if (lost_as_counted(lost(e.counts), e.counts.ended()))
    return lost_words(e.counts) + ", but too few to prove it";
  return std::nullopt;
}

Judgement judge_rung(const RungEvidence& e) {
  if (auto against = judge_outcomes_by(e, true, refused_as_counted, lost_as_counted)) return *against;
  if (const auto moving = stats::trend(e.ttfab_ms); moving && moving->moving)
    return {RungVerdict::kUnstable,
            fmt::format("TTFAB still moves by {:+.0f} % over the hold; hold longer", moving->change * 100)};
  if (const auto moving = stats::trend(e.in_flight); moving && moving->moving)
    return {RungVerdict::kUnstable,
            fmt::format("the number in flight still moves by {:+.0f} % over the hold", moving->change * 100)};
  const double p95 = *stats::percentile(e.ttfab_ms, 0.95);
  const bool pass = p95 <= e.slo_ms;
  return {pass ? RungVerdict::kPass : RungVerdict::kFail,
          fmt::format("p95 {:.1f} ms {} the SLO of {:.0f} ms", p95, pass ? "meets" : "misses", e.slo_ms)};
}

}  // namespace headroom::capacity
