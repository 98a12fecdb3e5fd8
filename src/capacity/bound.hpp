// Bound: whether a rung is proven to meet or to miss the SLO, from the latencies of its hold so far.
//
// The certified method's judging of one rung: looks at fixed times of the hold, the error spent over all
// looks, a transient cut off, the p95 bounded by a tolerance limit over rounds (stats/rounds.hpp). Never
// decides by a count of samples. Pure; times in seconds since the hold began, latencies (time to first audio
// byte of successes) in ms. No errors: too little data is kUndecided. Source: the capacity study behind this
// project; docs/measurement.md gives every formula.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capacity/rung.hpp"
#include "stats/rounds.hpp"

namespace headroom::capacity {

struct BoundSettings {
  double slo_ms = 3000;
  double alpha = 0.025;  // of a false pass, and of a false fail, over all looks of one rung
  std::vector<double> looks_s{20, 30, 45, 68, 101, 152};  // and the end of the hold
  double margin = 0.002;                                  // of the SLO; neither pass nor fail within it
  double least_rounds = 6;
};

struct Completion {
  double at_s = 0;
  double ttfab_ms = 0;
  bool stalled = false;   // the measuring host itself stood still while it was under way
  double stalled_ms = 0;  // for so long before its first byte
};

struct BoundJudgement {
  RungVerdict verdict = RungVerdict::kUndecided;  // pass, fail, undecided; unstable only with `last_look`
  std::string reason;
  std::optional<stats::RoundSummary> summary;  // of the part that was judged
  double from_s = 0;                           // where that part begins
  bool cut = false;                            // a transient was cut off beyond the first completions
  std::vector<double> judged_ms;               // the latencies of that part, in order; `summary` is of these
};

// `after_transient`: completions in order, without the first 1.5 N. last_look: the hold ends here.
//
// A host that stands still adds latency that is not the server's, so what a stall touched is left out. Where
// that is more than half, or leaves too few rounds, the rung does not fail: it is undecided, and unstable at
// the end of the hold. A stall touches long requests more often than short ones, so what is left flatters: it
// passes only if the p95 of all, each shortened by its stalled_ms, meets the SLO too; else everything is
// judged, and the rung is undecided.
BoundJudgement judge_bound(const BoundSettings& settings, int n, std::span<const Completion> after_transient,
                           bool last_look);

// The 95 % interval of a rung's p95 from what its artifact keeps, alpha spent on this one look; nullopt where
// that is not known (a file made by hand, the ladder's rungs) or rests on less than two rounds.
struct P95Interval {
  double low_ms = 0, high_ms = 0;
};
std::optional<P95Interval> p95_interval(const Rung& rung);

// The first look after `held_s`; at_most_s where none is left.
double next_look(const BoundSettings& settings, double held_s, double at_most_s);

// Whether holding on may still decide: by the end of the hold the limits would have come close enough to the
// SLO.
bool worth_holding(const BoundSettings& settings, const BoundJudgement& so_far, double held_s,
                   double at_most_s);

// Completions that belong to the transient: 1.5 N, and what was in flight beyond N from the rung before.
std::size_t transient_completions(int n, int surplus = 0);

}  // namespace headroom::capacity
