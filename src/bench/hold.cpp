// One rung: hold, wait, judge; and the metric that belongs to it.
#include "bench/hold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/names.hpp"
#include "bench/progress_line.hpp"
#include "bench/same_endpoint.hpp"
#include "capacity/bound.hpp"
#include "capacity/policy.hpp"
#include "load/stall.hpp"
#include "stats/percentile.hpp"
#include "stats/trend.hpp"

namespace headroom::bench {
namespace {

constexpr auto kTick = std::chrono::milliseconds(500);
constexpr auto kMetricPeriod = std::chrono::seconds(10);
constexpr auto kMetricPatience = std::chrono::minutes(2);
constexpr base::Duration kLeastStall = std::chrono::milliseconds(50);
constexpr double kStallShare = 0.02;  // of the SLO

void show_progress(ProgressLine& progress, const HoldPlan& plan, const load::Driver& driver,
                   base::SteadyTime began, base::SteadyTime now) {
  if (!progress.wanted()) return;
  const auto held = now - began;
  const std::string rest =
      plan.left.count() > 0 ? fmt::format("  at most {:.0f} s to go", base::to_s(plan.left - held)) : "";
  progress.show(fmt::format("  rung {:3}  {:4.0f} of at most {:.0f} s{}  in flight {:3}  p95 {}", plan.n,
                            base::to_s(held), base::to_s(plan.at_most), rest, driver.live().in_flight,
                            recent_p95(driver, now)));
}

std::vector<double> in_flight_between(const load::Driver& driver, base::SteadyTime from,
                                      base::SteadyTime to) {
  std::vector<double> out;
  for (const auto& sample : driver.samples()) {
    if (sample.at >= from && sample.at < to) out.push_back(sample.in_flight + sample.waiting);
  }
  return out;
}

// Hung requests are in no count until they time out.
std::uint64_t overdue_at(const load::Driver& driver, const HoldPlan& plan, base::SteadyTime now) {
  return driver.unheard(now - std::chrono::duration_cast<base::Duration>(
                                  std::chrono::duration<double, std::milli>(plan.slo_ms)));
}

// What a look at a hold shows: the judged part, and what it proves.
struct Look {
  base::SteadyTime from;
  load::WindowView view;
  capacity::Judgement judgement;
  std::vector<double> judged_ms;  // TTFABs that were judged, and the summary is of
  std::optional<stats::RoundSummary> summary;
  bool worth_holding = true;
  bool compared = false;
};

// A reading that fails is unknown, not a change; the last look of all makes up for it.
std::optional<std::string> compare_with_frozen(Session& session, const HoldPlan& plan, Look& look) {
  const auto changed = what_changed(session, {plan.config_name, 1});
  look.compared = changed.has_value();
  return changed.value_or(std::nullopt);
}

// Latency and its spread of the TTFABs that were judged, so that who reads the rung again (--resume) steers
// by the same curve; counts of all.
capacity::Rung to_rung(const HoldPlan& plan, const Look& look) {
  const load::WindowView& view = look.view;
  capacity::Rung rung;
  rung.n = plan.n;
  rung.repeat = plan.repeat;
  rung.held_mean = view.held_mean;
  if (const auto moments = stats::moments(look.judged_ms)) {
    static constexpr std::array<double, 3> kPs{0.50, 0.95, 0.99};
    const auto at = stats::percentiles(look.judged_ms, kPs);
    rung.mean_ms = moments->mean;
    rung.p50_ms = at[0];
    rung.p95_ms = at[1];
    rung.p99_ms = at[2];
  }
  if (look.summary) {
    rung.rounds = look.summary->rounds;
    rung.noise_ratio = look.summary->noise_ratio;
    rung.sd_ms = look.summary->sd;
    rung.skew = look.summary->skew;
  }
  rung.rps = view.rps;
  rung.counts =
      capacity::Counts{view.started, view.ok, view.rejected, view.failed, view.timed_out, view.aborted};
  rung.judged_s = view.seconds;
  rung.verdict = look.judgement.verdict;
  rung.reason = look.judgement.reason;
  return rung;
}

capacity::RungEvidence evidence_of(const HoldPlan& plan, const load::WindowView& view,
                                   const std::vector<double>& in_flight,
                                   const std::optional<std::string>& changed, std::uint64_t overdue) {
  capacity::RungEvidence evidence;
  evidence.counts = {view.started, view.ok, view.rejected, view.failed, view.timed_out, view.aborted};
  evidence.ttfab_ms = view.ttfab_samples_ms;
  evidence.in_flight = in_flight;
  evidence.slo_ms = plan.slo_ms;
  evidence.client_bound = view.client_bound;
  evidence.client_bound_why = view.client_bound_why;
  evidence.capacity_changed = changed.has_value();
  evidence.capacity_changed_why = changed.value_or("");
  evidence.overdue = overdue;
  return evidence;
}

// The ladder's: the last part of the hold, p95 against the SLO.
Look look_plain(Session& session, const load::Driver& driver, const HoldPlan& plan, base::SteadyTime now) {
  Look look;
  const auto overdue = overdue_at(driver, plan, now);
  look.from = now - plan.judge_last;
  look.view = driver.window(look.from, now);
  const auto in_flight = in_flight_between(driver, look.from, now);
  const auto changed = compare_with_frozen(session, plan, look);
  look.judgement = capacity::judge_rung(evidence_of(plan, look.view, in_flight, changed, overdue));
  look.judged_ms = look.view.ttfab_samples_ms;
  look.summary = stats::summarise_rounds(look.judged_ms, plan.n);
  return look;
}

std::vector<load::Stall> stalls_of(const load::Driver& driver, double slo_ms) {
  const auto share = base::from_ms(kStallShare * slo_ms);
  return load::find_stalls(driver.samples(), load::DriverOptions{}.sample_every,
                           std::max(kLeastStall, share));
}

// Successes in order, spread evenly over the time they took: the bound needs their order, and their times
// only roughly. All of one view: what ends meanwhile must not shift stalls against latencies.
std::vector<capacity::Completion> completions(const load::WindowView& view, double from_s, double to_s,
                                              const std::vector<load::Stall>& stalls) {
  std::vector<capacity::Completion> out;
  const auto count = static_cast<double>(view.ttfab_samples_ms.size());
  for (std::size_t i = 0; i < view.ttfab_samples_ms.size(); ++i) {
    const load::Waiting& wait = view.ttfab_spans[i];
    out.push_back({from_s + (to_s - from_s) * static_cast<double>(i) / count, view.ttfab_samples_ms[i],
                   load::overlaps(stalls, wait.from, wait.to),
                   base::to_ms(load::stood_still(stalls, wait.from, wait.to))});
  }
  return out;
}

// The certified method's: everything after the transient, by the bound.
Look look_certified(Session& session, const load::Driver& driver, const HoldPlan& plan,
                    const capacity::BoundSettings& bound, base::SteadyTime began, std::size_t transient,
                    bool last) {
  const auto now = session.clock().steady();
  const auto overdue = overdue_at(driver, plan, now);
  Look look;
  const auto settled = driver.nth_end_since(began, transient);
  // Too slow for the transient's completions: the second half is what there is.
  look.from = settled.value_or(began + (now - began) / 2);
  look.view = driver.window(look.from, now);
  auto in_flight = in_flight_between(driver, look.from, now);
  const auto changed = compare_with_frozen(session, plan, look);
  const double now_s = base::to_s(now - began);
  const auto stalls = stalls_of(driver, plan.slo_ms);
  const auto judged = capacity::judge_bound(
      bound, plan.n, completions(look.view, base::to_s(look.from - began), now_s, stalls), last);
  look.summary = judged.summary;
  look.judged_ms = judged.judged_ms;
  if (judged.cut) {
    look.from =
        began + std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(judged.from_s));
    look.view = driver.window(look.from, now);
    in_flight = in_flight_between(driver, look.from, now);
  }
  const auto evidence = evidence_of(plan, look.view, in_flight, changed, overdue);
  if (auto against = capacity::judge_outcomes(evidence)) {
    look.judgement = *against;
    return look;
  }
  look.judgement = {judged.verdict, judged.reason};
  // The bound is of what was answered.
  if (judged.verdict == capacity::RungVerdict::kPass || judged.verdict == capacity::RungVerdict::kUndecided) {
    if (const auto waits = capacity::overdue_reason(evidence))
      look.judgement = {capacity::RungVerdict::kUndecided, *waits};
    if (const auto lost = capacity::unproven_share(evidence))
      look.judgement = {capacity::RungVerdict::kUndecided, *lost};
  }
  if (const auto moving = stats::trend(in_flight); moving && moving->moving) {
    look.judgement = {
        last ? capacity::RungVerdict::kUnstable : capacity::RungVerdict::kUndecided,
        fmt::format("the number in flight still moves by {:+.0f} % over the hold", moving->change * 100)};
  }
  look.worth_holding = capacity::worth_holding(bound, judged, now_s, base::to_s(plan.at_most));
  return look;
}

// Holds until the plan's end (fixed) or until a look decides. kCancelled: interrupted.
base::Result<Look> hold_and_look(Session& session, const load::Driver& driver, const HoldPlan& plan,
                                 base::SteadyTime began, std::size_t transient) {
  capacity::BoundSettings bound;
  bound.slo_ms = plan.slo_ms;
  const double at_most_s = base::to_s(plan.at_most);
  ProgressLine progress(session);
  double look_at =
      plan.fixed ? at_most_s : capacity::next_look(bound, base::to_s(plan.at_least) - 1, at_most_s);
  while (true) {
    const double held_s = base::to_s(session.clock().steady() - began);
    if (held_s < look_at) {
      const auto left =
          std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(look_at - held_s));
      if (!session.interrupt().wait_for(
              std::clamp<base::Duration>(left, std::chrono::milliseconds(1), kTick)))
        return base::fail(base::ErrorCode::kCancelled, "interrupted");
      show_progress(progress, plan, driver, began, session.clock().steady());
      continue;
    }
    if (plan.fixed) return look_plain(session, driver, plan, session.clock().steady());
    const bool last = look_at >= at_most_s;
    auto look = look_certified(session, driver, plan, bound, began, transient, last);
    if (last || look.judgement.verdict != capacity::RungVerdict::kUndecided || !look.worth_holding)
      return look;
    look_at = capacity::next_look(bound, look_at, at_most_s);
  }
}

}  // namespace

base::Result<HeldRung> hold_rung(Session& session, Rig& rig, const HoldPlan& plan) {
  if (auto warm = rig.warm(plan.n, session); !warm) return tl::unexpected(warm.error());
  auto& driver = rig.driver();
  auto& clock = session.clock();
  const auto began = clock.steady();
  const auto wall_minus_steady = clock.wall().time_since_epoch() - began.time_since_epoch();
  // What is in flight beyond N comes from the rung before and must drain first.
  const auto transient = capacity::transient_completions(plan.n, driver.live().in_flight - plan.n);
  driver.hold(plan.n);
  auto look = hold_and_look(session, driver, plan, began, transient);
  if (!look) return tl::unexpected(look.error());
  const auto ended = clock.steady();
  if (look->view.over_limit > 0) {
    return base::fail(
        base::ErrorCode::kInternal,
        fmt::format("the driver held more than {} outstanding in {} samples; this is a fault of Headroom",
                    plan.n, look->view.over_limit));
  }
  HeldRung held;
  held.summary = look->summary;
  held.compared = look->compared;
  held.rung = to_rung(plan, *look);
  held.rung.hold_s = base::to_s(ended - began);
  const auto wall = [&](base::SteadyTime t) {
    return base::WallTime(
        std::chrono::duration_cast<base::WallTime::duration>(t.time_since_epoch() + wall_minus_steady));
  };
  held.from = wall(look->from);
  held.to = wall(ended);
  held.rung.started_at = base::format_iso8601(wall(began));
  held.whole_ms = driver.window(began, ended).ttfab_samples_ms;
  const auto number = [](std::optional<double> x) {
    return x ? fmt::format("{:.0f}", *x) : std::string("-");
  };
  session.say(fmt::format("  {:>4} outstanding  p50 {:>6} ms  p95 {:>6} ms  {:6.2f} requests/s  {}{}", plan.n,
                          number(held.rung.p50_ms), number(held.rung.p95_ms), look->view.rps,
                          capacity::verdict_name(*held.rung.verdict), plan.repeat ? " (repeat)" : ""));
  if (held.rung.verdict != capacity::RungVerdict::kPass) session.say("       " + held.rung.reason);
  return held;
}

std::size_t spoil_uncompared(std::vector<HeldRung>& rungs, const std::string& why) {
  std::size_t spoiled = 0;
  for (auto held = rungs.rbegin(); held != rungs.rend(); ++held) {
    held->rung.verdict = capacity::RungVerdict::kCapacityChanged;
    held->rung.reason = why;
    ++spoiled;
    const auto before = std::next(held);
    if (held->compared || (before != rungs.rend() && before->compared)) break;
  }
  return spoiled;
}

namespace {

bool waiting_is_vain(base::ErrorCode code) {
  return code == base::ErrorCode::kForbidden || code == base::ErrorCode::kUnauthenticated ||
         code == base::ErrorCode::kInvalidArgument;
}

}  // namespace

base::Result<void> join_metric(Session& session, std::vector<HeldRung>& rungs) {
  if (rungs.empty()) return {};
  const auto metric = capacity::concurrency_metric(session.endpoint(), session.variant());
  aws::Metric wanted{metric.metric_namespace, metric.name, {}};
  for (const auto& dimension : metric.dimensions)
    wanted.dimensions.push_back({dimension.name, dimension.value});
  const auto first = std::min_element(rungs.begin(), rungs.end(), [](const auto& a, const auto& b) {
                       return a.from < b.from;
                     })->from;
  const auto last = std::max_element(rungs.begin(), rungs.end(), [](const auto& a, const auto& b) {
                      return a.to < b.to;
                    })->to;
  const auto deadline = base::Deadline::after(session.clock(), kMetricPatience);
  std::vector<aws::MetricPoint> points;
  base::Result<void> readable;
  while (true) {
    auto read = session.cloudwatch().series(wanted, "Maximum", 10, first - kMetricPeriod,
                                            last + kMetricPeriod, session.soon());
    readable = read ? base::Result<void>() : tl::unexpected(read.error());
    if (read) points = std::move(*read);
    if (!read && waiting_is_vain(read.error().code)) break;
    const bool complete = !points.empty() && points.back().at + 2 * kMetricPeriod > last;
    if (complete || deadline.passed(session.clock()) ||
        !session.interrupt().wait_for(std::chrono::seconds(2)))
      break;
  }
  for (auto& held : rungs) {
    std::vector<double> inside;
    for (const auto& point : points) {
      if (point.at >= held.from && point.at + kMetricPeriod <= held.to) inside.push_back(point.value);
    }
    const auto value = stats::median(inside);
    if (!value || !held.rung.held_mean || *held.rung.held_mean <= 0) continue;
    held.rung.metric = *value;
    held.rung.metric_ratio = *value / *held.rung.held_mean;
  }
  if (session.interrupt().requested()) return base::fail(base::ErrorCode::kCancelled, "interrupted");
  if (points.empty()) return readable;
  return {};
}

capacity::Counts count_all(const load::Driver& driver) {
  capacity::Counts counts;
  for (const auto& record : driver.records()) {
    ++counts.started;
    switch (record.outcome) {
      case load::Outcome::kOk:
        ++counts.ok;
        break;
      case load::Outcome::kRejected:
        ++counts.rejected;
        break;
      case load::Outcome::kFailed:
        ++counts.failed;
        break;
      case load::Outcome::kTimedOut:
        ++counts.timed_out;
        break;
      case load::Outcome::kAborted:
        ++counts.aborted;
        break;
    }
  }
  return counts;
}

}  // namespace headroom::bench
