// Q_max from rungs: the largest outstanding count on one instance whose p95 TTFAB meets the SLO; knee;
// calibration.
//
// Pure; sends nothing. Rungs in any order; those that judge nothing (client_bound, unstable, ...) and repeats
// are left out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capacity/rung.hpp"

namespace headroom::capacity {

enum class QmaxVerdict {
  kBracketed,   // a passing rung and, above it, a failing one
  kLowerBound,  // nothing failed: Q_max is at least this
  kNone,        // no rung passes, or none judged anything
};
std::string_view verdict_name(QmaxVerdict verdict);  // bracketed, lower_bound, none
std::optional<QmaxVerdict> parse_qmax_verdict(std::string_view name);

struct Interval {
  double low = 0, high = 0;
  bool operator==(const Interval&) const = default;
};

struct QmaxResult {
  QmaxVerdict verdict = QmaxVerdict::kNone;
  std::optional<int> q_max;                // last passing rung below the first failing one
  std::optional<double> q_max_estimate;    // where the line through the bracketing rungs' p95 crosses the SLO
  std::optional<Interval> q_max_interval;  // ladder: [last pass, first fail - 1], bracketed only
  std::string interval_method = "plain";
  std::optional<int> first_fail;
  std::string sentence;  // what it means, for people
};

// Saturated counts as a failing rung: the server refuses load there, whatever its latency.
QmaxResult evaluate_qmax(std::span<const Rung> rungs, double slo_ms);

// No hold passed, failed or was refused: the result says nothing about the instance, good or bad.
bool nothing_judged(const QmaxResult& result);

// The hold that counts at each n of the curve, by n: of several the last. Then the repeats, all of them. An
// unstable hold that was held again is not among them.
std::vector<Rung> last_holds(std::span<const Rung> rungs);

// Whether a hold with this verdict measured the latency at its count: pass, fail, undecided.
bool tells_latency(RungVerdict verdict);
// The last hold at each n, by n, of those whose latency may be compared with: not what was unstable,
// refused, client_bound or of another capacity. A rung without a verdict (a file made by hand) counts.
std::vector<Rung> latency_curve(std::span<const Rung> rungs);

// A last hold that takes the trust from the result: what judged nothing, and a sustain at Q_max that failed.
struct HoldDoubt {
  Rung rung;
  bool sustain_failed = false;
};
std::vector<HoldDoubt> doubtful_holds(std::span<const Rung> rungs);

// Of several runs the one with the smallest q_max counts; spread = (largest - smallest) / smallest. Over 20
// %: warn.
struct RunsSummary {
  std::size_t chosen = 0;  // index
  std::optional<double> spread;
  bool spread_warns = false;
};
RunsSummary choose_run(std::span<const QmaxResult> runs);

// Knee: the smallest N with at least 95 % of the peak throughput. Above it more outstanding only means more
// queueing.
std::optional<int> knee(std::span<const Rung> rungs);
std::string knee_sentence(std::span<const Rung> rungs, std::optional<int> q_max);

// Median of the rungs' metric / held; nullopt if no rung has one (the metric had no data).
std::optional<double> calibration_ratio(std::span<const Rung> rungs);

// L of ttotal: the largest even number <= min(10, q_max). nullopt if q_max < 2.
std::optional<int> ttotal_load(int q_max);

// The outstanding count at which the measured curve carries `rps` (linear between rungs, from the origin);
// nullopt beyond the largest throughput that was measured.
std::optional<double> outstanding_at(std::span<const Rung> rungs, double rps);

}  // namespace headroom::capacity
