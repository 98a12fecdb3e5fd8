// Rung: one closed-loop hold at N outstanding, what it measured and what it proves.
//
// Pure values and judging; the load driver fills them. Times in ms, rates per second. Unknown is nullopt,
// never 0 or -1. Latency is time to first audio byte (TTFAB) of successful requests only. Immutable after
// construction, shared.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::capacity {

// Every started request ends as exactly one of the others.
struct Counts {
  std::uint64_t started = 0, ok = 0, rejected = 0, failed = 0, timed_out = 0, aborted = 0;
  std::uint64_t ended() const { return ok + rejected + failed + timed_out + aborted; }
  bool balanced() const { return started == ended(); }
  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
};

enum class RungVerdict {
  kPass,             // p95 meets the SLO
  kFail,             // p95 misses it, nothing succeeded, or over 1 % failed or timed out
  kUndecided,        // p95 too near the SLO for the noise (certified search)
  kUnstable,         // TTFAB or in flight still moves
  kSaturated,        // more than 1 % of the requests were refused: the queue limit, not the SLO, was met
  kClientBound,      // the driver was the bottleneck
  kCapacityChanged,  // the number of instances changed during the hold
  kDegraded,         // the repeat of rung 1 differs by more than 25 %
};
std::string_view verdict_name(RungVerdict verdict);  // "pass", "client_bound", ...
std::optional<RungVerdict> parse_rung_verdict(std::string_view name);
// Whether the rung says anything about the SLO: pass and fail.
bool judges(RungVerdict verdict);

struct Rung {
  int n = 0;
  std::optional<RungVerdict> verdict;
  std::string reason;  // one sentence, for people
  std::optional<double> held_mean;
  std::optional<double> mean_ms, p50_ms, p95_ms, p99_ms;
  std::optional<double> rps;
  std::optional<double> rounds, noise_ratio, sd_ms, skew;  // what the bound rests on (stats/rounds.hpp)
  std::optional<double> metric;        // ConcurrentRequestsPerModel, 10 s Maximum, joined to this rung
  std::optional<double> metric_ratio;  // metric / held
  std::optional<Counts> counts;
  std::optional<double> hold_s;           // how long N was held
  std::optional<double> judged_s;         // the part that was judged
  std::optional<std::string> started_at;  // ISO 8601
  bool repeat = false;                    // the repeat of rung 1 or a sustain; not part of the curve
};

struct RungEvidence {
  Counts counts;
  std::span<const double> ttfab_ms;   // successes of the judged part, in time order
  std::span<const double> in_flight;  // the driver's samples of the judged part, in time order
  double slo_ms = 3000;
  bool client_bound = false;
  std::string client_bound_why;
  bool capacity_changed = false;
  std::string capacity_changed_why;  // empty: the number of instances
  std::uint64_t overdue = 0;         // open at the end without a first byte for longer than the SLO
};

struct Judgement {
  RungVerdict verdict = RungVerdict::kUndecided;
  std::string reason;
};
// First that applies: capacity_changed, client_bound, saturated, no success (fail), over 1 % failed or timed
// out (fail), over 5 % overdue (fail), unstable, then p95 against the SLO. p95 decides alone, without a bound
// on its error: that is what "plain" means in interval_method.
Judgement judge_rung(const RungEvidence& evidence);
// The part of it that asks what became of the requests and not how fast they were, for a method that looks
// several times: a share over 1 % of refused or lost requests decides only where it is proven
// (share_is_proven), since one of the 30 requests of a first look is 3 %. nullopt: nothing is proven against
// the rung. What waits without an answer proves nothing, at the last look neither: all that hang at one
// moment are of one round, and so one observation (with one outstanding, one request). They forbid a pass,
// and those that time out count as lost.
std::optional<Judgement> judge_outcomes(const RungEvidence& evidence);
// Whether over 1 % of all requests would end as `events` of `requests` did: at least 3 events, and an exact
// one-sided binomial lower bound over 1 % at a level of 0.025/14 (seven looks, refused and lost).
bool share_is_proven(std::uint64_t events, std::uint64_t requests);
// Why a rung must not pass although nothing is proven against it: over 1 % refused or lost as counted.
// nullopt: no more than that.
std::optional<std::string> unproven_share(const RungEvidence& evidence);
// Why requests that wait without an answer forbid a pass: over 5 % of them and the successes, for then the
// p95 of all would miss the SLO. nullopt: they do not.
std::optional<std::string> overdue_reason(const RungEvidence& evidence);

// The share by which `again` differs from `first`; degraded above kDegradedDrift.
inline constexpr double kDegradedDrift = 0.25;
double drift_between(double first, double again);

}  // namespace headroom::capacity
