// Line: where the p95 of held rungs crosses the SLO, and how surely.
//
// The certified method steers by it and reports its interval from it. Every rung near the crossing weighs by
// its own error and by how far it lies away (the curve need not be straight); the slope has a prior, SLO/N,
// which a closed loop behind one bottleneck has. Pure. Counts of outstanding requests, ms. Source: the
// capacity study; weighted least squares with a prior; scatter between rungs by DerSimonian and Laird (1986).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stats/rounds.hpp"

namespace headroom::capacity {

struct LinePoint {
  int n = 0;
  stats::RoundSummary summary;
};

struct Crossing {
  double n = 0;
  double error = 0;  // standard error of n
};

// What the line needs of a rung: its p95, and how surely.
//
// A rung near Q_max has few independent rounds, so the shape of its upper tail is borrowed: the latency is a
// sum over N services, whose skewness falls with 1/sqrt(N), and the small rungs, which have hundreds of
// rounds, say how large it is (Cornish and Fisher's first term gives the quantile). `scatter` (relative, 0:
// none) is slow noise between rungs, which a rung shorter than that noise does not see in itself.
struct SteeringPoint {
  int n = 0;
  double p95 = 0, error = 0;  // ms
};
std::vector<SteeringPoint> steering_points(std::span<const LinePoint> points, double scatter = 0);

// The crossing through the two points nearest to the SLO (one: through the origin); nullopt without points.
std::optional<double> secant_crossing(std::span<const SteeringPoint> points, double slo_ms);

// Weighted line through the points in 0.5 to 1.6 of `near`; nullopt if there is none.
std::optional<Crossing> line_crossing(std::span<const SteeringPoint> points, double slo_ms, double near);

// Relative scatter of mean/N between rungs beyond their own errors, about a line over n >= least_n; nullopt
// with fewer than three rungs.
std::optional<double> scatter_between(std::span<const LinePoint> points, double least_n);

}  // namespace headroom::capacity
