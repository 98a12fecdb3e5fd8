// PlainSearch: proposes the next N of the adaptive method, uncertified ("plain"): p95 of a rung against the
// SLO decides.
//
// First rungs 1, 5, 10 (as far as they pass), then N by secant towards the SLO (at most x4 of the largest
// passing rung), then regula falsi between last pass and first fail, halving where that stalls, until the gap
// is at most max(1, precision * last pass). Ends early at a rung that judges nothing twice, or at max_n.
// Knows no time: the caller stops when its budget is spent and reads what is certain from evaluate_qmax.
// Single threaded, deterministic. Source: the search of the capacity study without its tolerance bound, which
// takes this class's place later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/rung.hpp"

namespace headroom::capacity {

struct SearchSettings {
  double slo_ms = 3000;
  std::vector<int> first_rungs{1, 5, 10};
  int max_n = 4096;
  double precision = 0.02;
};

class PlainSearch {
 public:
  explicit PlainSearch(SearchSettings settings) : settings_(std::move(settings)) {}

  // The N to hold next; nullopt when the search has ended. Does not change anything: ask as often as you
  // like.
  std::optional<int> next() const;
  // The result of a hold; needs n, verdict and (for the secant) p95_ms.
  void add(const Rung& rung);
  // Why next() is nullopt, for people; empty while it goes on.
  std::string ended_because() const;

 private:
  struct Point {
    int n;
    double p95_ms;
  };
  std::optional<int> propose(std::string* why) const;
  int secant(int low, int high) const;

  SearchSettings settings_;
  std::vector<Point> points_;  // rungs with a p95, by n
  std::optional<int> last_pass_, first_fail_;
  std::optional<int> unclear_;  // smallest N that judged nothing twice
  std::vector<int> once_;       // N that judged nothing once
  int halvings_ = 0;
};

}  // namespace headroom::capacity
