// Ladder and adaptive search, over the same hold.
#include "bench/search_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capacity/search.hpp"

namespace headroom::bench {
namespace {

constexpr auto kRepeatHold = std::chrono::seconds(20);
constexpr auto kSustainHold = std::chrono::seconds(60);

class Run {
 public:
  Run(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms)
      : session_(session), rig_(rig), options_(options), slo_ms_(slo_ms), began_(session.clock().steady()) {}

  base::Result<SearchRun> ladder() {
    std::vector<int> rungs = options_.rungs;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      if (auto held = hold({rungs[i], options_.hold, options_.hold, options_.judge, slo_ms_}); !held)
        return tl::unexpected(held.error());
      rig_.driver().hold(0);
      if (i + 1 == options_.rungs.size()) {  // after the last of the ladder: what ttotal compares with
        for (const int n : missing_for_ttotal()) rungs.push_back(n);
      }
      if (i + 1 < rungs.size() && !session_.interrupt().wait_for(options_.idle))
        return base::fail(base::ErrorCode::kCancelled, "interrupted");
    }
    return finish("every rung was held");
  }

  base::Result<SearchRun> adaptive() {
    capacity::SearchSettings settings;
    settings.slo_ms = slo_ms_;
    settings.max_n = options_.max_n;
    capacity::PlainSearch search(settings);
    std::string ended;
    while (true) {
      const auto n = search.next();
      if (!n) {
        ended = search.ended_because();
        break;
      }
      const auto left = options_.budget - reserve() - spent();
      if (!run_.rungs.empty() && left < kRepeatHold) {
        ended = "the budget is spent";
        break;
      }
      auto held =
          hold({*n,
                kRepeatHold,
                std::min<base::Duration>(options_.max_hold, std::max<base::Duration>(left, kRepeatHold)),
                {},
                slo_ms_});
      if (!held) return tl::unexpected(held.error());
      search.add(run_.rungs.back().rung);
    }
    if (auto done = closing_rungs(); !done) return tl::unexpected(done.error());
    return finish(ended);
  }

 private:
  base::Duration spent() const { return session_.clock().steady() - began_; }
  base::Duration sustain() const { return std::min<base::Duration>(kSustainHold, options_.max_hold); }
  // Repeat, sustain, and the two rungs of ttotal.
  base::Duration reserve() const { return 3 * kRepeatHold + sustain(); }

  base::Result<void> hold(const HoldPlan& plan) {
    auto held = hold_rung(session_, rig_, plan);
    if (!held) return tl::unexpected(held.error());
    if (plan.n == 1 && run_.unqueued_ms.empty()) run_.unqueued_ms = held->whole_ms;
    run_.rungs.push_back(std::move(*held));
    return {};
  }

  bool was_held(int n) const {
    return std::any_of(run_.rungs.begin(), run_.rungs.end(),
                       [&](const HeldRung& held) { return held.rung.n == n && !held.rung.repeat; });
  }

  // L and L/2, as far as they were not held.
  std::vector<int> missing_for_ttotal() const {
    std::vector<int> missing;
    const auto result = evaluate();
    const auto load = result.q_max ? capacity::ttotal_load(*result.q_max) : std::nullopt;
    if (!load) return missing;
    for (const int n : {*load, std::max(1, *load / 2)}) {
      if (!was_held(n)) missing.push_back(n);
    }
    return missing;
  }

  // The longest that one of `count` closing holds may take, so that all of them stay within the budget.
  base::Duration share_of_rest(std::size_t count) const {
    const auto left = options_.budget - spent() - sustain();
    return std::clamp<base::Duration>(left / static_cast<int>(std::max<std::size_t>(1, count)), kRepeatHold,
                                      std::max<base::Duration>(kRepeatHold, options_.max_hold));
  }

  // L and L/2 for ttotal, the sustain at Q_max, and rung 1 again: has the endpoint stayed the same?
  base::Result<void> closing_rungs() {
    const auto result = evaluate();
    if (!result.q_max) return {};
    const auto missing = missing_for_ttotal();
    const auto most = share_of_rest(missing.size() + 1);
    for (const int n : missing) {
      if (auto held = hold({n, kRepeatHold, most, {}, slo_ms_}); !held) return held;
    }
    if (auto held = hold({*result.q_max, sustain(), sustain(), sustain() - sustain() / 6, slo_ms_, true});
        !held)
      return held;
    if (auto held = hold({1, kRepeatHold, most, {}, slo_ms_, true}); !held) return held;
    judge_repeat();
    return {};
  }

  void judge_repeat() {
    const auto first = std::find_if(run_.rungs.begin(), run_.rungs.end(),
                                    [](const HeldRung& held) { return held.rung.n == 1; });
    auto& again = run_.rungs.back().rung;
    if (first == run_.rungs.end() || !first->rung.mean_ms || !again.mean_ms) return;
    const double drift = capacity::drift_between(*first->rung.mean_ms, *again.mean_ms);
    if (drift <= capacity::kDegradedDrift) return;
    again.verdict = capacity::RungVerdict::kDegraded;
    again.reason = fmt::format(
        "rung 1 took {:.0f} ms at the start and {:.0f} ms at the end ({:.0f} % apart): the endpoint did not "
        "stay the same",
        *first->rung.mean_ms, *again.mean_ms, drift * 100);
    session_.say("  " + again.reason);
  }

  capacity::QmaxResult evaluate() const {
    std::vector<capacity::Rung> curve;
    for (const auto& held : run_.rungs) curve.push_back(held.rung);
    return capacity::evaluate_qmax(curve, slo_ms_);
  }

  base::Result<SearchRun> finish(std::string ended) {
    rig_.driver().hold(0);
    run_.result = evaluate();
    run_.took = spent();
    run_.ended_because = std::move(ended);
    return std::move(run_);
  }

  Session& session_;
  Rig& rig_;
  const QmaxOptions& options_;
  const double slo_ms_;
  const base::SteadyTime began_;
  SearchRun run_;
};

}  // namespace

base::Result<SearchRun> run_search(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms) {
  Run run(session, rig, options, slo_ms);
  return options.method == "ladder" ? run.ladder() : run.adaptive();
}

}  // namespace headroom::bench
