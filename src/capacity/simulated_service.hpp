// SimulatedService: a speech server behind a closed loop, on a clock of its own; for tests and bench/search.
//
// N clients, first come first served, `workers` servers, 4.1 ms outside the server. Services are drawn from a
// family: a distribution, slow noise (AR(1) in time), a transient, a drift, a dependence on the load.
// Deterministic for a seed. Single threaded. Units as named.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "capacity/bound.hpp"
#include "stats/percentile.hpp"

namespace headroom::capacity::test {

struct ServiceFamily {
  enum class Shape { kFixed, kLognormal, kBimodal, kGamma, kUniform, kPareto };
  std::string name;
  int true_q = 0;  // where it is known
  double mean_ms = 55.9;
  Shape shape = Shape::kFixed;
  double cv = 0;
  double slow_share = 0.1, slow_factor = 4;  // bimodal
  int workers = 1;
  double noise = 0, memory_s = 0;                // AR(1) of the log of the service
  double transient_s = 0, transient_factor = 1;  // decays linearly to 1
  bool transient_per_rung = false;               // else once, at the start
  double drift_per_600s = 0;                     // relative
  double load_slope = 0;                         // service x (1 + slope * N / 100)
  double period_s = 0, period_share = 0;         // a sine on the service
  double stall_every_s = 0, stall_s = 0;         // the whole host stands still
};

class SimulatedService {
 public:
  SimulatedService(const ServiceFamily& family, std::uint64_t seed) : f_(family), random_(seed) {
    workers_.assign(static_cast<std::size_t>(f_.workers), 0.0);
    if (f_.noise > 0) noise_ = f_.noise * normal_(random_);
  }

  double now() const { return now_; }
  double started() const { return began_; }
  // Holds n from now on; returns how many were in flight beyond n.
  int hold(int n) {
    began_ = now_;
    const int surplus = std::max(0, clients_ - n);
    // Clients that came back wait in arrivals_; new ones are ramped 20 ms apart.
    for (int i = clients_; i < n; ++i) arrivals_.push(now_ + 0.02 * (i - clients_));
    clients_ = std::max(clients_, n);
    n_ = n;
    return surplus;
  }
  // The next completion.
  Completion next() {
    while (true) {
      const double sent = arrivals_.top();
      arrivals_.pop();
      if (clients_ > n_) {  // lowered: this client does not send again
        --clients_;
        continue;
      }
      const auto worker = std::min_element(workers_.begin(), workers_.end());
      const double start = std::max(sent, *worker);
      const double end = through_stalls(start, service_s(start));
      *worker = end;
      const double done = end + kOutsideS;
      arrivals_.push(done);
      now_ = std::max(now_, done);
      return {done, (done - sent) * 1000, stalls_before(done) > stalls_before(sent - f_.stall_s),
              stalled_s(sent, done) * 1000};
    }
  }

 private:
  static constexpr double kOutsideS = 0.0041;

  // How many stalls began before `at`: at every multiple of stall_every_s but 0.
  double stalls_before(double at) const {
    return f_.stall_every_s > 0 ? std::max(0.0, std::ceil(at / f_.stall_every_s) - 1) : 0;
  }
  // How long the host stood still between the two.
  double stalled_s(double from, double to) const {
    double sum = 0;
    for (double i = stalls_before(from - f_.stall_s) + 1; i <= stalls_before(to); ++i) {
      const double stall = i * f_.stall_every_s;
      sum += std::max(0.0, std::min(to, stall + f_.stall_s) - std::max(from, stall));
    }
    return sum;
  }
  // When work of `left` seconds that begins at `at` ends.
  double through_stalls(double at, double left) const {
    if (f_.stall_every_s <= 0) return at + left;
    const double last = stalls_before(at) * f_.stall_every_s;
    if (last > 0) at = std::max(at, last + f_.stall_s);
    const double next = (stalls_before(at) + 1) * f_.stall_every_s;
    return at + left <= next ? at + left : through_stalls(next + 1e-9, left - (next - at));
  }

  double draw() {
    switch (f_.shape) {
      case ServiceFamily::Shape::kFixed:
        return 1;
      case ServiceFamily::Shape::kLognormal: {
        const double s2 = std::log(1 + f_.cv * f_.cv);
        return std::exp(std::sqrt(s2) * normal_(random_) - s2 / 2);
      }
      case ServiceFamily::Shape::kBimodal: {
        const double mean = 1 + f_.slow_share * (f_.slow_factor - 1);
        return (uniform_(random_) < f_.slow_share ? f_.slow_factor : 1) / mean;
      }
      case ServiceFamily::Shape::kGamma: {
        const double k = 1 / (f_.cv * f_.cv);
        return std::gamma_distribution<double>(k, 1 / k)(random_);
      }
      case ServiceFamily::Shape::kUniform:
        return 1 + f_.cv * std::sqrt(3.0) * (2 * uniform_(random_) - 1);
      case ServiceFamily::Shape::kPareto: {  // shape 3: a heavy tail with a finite variance
        return 2.0 / 3 * std::pow(1 - uniform_(random_), -1.0 / 3);
      }
    }
    return 1;
  }

  double service_s(double at) {
    double s = f_.mean_ms / 1000 * draw();
    if (f_.noise > 0) {
      const double keep = std::exp(-std::max(0.0, at - noise_at_) / f_.memory_s);
      noise_ = keep * noise_ + f_.noise * std::sqrt(1 - keep * keep) * normal_(random_);
      noise_at_ = std::max(noise_at_, at);
      s *= std::exp(noise_ - f_.noise * f_.noise / 2);
    }
    const double age = f_.transient_per_rung ? at - began_ : at;
    if (age < f_.transient_s) s *= 1 + (f_.transient_factor - 1) * (1 - age / f_.transient_s);
    s *= 1 + f_.drift_per_600s * at / 600;
    s *= 1 + f_.load_slope * n_ / 100;
    if (f_.period_s > 0) s *= 1 + f_.period_share * std::sin(2 * 3.14159265358979 * at / f_.period_s);
    return s;
  }

  ServiceFamily f_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::priority_queue<double, std::vector<double>, std::greater<>> arrivals_;
  std::vector<double> workers_;
  double now_ = 0, began_ = 0, noise_ = 0, noise_at_ = 0;
  int n_ = 0, clients_ = 0;
};

// The true Q_max: the largest N whose p95 meets the SLO in a long run without transients, drift as it stands
// after five minutes.
inline int true_q_max(ServiceFamily family, double slo_ms, std::uint64_t seed, std::size_t completions) {
  family.transient_s = 0;
  family.mean_ms *= 1 + family.drift_per_600s / 2;
  family.drift_per_600s = 0;
  const auto meets = [&](int n) {
    SimulatedService server(family, seed);
    server.hold(n);
    std::vector<double> ttfab;
    ttfab.reserve(completions);
    for (int i = 0; i < 3 * n; ++i) server.next();
    for (std::size_t i = 0; i < completions; ++i) ttfab.push_back(server.next().ttfab_ms);
    return *stats::percentile(ttfab, 0.95) <= slo_ms;
  };
  int low = 0, high = 2;
  while (meets(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (meets(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace headroom::capacity::test
