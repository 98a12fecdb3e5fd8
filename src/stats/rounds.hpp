// Rounds: what a closed loop's latencies prove, when samples within a round hang together.
//
// In a closed loop with N outstanding a latency is a sum over the last N services, so only samples a round (N
// completions) apart are independent, and slower noise may tie rounds together too. A series of latencies in
// order of completion is therefore summarised as R = n/N rounds, whose independence is measured (noise ratio)
// and not assumed, and its p95 is bounded by the tolerance limit of a normal population with R/ratio
// observations. Sources: Wald and Wolfowitz's one-sided tolerance limits as given in NASA TM-108424
// ("Statistical computation of tolerance limits"); batch means (Schmeiser, "Batching as an inferential
// device"); MSER (White, "An effective truncation heuristic"; "On the marginal standard error rule"). Pure,
// deterministic, thread safe. Units: those of the series. No errors: too little data is nullopt.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace headroom::stats {

inline constexpr double kZ95 = 1.6448536269514722;  // the normal 95th percentile

struct RoundSummary {
  std::size_t count = 0;  // samples
  double rounds = 0;      // R = count / N
  double mean = 0;
  double sd = 0;           // of all samples
  double p95 = 0;          // nearest rank, of all samples
  double skew = 0;         // third standardised moment of all samples
  double noise_ratio = 1;  // >= 1: how many rounds carry as much as one independent one
  // sd of one further sample about the mean as far as it is known: sd * sqrt(1 + noise_ratio / R).
  double sigma = 0;

  double effective_rounds() const { return rounds / noise_ratio; }
  double mean_error() const;  // standard error of the mean
  double normal_p95() const { return mean + kZ95 * sigma; }
};
// `n`: completions per round, >= 1. nullopt below two rounds or two samples. The noise ratio compares the sd
// of the means of m = max(1, R div 10) rounds with what independent services would give: a mean of m rounds
// of a moving sum over n has the variance sd^2 (1 - (1 - 1/n^2)/(3m)) / m.
std::optional<RoundSummary> summarise_rounds(std::span<const double> series, int n);

// Means of consecutive whole rounds of n samples; a rest is left out.
std::vector<double> round_means(std::span<const double> series, int n);

// How many leading values to drop as transient, by MSER: the cut that minimises the standard error of the
// rest, at most half; 0 unless head and rest differ by more than three standard errors or two sd of the rest.
std::size_t transient_length(std::span<const double> means);

// Normal tolerance factors for the 95th percentile from `effective` independent observations, one-sided at
// normal quantile z: p95 <= mean + upper*sd and p95 >= mean + lower*sd each hold with that confidence.
// nullopt: too few observations (1 - z^2/(2 effective) <= 0.05).
struct ToleranceFactors {
  double lower = 0, upper = 0;
};
std::optional<ToleranceFactors> tolerance_factors(double effective, double z);

}  // namespace headroom::stats
