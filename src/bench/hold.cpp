// One rung: hold, wait, judge; and the metric that belongs to it.
#include "bench/hold.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "base/names.hpp"
#include "capacity/policy.hpp"
#include "stats/percentile.hpp"

namespace headroom::bench {
namespace {

constexpr auto kTick = std::chrono::milliseconds(500);
constexpr auto kMetricPeriod = std::chrono::seconds(10);
constexpr auto kMetricPatience = std::chrono::minutes(2);
constexpr auto kTwoPeriods = std::chrono::seconds(20);

void show_progress(const Session& session, const HoldPlan& plan, const load::Driver& driver,
                   base::Duration held) {
  if (session.options().quiet || session.options().json || isatty(STDERR_FILENO) == 0) return;
  const auto now = base::SystemClock::instance().steady();
  const auto live = driver.live();
  const auto view = driver.window(now - std::chrono::seconds(10), now);
  const std::string p95 = view.ttfab_ms ? fmt::format("{:.0f} ms", view.ttfab_ms->p95) : "-";
  fmt::print(stderr, "\r  rung {:3}  {:4.0f} of at most {:.0f} s  in flight {:3}  p95 {}      ", plan.n,
             base::to_s(held), base::to_s(plan.at_most), live.in_flight, p95);
  std::fflush(stderr);
}

void clear_progress(const Session& session) {
  if (!session.options().quiet && !session.options().json && isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "\r{:78}\r", "");
}

// Completions that belong to the transient: what is in flight beyond N comes from the rung before and must
// drain first; then 1.5 N, the capacity study's cut.
std::size_t transient_completions(const load::Driver& driver, int n) {
  const int surplus = std::max(0, driver.live().in_flight - n);
  return static_cast<std::size_t>(surplus + static_cast<int>(std::ceil(1.5 * n)));
}

bool instances_changed(Session& session, int expected) {
  if (session.bare()) return false;
  auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
  if (!endpoint) return false;  // a reading that fails is unknown, not a change
  const auto* variant = endpoint->variant(session.variant());
  return variant && variant->current_instance_count && *variant->current_instance_count != expected;
}

capacity::Rung to_rung(const HoldPlan& plan, const load::WindowView& view,
                       const std::vector<double>& in_flight, bool changed) {
  capacity::Rung rung;
  rung.n = plan.n;
  rung.repeat = plan.repeat;
  rung.held_mean = view.held_mean;
  if (view.ttfab_ms) {
    rung.mean_ms = view.ttfab_ms->mean;
    rung.p50_ms = view.ttfab_ms->p50;
    rung.p95_ms = view.ttfab_ms->p95;
    rung.p99_ms = view.ttfab_ms->p99;
  }
  rung.rps = view.rps;
  rung.counts =
      capacity::Counts{view.started, view.ok, view.rejected, view.failed, view.timed_out, view.aborted};
  rung.judged_s = view.seconds;
  capacity::RungEvidence evidence;
  evidence.counts = *rung.counts;
  evidence.ttfab_ms = view.ttfab_samples_ms;
  evidence.in_flight = in_flight;
  evidence.slo_ms = plan.slo_ms;
  evidence.client_bound = view.client_bound;
  evidence.client_bound_why = view.client_bound_why;
  evidence.capacity_changed = changed;
  const auto judgement = capacity::judge_rung(evidence);
  rung.verdict = judgement.verdict;
  rung.reason = judgement.reason;
  return rung;
}

std::vector<double> in_flight_between(const load::Driver& driver, base::SteadyTime from,
                                      base::SteadyTime to) {
  std::vector<double> out;
  for (const auto& sample : driver.samples()) {
    if (sample.at >= from && sample.at < to) out.push_back(sample.in_flight + sample.waiting);
  }
  return out;
}

}  // namespace

base::Result<HeldRung> hold_rung(Session& session, Rig& rig, const HoldPlan& plan) {
  if (auto warm = rig.warm(plan.n, session); !warm) return tl::unexpected(warm.error());
  auto& driver = rig.driver();
  auto& clock = session.clock();
  const auto began = clock.steady();
  const auto wall_minus_steady = clock.wall().time_since_epoch() - began.time_since_epoch();
  const auto transient = transient_completions(driver, plan.n);
  driver.hold(plan.n);
  std::optional<base::SteadyTime> settled;
  const bool fixed = plan.judge_last.count() > 0;
  while (true) {
    const auto now = clock.steady();
    if (now - began >= plan.at_most) break;
    const auto left = plan.at_most - (now - began);
    if (!session.interrupt().wait_for(std::min<base::Duration>(kTick, left)))
      return base::fail(base::ErrorCode::kCancelled, "interrupted");
    show_progress(session, plan, driver, clock.steady() - began);
    if (fixed) continue;
    if (!settled) settled = driver.nth_end_since(began, transient);
    if (!settled || clock.steady() - *settled < std::max<base::Duration>(kTwoPeriods, plan.at_least))
      continue;
    if (driver.window(*settled, clock.steady()).ok >= static_cast<std::uint64_t>(std::max(20, 4 * plan.n)))
      break;
  }
  clear_progress(session);
  const auto ended = clock.steady();
  auto from = fixed ? ended - plan.judge_last : settled.value_or(began);
  if (!fixed && !settled)
    from = began + (ended - began) / 2;  // too slow for 1.5 N completions: the second half is what there is
  const auto view = driver.window(from, ended);
  if (view.over_limit > 0) {
    return base::fail(
        base::ErrorCode::kInternal,
        fmt::format("the driver held more than {} outstanding in {} samples; this is a fault of Headroom",
                    plan.n, view.over_limit));
  }
  HeldRung held;
  held.rung = to_rung(plan, view, in_flight_between(driver, from, ended), instances_changed(session, 1));
  held.rung.hold_s = base::to_s(ended - began);
  const auto wall = [&](base::SteadyTime t) {
    return base::WallTime(
        std::chrono::duration_cast<base::WallTime::duration>(t.time_since_epoch() + wall_minus_steady));
  };
  held.from = wall(from);
  held.to = wall(ended);
  held.rung.started_at = base::format_iso8601(wall(began));
  held.whole_ms = driver.window(began, ended).ttfab_samples_ms;
  const auto number = [](std::optional<double> x) {
    return x ? fmt::format("{:.0f}", *x) : std::string("-");
  };
  session.say(fmt::format("  {:>4} outstanding  p50 {:>6} ms  p95 {:>6} ms  {:6.2f} requests/s  {}{}", plan.n,
                          number(held.rung.p50_ms), number(held.rung.p95_ms), view.rps,
                          capacity::verdict_name(*held.rung.verdict), plan.repeat ? " (repeat)" : ""));
  return held;
}

bool join_metric(Session& session, std::vector<HeldRung>& rungs) {
  if (rungs.empty()) return true;
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
  while (true) {
    auto read = session.cloudwatch().series(wanted, "Maximum", 10, first - kMetricPeriod,
                                            last + kMetricPeriod, session.soon());
    if (read) points = std::move(*read);
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
  return !session.interrupt().requested();
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
