// Is a series still moving? A rung whose latency or in-flight count drifts judges nothing.
//
// Neighbouring samples hang together (in a closed loop a latency is a moving sum over N services), so the
// test looks at means of 10 equal batches in time order, not at samples: the Mann-Kendall count of rises
// minus falls over all pairs of batches. With 10 batches its variance under no trend is n(n-1)(2n+5)/18 = 125
// (Kendall, Rank Correlation Methods; Mann 1945). A trend also has to matter: the last third must differ from
// the first by more than `min_change` of the mean. Pure. Too few samples (under 30): no verdict, never a
// trend.
#pragma once

#include <optional>
#include <span>

namespace headroom::stats {

struct Trend {
  double z = 0;         // standard normal under no trend; positive = rising
  double change = 0;    // (mean of last third - mean of first third) / |mean|
  bool moving = false;  // |z| > 2.58 (1 % two-sided) and |change| > min_change
};

std::optional<Trend> trend(std::span<const double> in_time_order, double min_change = 0.05);

}  // namespace headroom::stats
