// Load, clock, stamps, recovery.
#include "bench/ttotal_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/names.hpp"
#include "bench/lag.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
using nlohmann::json;
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

// Polls until the instance serves and traffic is well, or the time is over. `watch` already runs.
base::Result<Outcome> until_recovered(const TtotalOptions& options, Session& session, Rig& rig,
                                      StageWatch& watch, const RunningClock& running) {
  auto& clock = session.clock();
  auto& driver = rig.driver();
  const double limit_ms = options.recover_factor * running.baseline_p95_ms;
  const auto deadline = base::Deadline::after(clock, options.max_wait);
  std::size_t told = watch.stamps().size();
  Outcome outcome;
  std::optional<base::SteadyTime> served_since;
  const auto began = clock.steady();
  auto last_look = began;
  const auto since_clock = [&](base::Duration at) {
    return base::to_s(at - since_epoch(running.desired_set));
  };
  while (!deadline.passed(clock)) {
    if (!session.interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
    watch.poll(session);
    if (const auto& why = watch.failure()) {
      return base::fail(
          ErrorCode::kConflict,
          fmt::format("the new instance never served: {}; see its log, mend it and measure again", *why));
    }
    for (; told < watch.stamps().size(); ++told)
      session.say(
          fmt::format("  {:8.3f} s  {}", since_clock(watch.stamps()[told].at), watch.stamps()[told].name));
    const auto now = clock.steady();
    const double since_look_s = base::to_s(now - std::exchange(last_look, now));
    if (watch.in_service() && !served_since) served_since = now;
    if (served_since && hangs(driver, now, began, limit_ms)) served_since = now;
    if (!served_since || !recovered(driver, now, *served_since, options.hold, limit_ms)) continue;
    const auto at = clock.wall() - std::chrono::duration_cast<base::WallTime::duration>(options.hold);
    watch.add({std::string(capacity::kTrafficRecovered), since_epoch(at), capacity::StageKind::kBounded,
               since_look_s});
    session.say(fmt::format("  {:8.3f} s  {}", since_clock(since_epoch(at)), capacity::kTrafficRecovered));
    outcome.recovered = true;
    break;
  }
  outcome.stamps = watch.stamps();
  outcome.stream = watch.stream();
  return outcome;
}

// Scaling out is let loose until the policy asks for more; then held still again, so that it asks once.
base::Result<RunningClock> wait_for_policy(Session& session, Freeze& freeze, const Prepared& prepared) {
  auto lag = policy_lag(session);
  if (!lag) return tl::unexpected(lag.error());
  auto& clock = session.clock();
  RunningClock running;
  running.observed = true;
  running.load_applied = clock.wall();
  if (auto loose = freeze.let_scale_out(); !loose) return tl::unexpected(loose.error());
  const auto patience = std::chrono::duration_cast<base::Duration>(
                            std::chrono::duration<double>(kPolicyPatience * lag->seconds)) +
                        kMetricDelay;
  const auto deadline = base::Deadline::after(clock, patience);
  auto last_answer = clock.wall();
  while (true) {
    if (!session.interrupt().wait_for(kPoll)) return tl::unexpected(cancelled());
    auto endpoint = session.sagemaker().describe_endpoint(session.endpoint(), session.soon());
    const auto answer = clock.wall();
    const auto* variant = endpoint ? endpoint->variant(session.variant()) : nullptr;
    if (variant && variant->desired_instance_count.value_or(0) > 1) {
      running.wanted = *variant->desired_instance_count;
      running.desired_set = answer;
      running.resolution_s = base::to_s(answer - last_answer);
      break;
    }
    if (variant) last_answer = answer;
    if (deadline.passed(clock)) {
      return base::fail(
          ErrorCode::kTimeout,
          fmt::format("the policy did not ask for more within {:.0f} s at {} outstanding; tts-bench drift "
                      "says whether it can act",
                      base::to_s(patience), prepared.load));
    }
  }
  if (auto still = freeze.hold_scaling(); !still) return tl::unexpected(still.error());
  const double share = static_cast<double>(prepared.load) / running.wanted;
  running.baseline_p95_ms = p95_at(prepared.qmax.rungs, share).value_or(prepared.baseline_p95_ms);
  return running;
}

// What polling saw lies between two answers; what was asked for here is known to the moment.
capacity::Stamp desired_stamp(const RunningClock& running) {
  return {std::string(capacity::kDesiredSet), since_epoch(running.desired_set),
          running.observed ? capacity::StageKind::kBounded : capacity::StageKind::kObserved,
          running.resolution_s};
}

base::Result<RunningClock> ask_for_one_more(Session& session, Freeze& freeze, const Prepared& prepared) {
  RunningClock running;
  if (auto asked = freeze.ask_count(2); !asked) return tl::unexpected(asked.error());
  running.desired_set = session.clock().wall();
  running.baseline_p95_ms = prepared.baseline_p95_ms;
  return running;
}

}  // namespace

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

base::Result<Outcome> measure_once(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                                   const Prepared& prepared) {
  auto& clock = session.clock();
  auto watch = StageWatch::begin(session);
  if (!watch) return tl::unexpected(watch.error());
  if (auto warm = rig.warm(prepared.load, session); !warm) return tl::unexpected(warm.error());
  rig.driver().hold(prepared.load);
  auto load_applied = clock.wall();
  base::Result<RunningClock> running = RunningClock{};
  if (options.observe_policy) {
    session.say(fmt::format("  {} outstanding on one instance; scaling out is let loose", prepared.load));
    running = wait_for_policy(session, freeze, prepared);
    if (running) load_applied = running->load_applied;
  } else {
    session.say(fmt::format("  {} outstanding on one instance for {:.0f} s", prepared.load,
                            base::to_s(options.settle)));
    if (!session.interrupt().wait_for(options.settle)) return tl::unexpected(cancelled());
    running = ask_for_one_more(session, freeze, prepared);
  }
  if (!running) return tl::unexpected(running.error());
  running->freeze_run = freeze.run_id();
  running->load_applied = load_applied;
  running->load = prepared.load;
  running->old_streams = watch->old_streams();
  if (auto saved = save_clock(session, *running); !saved)
    session.complain("warning: " + base::describe(saved.error()));
  watch->add({std::string(capacity::kLoadApplied), since_epoch(load_applied), capacity::StageKind::kObserved,
              0.001});
  watch->add(desired_stamp(*running));
  session.say(running->observed ? fmt::format("  the policy asked for {} after {:.1f} s; the clock runs",
                                              running->wanted, *running->lag_s())
                                : "  asked for a second instance; the clock runs");
  watch->asked(running->desired_set, session.variant(), running->wanted);
  auto outcome = until_recovered(options, session, rig, *watch, *running);
  if (outcome) outcome->lag_s = running->lag_s();
  rig.driver().hold(0);
  return outcome;
}

base::Result<Outcome> resume_clock(const TtotalOptions& options, Session& session, Rig& rig,
                                   const RunningClock& running) {
  StageWatch watch = StageWatch::resume(running.old_streams);
  watch.add({std::string(capacity::kLoadApplied), since_epoch(running.load_applied),
             capacity::StageKind::kObserved, 0.001});
  watch.add(desired_stamp(running));
  if (auto warm = rig.warm(running.load, session); !warm) return tl::unexpected(warm.error());
  rig.driver().hold(running.load);
  watch.asked(running.desired_set, session.variant(), running.wanted);
  session.say(
      fmt::format("  going on with the clock that runs since {}", base::format_iso8601(running.desired_set)));
  auto outcome = until_recovered(options, session, rig, watch, running);
  if (outcome) {
    outcome->resumed = true;
    outcome->lag_s = running.lag_s();
  }
  rig.driver().hold(0);
  return outcome;
}

std::optional<double> RunningClock::lag_s() const {
  if (!observed) return std::nullopt;
  return base::to_s(desired_set - load_applied);
}

std::string clock_path(const Session& session) { return session.folder() + "/ttotal-clock.json"; }

base::Result<void> save_clock(const Session& session, const RunningClock& c) {
  const json body{{"schema", "headroom/ttotal-clock"},
                  {"version", 1},
                  {"freeze_run", c.freeze_run},
                  {"load_applied", base::format_iso8601(c.load_applied)},
                  {"desired_set", base::format_iso8601(c.desired_set)},
                  {"resolution_s", c.resolution_s},
                  {"observed", c.observed},
                  {"load", c.load},
                  {"wanted", c.wanted},
                  {"baseline_p95_ms", c.baseline_p95_ms},
                  {"old_streams", c.old_streams}};
  return base::write_file_atomically(clock_path(session), body.dump(2) + "\n", 0600);
}

base::Result<RunningClock> load_clock(const Session& session) {
  auto text = base::read_file(clock_path(session), 1 << 20);
  if (!text) return tl::unexpected(text.error());
  const json body = json::parse(*text, nullptr, false);
  const auto bad = [&] {
    return base::fail(
        ErrorCode::kInvalidData,
        fmt::format("{} is not the clock of a ttotal; delete it and measure anew", clock_path(session)));
  };
  try {
    if (body.at("schema").get<std::string>() != "headroom/ttotal-clock") return bad();
    RunningClock c;
    c.freeze_run = body.at("freeze_run").get<std::string>();
    const auto load_applied = base::parse_iso8601(body.at("load_applied").get<std::string>());
    const auto desired_set = base::parse_iso8601(body.at("desired_set").get<std::string>());
    if (!load_applied || !desired_set) return bad();
    c.load_applied = *load_applied;
    c.desired_set = *desired_set;
    c.resolution_s = body.at("resolution_s").get<double>();
    c.observed = body.value("observed", false);
    c.load = body.at("load").get<int>();
    c.wanted = body.at("wanted").get<int>();
    c.baseline_p95_ms = body.at("baseline_p95_ms").get<double>();
    c.old_streams = body.at("old_streams").get<std::vector<std::string>>();
    if (c.load < 1 || c.wanted < 2 || !(c.baseline_p95_ms > 0)) return bad();
    return c;
  } catch (const json::exception&) {
    return bad();
  }
}

}  // namespace headroom::bench
