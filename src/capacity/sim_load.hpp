// SimLoad: arrivals for the simulation, from a rate over time or from a recorded trace.
//
// Pure and deterministic by seed. A Profile is a rate that is constant within each second; its arrivals are
// Poisson. A trace gives its own arrivals, multiplied if wanted: each is repeated with a shift within
// +/- jitter_s. Units: seconds from the start of the load, requests per second. Thread safety: values; an
// Arrivals object is single threaded. Errors: kInvalidArgument (names what is wrong with a load's words),
// kResourceExhausted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace headroom::capacity {

struct Profile {
  std::string name;
  std::vector<double> rate_rps;  // one value a second
  double duration_s() const { return static_cast<double>(rate_rps.size()); }
};

// What the words of a load mean: rates are multiples of `base_rps`, times of T (an instance's start).
struct LoadScale {
  double base_rps = 90;
  double start_s = 260;  // T
};

// "flat"; "step:M" (x M after 2T); "ramp:M:K" (to x M within K*T); "spike:M:S" (x M for S seconds);
// "square:M:K" (period K*T, between base/sqrt M and base*sqrt M); "day" or "day:N" (24 h between base/3 and
// base, N % slow noise, default 7); "markov:A:B" (x1 for A s and x2 for B s on average).
base::Result<Profile> make_profile(const std::string& words, const LoadScale& scale, std::uint64_t seed);

struct Trace {
  std::string name;
  std::vector<double> at_s;  // ascending, from 0
};
// Every arrival `copies` times, each within +/- jitter_s of the recorded moment; ascending again.
Trace multiplied(const Trace& trace, int copies, double jitter_s, std::uint64_t seed);

// kResourceExhausted where a load is too large to simulate (over 2e8 requests).
base::Result<void> check_requests(double requests);

class Arrivals {
 public:
  virtual ~Arrivals() = default;
  virtual std::optional<double> next() = 0;  // seconds, never falling; nullopt at the end
  virtual double duration_s() const = 0;
};
std::unique_ptr<Arrivals> poisson(Profile profile, std::uint64_t seed);
std::unique_ptr<Arrivals> recorded(Trace trace);

// g, the growth within H: the 99th percentile, over all moments of the load, of (largest mean over 60 s that
// ends within H from now) / (mean of the last 60 s). nullopt where no moment has load before it.
// Source: the capacity study, section 2.
std::optional<double> growth_within(const std::vector<double>& per_second, double horizon_s);
// How long a load takes to swing up and down again: twice the mean time between its turns, means over 60 s
// taken. A turn is a way back by more than `least_rps` and by more than a quarter of the level, so that noise
// is none. nullopt for fewer than four turns. For rule R's scale-in, which a fast swing would drive to and
// fro.
std::optional<double> turning_period_s(const std::vector<double>& per_second, double least_rps);
std::vector<double> per_second(const Trace& trace);

// The fleet of someone who knows the future: in each minute just enough instances that none is above
// `utilisation`, at least `minimum`, as instance-hours; an instance is there when it is needed.
double clairvoyant_hours(const std::vector<double>& per_second, double throughput_rps, double utilisation,
                         int minimum);
// The highest mean over 60 s.
double peak_rate(const std::vector<double>& per_second);
double trough_rate(const std::vector<double>& per_second);  // the lowest

}  // namespace headroom::capacity
