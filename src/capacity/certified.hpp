// CertifiedSearch: which outstanding count to hold next, and the Q_max interval that the holds prove.
//
// "Steer by model, certify by test": rungs 1, 5, 10, then towards the SLO along a line through the rungs held
// (at most x4 at a time), a rung just above the estimate until one is proven to miss the SLO, one just below
// until one is proven to meet it, and at most two more in between. A rung is proven by judge_bound only. The
// distance of the two from the estimate is what their noise can tell apart in 90 s; an undecided rung makes
// it half as much again. An undecided rung 1 is held once more, for long, where nothing else is known to
// pass. Knows no time but what the caller says was spent. Single threaded, deterministic. Source: the
// capacity study behind this project; docs/measurement.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capacity/line.hpp"
#include "capacity/qmax.hpp"
#include "capacity/rung.hpp"

namespace headroom::capacity {

struct CertifiedSettings {
  double slo_ms = 3000;
  std::vector<int> first_rungs{1, 5, 10};
  int max_n = 4096;
  double precision = 0.02;   // width of the interval, relative, at which the search is content
  double first_hold_s = 20;  // a steering rung; also the shortest hold
  double max_hold_s = 240;
  double budget_s = 540;
  double reserve_s = 105;       // of it: the repeat of rung 1, the sustain, and what lies between holds
  double small_reserve_s = 40;  // more where Q_max is under 10: ttotal's two rungs were not held on the way
};

struct HoldRequest {
  int n = 1;
  double at_most_s = 20;
  double at_least_s = 20;  // no verdict before
};

struct HeldEvidence {
  int n = 1;
  RungVerdict verdict = RungVerdict::kUndecided;
  std::optional<stats::RoundSummary> summary;
  std::optional<double> rps;
  std::string reason;  // of the verdict, one sentence
};

struct CertifiedResult {
  std::optional<int> last_pass, first_fail;  // proven
  std::string not_slow;  // why first_fail failed, where its p95 meets the SLO: refused or lost requests
  std::optional<Interval> interval;  // 95 %; nullopt: no lower end is known
  bool open_above = false;           // nothing was proven to fail: the upper end is the model's, or none
  std::optional<double> estimate;
  std::string interval_method;  // certified, line, scatter
  std::optional<double> noise_ratio, scatter;
};

struct CertifiedEnds {  // of the interval, while it is worked out
  double low = 0;
  std::optional<double> high;
};

class CertifiedSearch {
 public:
  explicit CertifiedSearch(CertifiedSettings settings) : settings_(std::move(settings)) {}

  // The next hold; nullopt: ended. Changes nothing.
  std::optional<HoldRequest> next(double spent_s) const;
  void add(const HeldEvidence& held);
  // The server became another while it was measured (the repeat of rung 1 says so). A line through its rungs
  // mixes the two and its error says nothing: from now on only what single rungs proved makes the interval.
  void distrust_line() { line_trusted_ = false; }
  std::string ended_because(double spent_s) const;
  CertifiedResult result() const;
  // Where the p95 crosses the SLO, as far as is known.
  std::optional<double> crossing() const;

 private:
  std::optional<HoldRequest> propose(double spent_s, std::string* why) const;
  std::optional<HoldRequest> first_rung(double left_s) const;
  std::optional<HoldRequest> test_rung(double crossing, double left_s, std::string* why) const;
  std::optional<int> tighten(double crossing, double left_s) const;
  std::optional<HoldRequest> smallest_again(double left_s) const;
  std::optional<int> last_pass() const;
  std::optional<int> first_fail() const;
  bool held(int n) const { return held_.count(n) > 0; }
  std::vector<LinePoint> points() const;
  std::optional<LinePoint> nearest(double crossing) const;
  double deviation_at(double crossing) const;
  double distance(double crossing, double seconds, double deviations) const;
  double workers() const;
  double stair() const;
  std::optional<double> scatter() const;
  double slow_noise() const;  // the scatter where it matters, else 0
  std::optional<double> noise_near(double crossing) const;
  void apply_line(const Crossing& line, double noise, CertifiedEnds& ends, std::string& method) const;

  CertifiedSettings settings_;
  std::map<int, HeldEvidence> held_;  // by n; the last hold of it counts
  std::map<int, int> unjudged_;       // n -> how often it judged nothing for a reason outside of the server
  std::map<int, int> undecided_;      // n -> how often it was undecided
  int undecided_above_ = 0, undecided_below_ = 0, tests_ = 0;
  bool line_trusted_ = true;
};

// The same as the result of a measurement: q_max is the lower end of the interval.
QmaxResult to_qmax_result(const CertifiedResult& result, double slo_ms);

}  // namespace headroom::capacity
