// Names of rung verdicts and the judging of one rung.
#include "capacity/rung.hpp"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

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

std::optional<Judgement> judge_outcomes(const RungEvidence& e, bool last_look) {
  if (e.capacity_changed)
    return Judgement{RungVerdict::kCapacityChanged,
                     "the number of instances changed during the hold; hold again"};
  if (e.client_bound)
    return Judgement{RungVerdict::kClientBound, "the driver was the limit: " + e.client_bound_why};
  const double started = static_cast<double>(e.counts.started);
  if (started > 0 && static_cast<double>(e.counts.rejected) > kRejectedShare * started)
    return Judgement{RungVerdict::kSaturated,
                     fmt::format("{} of {} requests were refused: the queue limit was met before the SLO",
                                 e.counts.rejected, e.counts.started)};
  if (last_look && (e.ttfab_ms.empty() || !stats::all_finite(e.ttfab_ms)))
    return Judgement{RungVerdict::kFail, "no successful request"};
  const auto lost = e.counts.failed + e.counts.timed_out;
  if (static_cast<double>(lost) > kFailedShare * static_cast<double>(e.counts.ended()))
    return Judgement{RungVerdict::kFail,
                     fmt::format("{} of {} requests failed or timed out ({} and {}), over 1 %", lost,
                                 e.counts.ended(), e.counts.failed, e.counts.timed_out)};
  if (auto waits = overdue_reason(e); waits && last_look)
    return Judgement{RungVerdict::kFail, std::move(*waits)};
  return std::nullopt;
}

Judgement judge_rung(const RungEvidence& e) {
  if (auto against = judge_outcomes(e, true)) return *against;
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
