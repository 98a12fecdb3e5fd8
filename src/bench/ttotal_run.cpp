// Load, clock, stamps, recovery.
#include "bench/ttotal_run.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/names.hpp"
#include "bench/lag.hpp"
#include "bench/progress_line.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
constexpr auto kPoll = std::chrono::seconds(1);
constexpr double kPolicyPatience = 3;                   // times the bound of its lag
constexpr auto kMetricDelay = std::chrono::minutes(2);  // until a service shows what it measured

base::Error cancelled() { return {ErrorCode::kCancelled, "interrupted", {}}; }

// A request that an instance took and does not answer: open for far longer than the others took as a whole.
// An instance that is InService but hangs is seen by nothing else, since latencies are of requests that
// ended.
bool hangs(const load::Driver& driver, base::SteadyTime now, base::SteadyTime since, double limit_ms) {
  const auto recent = driver.window(std::max(since, now - std::chrono::seconds(10)), now);
  const double patience_ms = limit_ms + (recent.total_ms ? 2 * recent.total_ms->max : 0);
  const auto before = now - std::chrono::duration_cast<base::Duration>(
                                std::chrono::duration<double, std::milli>(patience_ms));
  return before > since && driver.window(since, before, load::Basis::kStarted).open > 0;
}

// Whether p95 stayed within the limit for `hold` until now.
bool recovered(const load::Driver& driver, base::SteadyTime now, base::SteadyTime served_since,
               base::Duration hold, double limit_ms) {
  const auto from = now - hold;
  if (from < served_since) return false;
  const auto view = driver.window(from, now);
  return view.ttfab_ms && view.ok >= 5 && view.ttfab_ms->p95 <= limit_ms &&
         view.rejected + view.failed + view.timed_out == 0;
}

// Tells each stamp once, as it comes, and in between how far it is.
class StampTeller {
 public:
  StampTeller(ProgressLine& progress, base::SteadyTime start) : progress_(progress), start_(start) {}
  void known(const std::vector<capacity::Stamp>& stamps) {
    for (const auto& stamp : stamps) told_.insert(stamp.name);
    take_latest(stamps);
  }
  void tell(std::vector<capacity::Stamp> stamps) {
    std::stable_sort(stamps.begin(), stamps.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    for (const auto& stamp : stamps) {
      if (told_.insert(stamp.name).second)
        progress_.say(fmt::format("  {:8.3f} s  {}", base::to_s(stamp.at - on_steady(start_)), stamp.name));
    }
    take_latest(stamps);
  }
  void show(base::SteadyTime now, base::Duration at_most, const load::Driver& driver) {
    if (!progress_.wanted()) return;
    progress_.show(
        progress_line({latest_.name, base::to_s(on_steady(now) - latest_.at), base::to_s(now - start_),
                       base::to_s(at_most), driver.live().in_flight, recent_p95(driver, now)}));
  }

 private:
  void take_latest(const std::vector<capacity::Stamp>& stamps) {
    for (const auto& stamp : stamps) {
      if (stamp.at >= latest_.at) latest_ = stamp;
    }
  }
  ProgressLine& progress_;
  base::SteadyTime start_;
  std::set<std::string> told_;
  capacity::Stamp latest_{"", base::Duration::min()};
};

// The driver's own condition under the load; what was judged as recovery counts for itself.
std::optional<std::string> client_bound(const load::Driver& driver, base::SteadyTime loaded,
                                        std::optional<base::SteadyTime> recovered_from,
                                        base::SteadyTime now) {
  std::optional<load::WindowView> recovery;
  if (recovered_from) recovery = driver.window(*recovered_from, now);
  return client_bound_why(driver.window(loaded, std::max(loaded, recovered_from.value_or(now))), recovery);
}

// Polls until the instance serves and traffic is well, or the time is over. `watch` already runs; the load is
// held since `loaded`.
base::Result<Outcome> until_recovered(const TtotalOptions& options, Session& session, Rig& rig,
                                      StageWatch& watch, const RunningClock& running,
                                      base::SteadyTime loaded) {
  auto& clock = session.clock();
  auto& driver = rig.driver();
  const double limit_ms = options.recover_factor * running.baseline_p95_ms;
  const auto deadline = base::Deadline::after(clock, options.max_wait);
  ProgressLine progress(session);
  StampTeller teller(progress, running.desired_set.steady);
  teller.known(running.stamps());
  Outcome outcome;
  std::optional<base::SteadyTime> served_since, recovered_from;
  const auto began = clock.steady();
  auto last_look = began;
  while (!deadline.passed(clock) && !recovered_from) {
    if (!session.interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
    watch.poll(session);
    if (const auto& why = watch.failure()) {
      return base::fail(
          ErrorCode::kConflict,
          fmt::format("the new instance never served: {}; see its log, mend it and measure again", *why));
    }
    teller.tell(watch.seen().stamps);
    const auto now = clock.steady();
    teller.show(now, deadline.at - running.desired_set.steady, driver);
    const double since_look_s = base::to_s(now - std::exchange(last_look, now));
    if (watch.in_service() && !served_since) served_since = now;
    if (served_since && hangs(driver, now, began, limit_ms)) served_since = now;
    if (!served_since || !recovered(driver, now, *served_since, options.hold, limit_ms)) continue;
    recovered_from = now - options.hold;
    watch.add({std::string(capacity::kTrafficRecovered), on_steady(*recovered_from),
               capacity::StageKind::kBounded, since_look_s});
    teller.tell(watch.seen().stamps);
  }
  auto seen = watch.seen();
  outcome.baseline_p95_ms = running.baseline_p95_ms;
  outcome.recovered = recovered_from.has_value();
  outcome.client_bound = client_bound(driver, loaded, recovered_from, last_look);
  outcome.lag_s = running.lag_s();
  outcome.stamps = std::move(seen.stamps);
  outcome.notes = std::move(seen.notes);
  outcome.stream = watch.stream();
  return outcome;
}

// Scaling out is let loose until the policy asks for more; then held still again, so that it asks once.
base::Result<RunningClock> wait_for_policy(Session& session, Freeze& freeze, const load::Driver& driver,
                                           const Prepared& prepared, double lag_bound_s,
                                           base::SteadyTime loaded) {
  auto& clock = session.clock();
  RunningClock running;
  running.observed = true;
  running.load_applied = loaded;
  if (auto loose = freeze.let_scale_out(); !loose) return tl::unexpected(loose.error());
  const auto patience = base::from_s(kPolicyPatience * lag_bound_s) + kMetricDelay;
  const auto deadline = base::Deadline::after(clock, patience);
  auto last_answer = clock.steady();
  ProgressLine progress(session);
  StampTeller teller(progress, running.load_applied);
  teller.known({{std::string(capacity::kLoadApplied), on_steady(running.load_applied)}});
  while (true) {
    if (!session.interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
    auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.shortly());
    const auto answer = read_moment(clock);
    const auto* variant = endpoint ? endpoint->variant(session.variant()) : nullptr;
    if (variant && variant->desired_instance_count.value_or(0) > 1) {
      running.wanted = *variant->desired_instance_count;
      running.desired_set = answer;
      running.asked_after = last_answer;
      running.resolution_s = base::to_s(answer.steady - last_answer);
      break;
    }
    if (variant) last_answer = answer.steady;
    teller.show(answer.steady, patience, driver);
    if (deadline.passed(clock)) {
      return base::fail(
          ErrorCode::kTimeout,
          fmt::format("the policy did not ask for more within {:.0f} s at {} outstanding; tts-bench drift "
                      "says whether it can act",
                      base::to_s(patience), prepared.load));
    }
  }
  progress.clear();
  if (auto still = freeze.hold_scaling(); !still) return tl::unexpected(still.error());
  const double share = static_cast<double>(prepared.load) / running.wanted;
  running.baseline_p95_ms = p95_at(prepared.qmax.rungs, share).value_or(prepared.baseline_p95_ms);
  return running;
}

// One instance under its load for a while, before the clock starts.
base::Result<void> settle(Session& session, const load::Driver& driver, base::SteadyTime loaded,
                          base::Duration length) {
  ProgressLine progress(session);
  StampTeller teller(progress, loaded);
  teller.known({{std::string(capacity::kLoadApplied), on_steady(loaded)}});
  const base::Deadline end{loaded + length};
  while (!end.passed(session.clock())) {
    if (!session.interrupt().wait_for(std::min<base::Duration>(kPoll, end.left(session.clock()))))
      return tl::unexpected(cancelled());
    const auto now = session.clock().steady();
    teller.show(now, length, driver);
  }
  return {};
}

base::Result<RunningClock> ask_for_one_more(Session& session, Freeze& freeze, const Prepared& prepared,
                                            base::SteadyTime loaded) {
  RunningClock running;
  running.load_applied = loaded;
  running.asked_after = session.clock().steady();
  if (auto asked = freeze.ask_count(2); !asked) return tl::unexpected(asked.error());
  running.desired_set = read_moment(session.clock());
  running.baseline_p95_ms = prepared.baseline_p95_ms;
  return running;
}

// From here on both ways are the same.
base::Result<Outcome> follow(const TtotalOptions& options, Session& session, Rig& rig, StageWatch& watch,
                             const RunningClock& running, base::SteadyTime loaded) {
  for (auto& stamp : running.stamps()) watch.add(std::move(stamp));
  watch.asked(running.desired_set, running.asked_after, session.variant(), running.wanted);
  auto outcome = until_recovered(options, session, rig, watch, running, loaded);
  rig.driver().hold(0);
  return outcome;
}

}  // namespace

std::string progress_line(const TtotalStanding& s) {
  return fmt::format("  {} {:.0f} s ago, {:.0f} of {:.0f} s, in flight {}, p95 {}", s.reached, s.reached_s,
                     s.waited_s, s.at_most_s, s.in_flight, s.p95);
}

std::optional<double> p95_at(const std::vector<capacity::Rung>& rungs, double n) {
  const capacity::Rung* below = nullptr;
  const capacity::Rung* above = nullptr;
  const auto curve = capacity::latency_curve(rungs);
  for (const auto& rung : curve) {
    if (rung.n <= n && (!below || rung.n >= below->n)) below = &rung;
    if (rung.n >= n && (!above || rung.n <= above->n)) above = &rung;
  }
  if (!below || !above) return std::nullopt;
  if (above->n == below->n) return below->p95_ms;
  return *below->p95_ms + (*above->p95_ms - *below->p95_ms) * (n - below->n) / (above->n - below->n);
}

std::optional<std::string> client_bound_why(const load::WindowView& waiting,
                                            const std::optional<load::WindowView>& recovery) {
  if (recovery && recovery->client_bound)
    return "while recovery was judged, the driver was the limit: " + recovery->client_bound_why;
  if (waiting.client_bound) return "under the load, the driver was the limit: " + waiting.client_bound_why;
  return std::nullopt;
}

base::Result<Outcome> measure_once(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                                   const Prepared& prepared) {
  auto watch = StageWatch::begin(session);
  if (!watch) return tl::unexpected(watch.error());
  // Before the load: an alarm counts from then on, however long this reading takes.
  auto lag = options.observe_policy ? policy_lag(session) : base::Result<PolicyLag>();
  if (!lag) return tl::unexpected(lag.error());
  if (auto warm = rig.warm(prepared.load, session); !warm) return tl::unexpected(warm.error());
  rig.driver().hold(prepared.load);
  const auto loaded = session.clock().steady();
  base::Result<RunningClock> running = RunningClock{};
  if (options.observe_policy) {
    session.say(fmt::format("  {} outstanding on one instance; scaling out is let loose", prepared.load));
    running = wait_for_policy(session, freeze, rig.driver(), prepared, lag->seconds, loaded);
  } else {
    session.say(fmt::format("  {} outstanding on one instance for {:.0f} s", prepared.load,
                            base::to_s(options.settle)));
    if (auto settled = settle(session, rig.driver(), loaded, options.settle); !settled)
      return tl::unexpected(settled.error());
    running = ask_for_one_more(session, freeze, prepared, loaded);
  }
  if (!running) return tl::unexpected(running.error());
  running->freeze_run = freeze.run_id();
  running->config_name = prepared.live.endpoint.config_name;
  running->load = prepared.load;
  running->old_streams = watch->old_streams();
  if (auto saved = save_clock(session, *running); !saved)
    session.complain("warning: " + base::describe(saved.error()));
  session.say(running->observed ? fmt::format("  the policy asked for {} after {:.1f} s; the clock runs",
                                              running->wanted, *running->lag_s())
                                : "  asked for a second instance; the clock runs");
  return follow(options, session, rig, *watch, *running, loaded);
}

base::Result<Outcome> resume_clock(const TtotalOptions& options, Session& session, Rig& rig,
                                   const RunningClock& running) {
  StageWatch watch = StageWatch::resume(running.old_streams);
  if (auto warm = rig.warm(running.load, session); !warm) return tl::unexpected(warm.error());
  rig.driver().hold(running.load);
  session.say(fmt::format("  going on with the clock that runs since {}",
                          base::format_iso8601(running.desired_set.wall)));
  auto outcome = follow(options, session, rig, watch, running, session.clock().steady());
  if (!outcome) return outcome;
  outcome->resumed = true;
  if (running.by_wall)
    outcome->notes.push_back(
        "the machine was started anew while the clock ran: only its wall clock says how long ago the new "
        "instance was asked for");
  return outcome;
}

}  // namespace headroom::bench
