// The command: refuse, freeze at one, measure, restore, write, explain.
#include "bench/ttotal.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "bench/drift_gate.hpp"
#include "bench/freeze.hpp"
#include "bench/hold.hpp"
#include "bench/host.hpp"
#include "bench/lag.hpp"
#include "bench/quota_room.hpp"
#include "bench/same_endpoint.hpp"
#include "bench/ttotal_run.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;

int end_with(Session& session, const base::Error& error) {
  session.complain("tts-bench ttotal: " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

// p95 of the rung at L/2: what one instance shows once the second has taken its half.
std::optional<double> baseline_of(const artifact::QmaxArtifact& qmax, int n) {
  for (const auto& rung : capacity::latency_curve(qmax.rungs)) {
    if (rung.n == n) return rung.p95_ms;
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
    return base::fail(ErrorCode::kRefused,
                      fmt::format("{} has no rung at {} outstanding that tells its latency, to compare "
                                  "recovery with; run tts-bench qmax again",
                                  file, *l / 2));
  // The policy acts at its own line, which lies below Q_max.
  prepared.load = options.observe_policy ? *qmax->result.q_max : *l;
  prepared.baseline_p95_ms = *baseline;
  prepared.qmax = std::move(*qmax);
  return prepared;
}

struct Measured {
  std::vector<Outcome> runs;
  capacity::Counts counts;
  base::Result<void> restored;  // a failure does not make what was measured untrue
  bool recovered() const {
    return !runs.empty() &&
           std::all_of(runs.begin(), runs.end(), [](const Outcome& o) { return o.recovered; });
  }
  // Of any run: it may have made that one the slowest, or hidden that it was.
  std::optional<std::string> client_bound() const {
    for (const Outcome& run : runs)
      if (run.client_bound) return run.client_bound;
    return std::nullopt;
  }
};

void note_and_warn(const Session& session, artifact::Header& header, const std::string& note) {
  header.notes.push_back(note);
  session.complain("warning: " + note);
}

// Of several runs the slowest is taken, since a plan must survive it; one that never recovered is slower than
// any.
base::Result<artifact::TtotalArtifact> to_artifact(const TtotalOptions& options, Session& session,
                                                   const Prepared& prepared, const Measured& measured) {
  artifact::TtotalArtifact out;
  std::optional<double> fastest;
  const Outcome* slowest = nullptr;
  for (const Outcome& outcome : measured.runs) {
    auto stages = capacity::stages_from_stamps(outcome.stamps);
    if (!stages) return tl::unexpected(stages.error());
    const auto total = stages->measured_total_s;
    out.runs_s.push_back(total);
    if (total && (!fastest || *total < *fastest)) fastest = total;
    const bool slower = !slowest || !total || (out.measured_total_s && *total > *out.measured_total_s);
    if (!slower || (slowest && !slowest->recovered)) continue;
    slowest = &outcome;
    out.stages = std::move(*stages);
    out.measured_total_s = total;
  }
  if (!slowest) return base::fail(ErrorCode::kInternal, "no run was measured");
  if (measured.runs.size() > 1 && out.measured_total_s && fastest && *fastest > 0)
    out.runs_spread = (*out.measured_total_s - *fastest) / *fastest;
  out.header = session.header(prepared.live.fingerprint);
  out.header.counts = measured.counts;
  out.transport = prepared.live.fingerprint.transport.value_or("");
  out.policy_lag_measured_s = slowest->lag_s;
  if (auto lag = policy_lag(session)) {
    out.policy_lag_bound_s = lag->seconds;
    out.lag_source = lag->source;
    if (slowest->lag_s) out.lag_source = fmt::format("measured {:.1f} s; {}", *slowest->lag_s, lag->source);
    if (out.measured_total_s) out.total_s = *out.measured_total_s + slowest->lag_s.value_or(lag->seconds);
  } else {  // T_m cost an instance and half an hour; the lag can be read again
    note_and_warn(
        session, out.header,
        "the policy's lag could not be read, so that T_total is unknown: " + base::describe(lag.error()));
  }
  if (slowest->resumed)
    out.header.notes.push_back(
        "measured on after the client had died: there was no load in between, so that traffic_recovered may "
        "be late");
  for (const auto& note : slowest->notes) note_and_warn(session, out.header, note);
  out.client_bound = measured.client_bound();
  if (out.client_bound)
    note_and_warn(session, out.header,
                  fmt::format("client_bound: {}; T_m may be the driver's, not the service's: measure again "
                              "from a machine with spare cores",
                              *out.client_bound));
  out.load_l = prepared.load;
  out.recover_factor = options.recover_factor;
  out.hold_s = base::to_s(options.hold);
  out.baseline_p95_ms = slowest->baseline_p95_ms;
  out.paced_engine = prepared.live.paced;
  out.new_instance = slowest->stream;
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
    if (a.runs_spread)
      session.say(fmt::format("{} runs, {:.0f} % apart; the slowest counts{}", a.runs_s.size(),
                              *a.runs_spread * 100, *a.runs_spread > 0.2 ? " (warning: over 20 %)" : ""));
    if (a.total_s)
      session.say(fmt::format("lag = {:.1f} s ({}); T_total = {:.1f} s",
                              a.policy_lag_measured_s.value_or(*a.policy_lag_bound_s), a.lag_source,
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

// Every run starts from one instance, so that each sees a new one start.
base::Result<Measured> measure(const TtotalOptions& options, Session& session, Freeze& freeze, Rig& rig,
                               const Prepared& prepared) {
  Measured measured;
  for (int i = 0; i < options.runs; ++i) {
    if (options.runs > 1) session.say(fmt::format("run {} of {}", i + 1, options.runs));
    if (i > 0) {
      (void)base::remove_file(clock_path(session));  // of a run that is over: --resume must not go on with it
      if (auto back = freeze.set_count(1); !back) return tl::unexpected(back.error());
    }
    auto outcome = measure_once(options, session, freeze, rig, prepared);
    if (!outcome) return tl::unexpected(outcome.error());
    measured.runs.push_back(std::move(*outcome));
  }
  return measured;
}

// The freeze that a dead run left, and its clock.
base::Result<Freeze> adopt_running(Session& session, const LiveEndpoint& live, const RunningClock& clock) {
  auto lock = JournalLock::take(journal_path(session));
  if (!lock) return tl::unexpected(lock.error());
  auto record = read_freeze_tag(session, live.endpoint.arn);
  if (!record) return tl::unexpected(record.error());
  const bool ours = *record && frozen_variant(**record, live.endpoint) == session.variant();
  if (!ours || (*record)->run_id != clock.freeze_run) {
    return base::fail(
        ErrorCode::kRefused,
        fmt::format("endpoint '{}' is not frozen by the run whose clock {} holds (thawed since?); measure "
                    "without --resume",
                    session.endpoint(), clock_path(session)));
  }
  const auto journal = read_journal(journal_path(session));
  return Freeze::adopt(session, live.endpoint.arn, truth_of(*record, journal.value_or(std::nullopt)),
                       std::move(*lock));
}

// The clock to go on with, whose load and baseline are the measurement's; none without --resume.
base::Result<std::optional<RunningClock>> take_clock(const TtotalOptions& options, Session& session,
                                                     Prepared& prepared) {
  if (!options.resume) return std::nullopt;
  auto saved = load_clock(session);
  if (!saved && saved.error().code == ErrorCode::kNotFound)
    return base::fail(
        ErrorCode::kNotFound,
        fmt::format("there is no running clock at {}; measure without --resume", clock_path(session)));
  if (!saved) return tl::unexpected(saved.error());
  prepared.load = saved->load;
  prepared.baseline_p95_ms = saved->baseline_p95_ms;
  return std::move(*saved);
}

// A redeployment in mid-run starts other instances than those that were to be timed.
base::Result<Measured> of_one_deployment(Session& session, const std::string& config_name,
                                         Measured measured) {
  const auto changed = what_changed_at_last(session, {config_name, std::nullopt, false});
  if (changed && *changed) return base::fail(ErrorCode::kConflict, **changed);
  if (changed) return measured;
  for (auto& run : measured.runs)  // whichever is written
    run.notes.push_back("whether the endpoint was redeployed meanwhile could not be read: " +
                        changed.error().message);
  return measured;
}

base::Result<Measured> freeze_and_measure(const TtotalOptions& options, Session& session,
                                          const Prepared& prepared, const std::optional<RunningClock>& clock,
                                          Rig& rig) {
  auto freeze =
      clock ? adopt_running(session, prepared.live, *clock) : Freeze::engage(session, prepared.live, 1);
  if (!freeze) return tl::unexpected(freeze.error());
  base::Result<Measured> measured = Measured{};
  if (clock) {
    auto outcome = resume_clock(options, session, rig, *clock);
    if (outcome)
      measured->runs.push_back(std::move(*outcome));
    else
      measured = tl::unexpected(outcome.error());
  } else {
    measured = measure(options, session, *freeze, rig, prepared);
  }
  rig.driver().stop(std::chrono::seconds(measured ? 10 : 1));
  if (measured) measured->counts = count_all(rig.driver());
  if (measured)
    measured = of_one_deployment(session, clock ? clock->config_name : prepared.live.endpoint.config_name,
                                 std::move(*measured));
  auto back = freeze->restore();
  // What is still frozen and has not been measured may be gone on with.
  if (back || measured) (void)base::remove_file(clock_path(session));
  if (measured) {
    measured->restored = back;
  } else if (!back) {
    session.complain("tts-bench ttotal: " + base::describe(measured.error()));
    return tl::unexpected(back.error());
  }
  return measured;
}

base::Result<void> check(const TtotalOptions& options, Session& session) {
  if (options.resume && options.runs > 1)
    return base::fail(ErrorCode::kInvalidArgument, "--resume goes on with one run; leave out --runs");
  if (!options.observe_policy || options.resume || options.dry_run) return {};
  auto lag = policy_lag(session);
  if (!lag) return tl::unexpected(lag.error());
  if (lag->deployed) return {};
  return base::fail(
      ErrorCode::kRefused,
      fmt::format("endpoint '{}' has no policy that scales out, so that there is nothing to observe; run "
                  "tts-bench apply first, or leave out --observe-policy",
                  session.endpoint()));
}

int run_with(const TtotalOptions& options, Session& session, LoadPlan load) {
  auto prepared = prepare(options, session, load);
  if (!prepared) return end_with(session, prepared.error());
  if (auto ok = check(options, session); !ok) return end_with(session, ok.error());
  const auto clock = take_clock(options, session, *prepared);
  if (!clock) return end_with(session, clock.error());
  if (auto ok = room_for_two(session, prepared->live); !ok) return end_with(session, ok.error());
  // A run that goes on finds its own freeze, which drift would report.
  if (auto fine = options.resume ? base::Result<void>() : stop_at_drift(session, options.force); !fine)
    return end_with(session, fine.error());
  if (auto yes = session.consent("suspend scaling, pin one instance, load it and start a second",
                                 1.0 * options.runs);
      !yes)
    return end_with(session, yes.error());
  // Made before the freeze and closed after it: neither may stand between a signal and restoring.
  auto rig = Rig::make(session, std::move(load), options.load, prepared->load);
  if (!rig) return end_with(session, rig.error());
  auto measured = freeze_and_measure(options, session, *prepared, *clock, **rig);
  const auto lost = (*rig)->close_or_warn(session);
  rig->reset();
  if (!measured) return end_with(session, measured.error());
  auto a = to_artifact(options, session, *prepared, *measured);
  if (!a) {
    if (!measured->restored) session.complain(base::describe(measured->restored.error()));
    return end_with(session, a.error());
  }
  if (!measured->restored) a->header.notes.push_back("measured, but " + measured->restored.error().message);
  if (lost) a->header.notes.push_back(*lost);
  const std::string path = session.folder() + "/ttotal.json";
  if (auto written = artifact::write_artifact(path, *a); !written) {
    if (!measured->restored) session.complain(base::describe(measured->restored.error()));
    return end_with(session, written.error());
  }
  if (session.options().json) {
    if (auto text = artifact::to_json_text(*a)) std::fputs(text->c_str(), stdout);
  }
  explain(session, *a, path);
  if (!measured->restored) {
    (void)end_with(session, measured->restored.error());
    return base::kExitFailed;
  }
  const bool sure = measured->recovered() && !measured->client_bound();
  return sure ? base::kExitGood : base::kExitInconclusive;
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
      {.name = "observe-policy",
       .help = "let the deployed policy itself scale out, at Q_max, and measure its lag",
       .target = &observe_policy},
      {.name = "runs",
       .help = "whole measurements; the slowest counts",
       .target = &runs,
       .min = 1,
       .max = 10},
      {.name = "resume", .help = "go on with the clock of a run that was killed", .target = &resume},
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
  return run_with(options, session, std::move(*load));
}

}  // namespace headroom::bench
