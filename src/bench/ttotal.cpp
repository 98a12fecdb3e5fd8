// The command: refuse, freeze at one, load, ask for one more, stamp, restore, write, explain.
#include "bench/ttotal.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error_table.hpp"
#include "bench/drift_gate.hpp"
#include "bench/freeze.hpp"
#include "bench/hold.hpp"
#include "bench/host.hpp"
#include "bench/lag.hpp"
#include "bench/stage_watch.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
constexpr auto kPoll = std::chrono::seconds(1);

int end_with(Session& session, const base::Error& error) {
  session.complain("tts-bench ttotal: " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

struct Prepared {
  LiveEndpoint live;
  int load = 0;                // L
  double baseline_p95_ms = 0;  // at L/2
};

// p95 of the rung at L/2: what one instance shows once the second has taken its half.
std::optional<double> baseline_of(const artifact::QmaxArtifact& qmax, int n) {
  for (const auto& rung : qmax.rungs) {
    if (rung.n == n && !rung.repeat && rung.p95_ms) return rung.p95_ms;
  }
  return std::nullopt;
}

base::Result<Prepared> prepare(const TtotalOptions& options, Session& session, const LoadPlan& load) {
  const std::string file = options.qmax_file.empty() ? session.folder() + "/qmax.json" : options.qmax_file;
  auto qmax = artifact::read_qmax(file);
  if (!qmax) return tl::unexpected(qmax.error());
  Prepared prepared;
  auto live = read_live(session, std::string(aws::name_of(load.transport)), load.hash);
  if (!live) return tl::unexpected(live.error());
  prepared.live = std::move(*live);
  if (const auto differ = artifact::differences(qmax->header.fingerprint, prepared.live.fingerprint);
      !differ.empty()) {
    return base::fail(ErrorCode::kRefused,
                      fmt::format("{} was measured on something else ({}); run tts-bench qmax again", file,
                                  differ.front()));
  }
  const auto l = qmax->result.q_max ? capacity::ttotal_load(*qmax->result.q_max) : std::nullopt;
  if (!l)
    return base::fail(ErrorCode::kRefused,
                      fmt::format("{} says Q_max {}; ttotal needs at least 2, so that recovery can be seen",
                                  file, qmax->result.q_max.value_or(0)));
  const auto baseline = baseline_of(*qmax, *l / 2);
  if (!baseline)
    return base::fail(
        ErrorCode::kRefused,
        fmt::format("{} has no rung at {} outstanding to compare recovery with; run tts-bench qmax again",
                    file, *l / 2));
  prepared.load = *l;
  prepared.baseline_p95_ms = *baseline;
  return prepared;
}

base::Result<void> check_quota(Session& session, const LiveEndpoint& live) {
  auto quota = session.quotas().endpoint_instances(live.config.instance_type, session.soon());
  if (!quota || !*quota) return {};  // unknown is not zero; the service itself refuses what is too much
  if ((*quota)->value >= 2) return {};
  return base::fail(
      ErrorCode::kRefused,
      fmt::format("the quota '{}' is {:.0f} and ttotal needs 2 instances; ask for more in Service Quotas",
                  (*quota)->name, (*quota)->value));
}

struct Outcome {
  std::vector<capacity::Stamp> stamps;
  std::optional<std::string> stream;
  bool recovered = false;
  capacity::Counts counts;
};

// The earliest moment from which p95 stayed within the limit for `hold`: judged each second, never before the
// clock started.
bool recovered(const load::Driver& driver, base::SteadyTime now, base::SteadyTime served_since,
               base::Duration hold, double limit_ms) {
  const auto from = now - hold;
  if (from < served_since) return false;
  const auto view = driver.window(from, now);
  return view.ttfab_ms && view.ok >= 5 && view.ttfab_ms->p95 <= limit_ms &&
         view.rejected + view.failed + view.timed_out == 0;
}

base::Result<Outcome> observe(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                              const Prepared& prepared) {
  auto& clock = session.clock();
  auto& driver = rig.driver();
  auto watch = StageWatch::begin(session);
  if (!watch) return tl::unexpected(watch.error());
  if (auto warm = rig.warm(prepared.load, session); !warm) return tl::unexpected(warm.error());
  driver.hold(prepared.load);
  watch->add({std::string(capacity::kLoadApplied), since_epoch(clock.wall()), capacity::StageKind::kObserved,
              0.001});
  session.say(fmt::format("  {} outstanding on one instance for {:.0f} s", prepared.load,
                          base::to_s(options.settle)));
  if (!session.interrupt().wait_for(options.settle)) return base::fail(ErrorCode::kCancelled, "interrupted");

  if (auto asked = freeze.ask_count(2); !asked) return tl::unexpected(asked.error());
  const auto started = clock.steady();
  const auto started_wall = clock.wall();
  watch->add(
      {std::string(capacity::kDesiredSet), since_epoch(started_wall), capacity::StageKind::kObserved, 0.001});
  session.say("  asked for a second instance; the clock runs");
  watch->asked(started_wall, session.variant(), 2);
  const double limit_ms = options.recover_factor * prepared.baseline_p95_ms;
  const auto deadline = base::Deadline::after(clock, options.max_wait);
  std::size_t told = watch->stamps().size();
  Outcome outcome;
  std::optional<base::SteadyTime> served_since;
  auto last_look = started;
  while (!deadline.passed(clock)) {
    if (!session.interrupt().wait_for(kPoll)) return base::fail(ErrorCode::kCancelled, "interrupted");
    watch->poll(session);
    if (const auto& why = watch->failure()) {
      return base::fail(
          ErrorCode::kConflict,
          fmt::format("the second instance never served: {}; see its log, mend it and measure again", *why));
    }
    for (; told < watch->stamps().size(); ++told) {
      const auto& stamp = watch->stamps()[told];
      session.say(
          fmt::format("  {:8.3f} s  {}", base::to_s(stamp.at - since_epoch(started_wall)), stamp.name));
    }
    const auto now = clock.steady();
    const double since_look_s = base::to_s(now - std::exchange(last_look, now));
    if (watch->in_service() && !served_since) served_since = now;
    if (!served_since || !recovered(driver, now, *served_since, options.hold, limit_ms)) continue;
    const auto at =
        started_wall + std::chrono::duration_cast<base::WallTime::duration>(now - options.hold - started);
    watch->add({std::string(capacity::kTrafficRecovered), since_epoch(at), capacity::StageKind::kBounded,
                since_look_s});
    session.say(fmt::format("  {:8.3f} s  {}", base::to_s(at - started_wall), capacity::kTrafficRecovered));
    outcome.recovered = true;
    break;
  }
  outcome.stamps = watch->stamps();
  outcome.stream = watch->stream();
  return outcome;
}

// `rig` is the caller's, so that closing its connections does not keep restoring waiting.
base::Result<Outcome> measure(const TtotalOptions& options, Session& session, LoadPlan load, Freeze& freeze,
                              const Prepared& prepared, std::unique_ptr<Rig>& rig) {
  auto made = Rig::make(session, std::move(load), options.load, prepared.load);
  if (!made) return tl::unexpected(made.error());
  rig = std::move(*made);
  auto outcome = observe(options, session, freeze, *rig, prepared);
  rig->driver().stop(std::chrono::seconds(outcome ? 10 : 1));
  if (outcome) outcome->counts = count_all(rig->driver());
  return outcome;
}

base::Result<artifact::TtotalArtifact> to_artifact(const TtotalOptions& options, Session& session,
                                                   const Prepared& prepared, const Outcome& outcome) {
  auto stages = capacity::stages_from_stamps(outcome.stamps);
  if (!stages) return tl::unexpected(stages.error());
  artifact::TtotalArtifact out;
  out.header = session.header(prepared.live.fingerprint);
  out.header.counts = outcome.counts;
  out.transport = prepared.live.fingerprint.transport.value_or("");
  out.stages = std::move(*stages);
  out.measured_total_s = out.stages.measured_total_s;
  if (auto lag = policy_lag(session)) {
    out.policy_lag_bound_s = lag->seconds;
    out.lag_source = lag->source;
    if (out.measured_total_s) out.total_s = *out.measured_total_s + lag->seconds;
  } else {  // T_m cost an instance and half an hour; the lag can be read again
    out.header.notes.push_back("the policy's lag could not be read, so that T_total is unknown: " +
                               base::describe(lag.error()));
    session.complain("warning: " + out.header.notes.back());
  }
  out.load_l = prepared.load;
  out.recover_factor = options.recover_factor;
  out.hold_s = base::to_s(options.hold);
  out.baseline_p95_ms = prepared.baseline_p95_ms;
  out.paced_engine = prepared.live.paced;
  out.new_instance = outcome.stream;
  if (prepared.live.paced)
    out.header.notes.push_back("paced engine: no model speaks; figures are for capacity experiments only");
  note_host(session, out.header, out.host_contended, prepared.live.paced, 2);
  return out;
}

void explain(const Session& session, const artifact::TtotalArtifact& a, const std::string& path) {
  for (const auto& stage : a.stages.before_clock)
    session.say(
        fmt::format("  before the clock: {} -> {} {:.1f} s (not summed)", stage.from, stage.to, stage.s));
  if (a.measured_total_s) {
    session.say(fmt::format("T_m = {:.1f} s measured from asking", *a.measured_total_s));
    if (a.total_s)
      session.say(fmt::format("lag = {:.0f} s ({}); T_total = {:.1f} s", *a.policy_lag_bound_s, a.lag_source,
                              *a.total_s));
    if (const auto largest = capacity::largest_stage(a.stages.measured)) {
      if (a.total_s) session.say(capacity::share_sentence(*largest, *a.measured_total_s, *a.total_s));
      session.say("worth shortening: " + capacity::stage_remedy(largest->to));
    }
  } else {
    session.say("traffic did not recover within the time; T_total is unknown");
  }
  session.say("written: " + path);
}

int dry_run(const TtotalOptions& options, Session& session, const LoadPlan& load) {
  session.say(
      fmt::format("ttotal on endpoint '{}', workload {}, transport {}: freeze at one instance, load for "
                  "{:.0f} s, ask for a second, stamp its stages until p95 "
                  "held {:.0f} s within {:.2f} of the value at half the load, restore",
                  session.endpoint(), load.workload.spec(), aws::name_of(load.transport),
                  base::to_s(options.settle), base::to_s(options.hold), options.recover_factor));
  session.say(
      fmt::format("estimated 28 min on a GPU instance of SageMaker, at most {:.0f} min; no request was made",
                  base::to_s(options.max_wait) / 60));
  return base::kExitGood;
}

}  // namespace

std::vector<base::Option> TtotalOptions::table() {
  std::vector<base::Option> rows = load.table();
  const std::vector<base::Option> own{
      {.name = "qmax",
       .help = "the qmax artifact; default: qmax.json in the artifact folder",
       .target = &qmax_file},
      {.name = "recover-factor",
       .help = "recovered: p95 within this factor of the value at half the load",
       .target = &recover_factor,
       .min = 1,
       .max = 100},
      {.name = "hold", .help = "for how long it must stay there", .target = &hold, .min = 1, .max = 3600},
      {.name = "settle", .help = "load before the clock starts", .target = &settle, .min = 0, .max = 3600},
      {.name = "max-wait", .help = "longest wait for recovery", .target = &max_wait, .min = 1, .max = 7200},
      {.name = "force", .help = "measure although drift was found", .target = &force},
      {.name = "dry-run", .help = "schedule and estimate; no network", .target = &dry_run},
  };
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

int run_ttotal(const TtotalOptions& options, Session& session) {
  auto load = plan_load(options.load, session);
  if (!load) return end_with(session, load.error());
  if (options.dry_run) return dry_run(options, session, *load);
  auto prepared = prepare(options, session, *load);
  if (!prepared) return end_with(session, prepared.error());
  if (auto ok = check_quota(session, prepared->live); !ok) return end_with(session, ok.error());
  if (auto fine = stop_at_drift(session, options.force); !fine) return end_with(session, fine.error());
  if (auto yes = session.consent("suspend scaling, pin one instance, load it and start a second", 1.0); !yes)
    return end_with(session, yes.error());

  std::unique_ptr<Rig> rig;
  base::Result<Outcome> outcome = base::fail(ErrorCode::kInternal, "not measured");
  {
    auto freeze = Freeze::engage(session, prepared->live, 1);
    if (!freeze) return end_with(session, freeze.error());
    outcome = measure(options, session, std::move(*load), *freeze, *prepared, rig);
    if (auto back = freeze->restore(); !back) return end_with(session, back.error());
  }
  rig.reset();
  if (!outcome) return end_with(session, outcome.error());
  auto a = to_artifact(options, session, *prepared, *outcome);
  if (!a) return end_with(session, a.error());
  const std::string path = session.folder() + "/ttotal.json";
  if (auto written = artifact::write_artifact(path, *a); !written) return end_with(session, written.error());
  if (session.options().json) {
    if (auto text = artifact::to_json_text(*a)) std::fputs(text->c_str(), stdout);
  }
  explain(session, *a, path);
  return outcome->recovered ? base::kExitGood : base::kExitInconclusive;
}

}  // namespace headroom::bench
