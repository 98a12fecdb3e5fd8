// Ladder and adaptive search, over the same hold.
#include "bench/search_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/same_endpoint.hpp"
#include "capacity/certified.hpp"
#include "capacity/simulation.hpp"
#include "stats/percentile.hpp"

namespace headroom::bench {
namespace {

constexpr auto kShortHold = std::chrono::seconds(20);  // two metric periods
constexpr auto kSustainHold = std::chrono::seconds(60);
constexpr auto kDrainPoll = std::chrono::milliseconds(100);
constexpr auto kBetween =
    std::chrono::seconds(25);  // of the reserve: warming, draining and reading between holds

base::Duration seconds(double s) {
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(s));
}

class Run {
 public:
  Run(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms, std::string config_name,
      SearchRun before, const std::function<void(const SearchRun&)>& after_each)
      : session_(session),
        rig_(rig),
        options_(options),
        slo_ms_(slo_ms),
        config_name_(std::move(config_name)),
        after_each_(after_each),
        began_(session.clock().steady()),
        run_(std::move(before)) {}

  base::Result<SearchRun> ladder() {
    std::vector<int> rungs = options_.rungs;
    const auto each = options_.hold + options_.idle;
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      const bool already = was_held(rungs[i], tells_something);
      if (!already) {
        HoldPlan plan;
        plan.n = rungs[i];
        plan.at_least = plan.at_most = options_.hold;
        plan.fixed = true;
        plan.judge_last = options_.judge;
        plan.left = each * static_cast<int>(rungs.size() - i);
        if (auto held = hold(plan); !held) return tl::unexpected(held.error());
        rig_.driver().hold(0);
      }
      // After the last of the ladder, held now or by the interrupted run: what ttotal compares with.
      if (i + 1 == options_.rungs.size()) {
        for (const int n : missing_for_ttotal()) rungs.push_back(n);
      }
      if (!already && i + 1 < rungs.size() && !session_.interrupt().wait_for(options_.idle))
        return base::fail(base::ErrorCode::kCancelled, "interrupted");
    }
    return finish("every rung was held");
  }

  base::Result<SearchRun> adaptive() {
    capacity::CertifiedSettings settings;
    settings.slo_ms = slo_ms_;
    settings.max_n = options_.max_n;
    settings.max_hold_s = base::to_s(options_.max_hold);
    settings.budget_s = base::to_s(options_.budget);
    settings.reserve_s = base::to_s(kShortHold + sustain() + kBetween);
    settings.small_reserve_s = base::to_s(2 * kShortHold);
    search_.emplace(settings);
    for (const auto& held : run_.rungs) tell_search(held);
    while (const auto next = search_->next(base::to_s(spent()))) {
      const auto plan = certified(next->n, seconds(next->at_least_s), seconds(next->at_most_s));
      if (auto held = hold(plan); !held) return tl::unexpected(held.error());
      tell_search(run_.rungs.back());
    }
    const std::string ended = search_->ended_because(base::to_s(spent()));
    if (auto done = closing_rungs(); !done) return tl::unexpected(done.error());
    return finish(ended);
  }

 private:
  // Holds of an interrupted run count: they were paid for.
  base::Duration spent() const { return session_.clock().steady() - began_ + run_.took; }
  base::Duration left() const { return std::max<base::Duration>(options_.budget - spent(), {}); }
  base::Duration sustain() const { return std::min<base::Duration>(kSustainHold, options_.max_hold); }

  void tell_search(const HeldRung& held) {
    if (held.rung.repeat) return;
    search_->add({held.rung.n, held.rung.verdict.value_or(capacity::RungVerdict::kUndecided), held.summary,
                  held.rung.rps, held.rung.reason});
  }

  HoldPlan certified(int n, base::Duration at_least, base::Duration at_most) const {
    HoldPlan plan;
    plan.n = n;
    plan.at_least = at_least;
    plan.at_most = at_most;
    plan.left = left();
    return plan;
  }
  HoldPlan again(int n, base::Duration length) const {
    HoldPlan plan = certified(n, length, length);
    plan.repeat = true;
    return plan;
  }

  base::Result<void> hold(HoldPlan plan) {
    plan.slo_ms = slo_ms_;
    plan.config_name = config_name_;
    auto held = hold_rung(session_, rig_, plan);
    if (!held) return tl::unexpected(held.error());
    if (plan.n == 1 && !run_.unqueued.mean_ms) {
      if (const auto moments = stats::moments(held->whole_ms)) run_.unqueued.mean_ms = moments->mean;
      run_.unqueued.p95_ms = stats::percentile(held->whole_ms, 0.95);
      run_.unqueued.sample_ms = capacity::compact_sample(held->whole_ms);
    }
    run_.rungs.push_back(std::move(*held));
    if (after_each_) {
      run_.result = evaluate();
      SearchRun sofar = run_;
      sofar.took = spent();
      after_each_(sofar);
    }
    return {};
  }

  // A refused rung is the end of the ladder; what judged nothing is held again.
  static bool tells_something(capacity::RungVerdict verdict) {
    return capacity::tells_latency(verdict) || verdict == capacity::RungVerdict::kSaturated;
  }

  // Whether the last hold at n is one that counts.
  bool was_held(int n, bool (*counts)(capacity::RungVerdict)) const {
    const auto last = std::find_if(run_.rungs.rbegin(), run_.rungs.rend(), [&](const HeldRung& held) {
      return held.rung.n == n && !held.rung.repeat;
    });
    return last != run_.rungs.rend() && last->rung.verdict && counts(*last->rung.verdict);
  }

  // L and L/2, as far as no hold told their latency.
  std::vector<int> missing_for_ttotal() const {
    std::vector<int> missing;
    const auto result = evaluate();
    const auto load = result.q_max ? capacity::ttotal_load(*result.q_max) : std::nullopt;
    if (!load) return missing;
    for (const int n : {*load, std::max(1, *load / 2)}) {
      if (!was_held(n, capacity::tells_latency)) missing.push_back(n);
    }
    return missing;
  }

  // The longest that one of `count` closing holds may take, so that all of them stay within the budget.
  base::Duration share_of_rest(std::size_t count) const {
    const auto rest = options_.budget - spent() - sustain();
    return std::clamp<base::Duration>(rest / static_cast<int>(std::max<std::size_t>(1, count)), kShortHold,
                                      std::max<base::Duration>(kShortHold, options_.max_hold));
  }

  // L and L/2 for ttotal, the sustain at Q_max, and rung 1 again: has the endpoint stayed the same?
  base::Result<void> closing_rungs() {
    const auto result = evaluate();
    if (!result.q_max) return {};
    const auto missing = missing_for_ttotal();
    const auto most = share_of_rest(missing.size() + 1);
    for (const int n : missing) {
      if (auto held = hold(certified(n, kShortHold, most)); !held) return held;
    }
    if (auto held = hold(again(*result.q_max, sustain())); !held) return held;
    judge_sustain();
    if (auto drained = drain(); !drained) return drained;
    if (auto held = hold(again(1, kShortHold)); !held) return held;
    judge_repeat();
    return {};
  }

  // Rung 1 again is compared with a rung 1 that began on an idle server: what the sustain has in flight may
  // stream for as long as its audio lasts. Whatever outlives its own time limit is not waited for.
  base::Result<void> drain() {
    rig_.driver().hold(0);
    const auto deadline = base::Deadline::after(session_.clock(), options_.load.request_timeout);
    while (rig_.driver().live().in_flight > 0 && !deadline.passed(session_.clock())) {
      if (!session_.interrupt().wait_for(kDrainPoll))
        return base::fail(base::ErrorCode::kCancelled, "interrupted");
    }
    return {};
  }

  void judge_sustain() {
    const auto& rung = run_.rungs.back().rung;
    if (rung.verdict == capacity::RungVerdict::kFail)
      session_.say(fmt::format("  the sustain at {} did not hold the SLO: {}", rung.n, rung.reason));
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
    if (search_) search_->distrust_line();
  }

  capacity::QmaxResult evaluate() const {
    if (search_) return capacity::to_qmax_result(search_->result(), slo_ms_);
    std::vector<capacity::Rung> curve;
    for (const auto& held : run_.rungs) curve.push_back(held.rung);
    return capacity::evaluate_qmax(curve, slo_ms_);
  }

  // A redeployment in the last hold must not be written as a measurement of either server.
  void compare_at_last() {
    if (run_.rungs.empty()) return;
    const auto changed = what_changed_at_last(session_, {config_name_, 1});
    if (!changed && !run_.rungs.back().compared) {
      run_.not_compared = base::describe(changed.error());
      session_.complain("warning: whether the endpoint was redeployed meanwhile could not be read: " +
                        *run_.not_compared);
    }
    if (!changed || !*changed) return;
    session_.say("  " + **changed);
    const auto spoiled = spoil_uncompared(run_.rungs, **changed);
    if (!search_) return;
    for (auto i = run_.rungs.size() - spoiled; i < run_.rungs.size(); ++i) tell_search(run_.rungs[i]);
  }

  base::Result<SearchRun> finish(std::string ended) {
    rig_.driver().hold(0);
    compare_at_last();
    run_.result = evaluate();
    if (search_) {
      const auto result = search_->result();
      run_.noise_ratio = result.noise_ratio;
      run_.scatter = result.scatter;
    }
    run_.took = spent();
    run_.ended_because = std::move(ended);
    return std::move(run_);
  }

  Session& session_;
  Rig& rig_;
  const QmaxOptions& options_;
  const double slo_ms_;
  const std::string config_name_;  // what is measured; a redeployment in mid-run changes it
  const std::function<void(const SearchRun&)>& after_each_;
  const base::SteadyTime began_;
  SearchRun run_;
  std::optional<capacity::CertifiedSearch> search_;  // adaptive only
};

}  // namespace

base::Result<SearchRun> run_search(Session& session, Rig& rig, const QmaxOptions& options, double slo_ms,
                                   std::string config_name, SearchRun before,
                                   const std::function<void(const SearchRun&)>& after_each) {
  Run run(session, rig, options, slo_ms, std::move(config_name), std::move(before), after_each);
  return options.method == "ladder" ? run.ladder() : run.adaptive();
}

}  // namespace headroom::bench
