// The command: refuse, freeze, search, restore, join, write, explain.
#include "bench/qmax.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "bench/drift_gate.hpp"
#include "bench/freeze.hpp"
#include "bench/hold.hpp"
#include "bench/host.hpp"
#include "bench/partial.hpp"
#include "bench/search_run.hpp"
#include "capacity/qmax.hpp"

namespace headroom::bench {
namespace {

using base::ErrorCode;
constexpr base::Duration kLeastHold = std::chrono::seconds(1);

int end_with(Session& session, const base::Error& error) {
  session.complain("tts-bench qmax: " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

double slo_of(const QmaxOptions& options, const Session& session) {
  if (options.slo_ms) return *options.slo_ms;
  return session.model_file() ? session.model_file()->slo_ms : 3000.0;
}

base::Duration estimate(const QmaxOptions& options) {
  const auto once = options.method == "ladder"
                        ? static_cast<int>(options.rungs.size()) * (options.hold + options.idle)
                        : options.budget;
  return options.runs * once;
}

// A hold or a budget of 0 s measures nothing.
base::Result<void> check_lengths(const QmaxOptions& options) {
  const auto at_least = [](base::Duration given, base::Duration least, const char* name) {
    return given >= least ? base::Result<void>()
                          : base::fail(ErrorCode::kInvalidArgument,
                                       fmt::format("--{} is {:g} s; give at least {:g} s", name,
                                                   base::to_s(given), base::to_s(least)));
  };
  if (options.method == "ladder") {
    if (auto ok = at_least(options.hold, kLeastHold, "hold"); !ok) return ok;
    return at_least(options.judge, kLeastHold, "judge");
  }
  if (auto ok = at_least(options.max_hold, kLeastHold, "max-hold"); !ok) return ok;
  return at_least(options.budget, kLeastHold, "budget");
}

base::Result<void> check(const QmaxOptions& options, const Session& session) {
  if (auto ok = check_lengths(options); !ok) return ok;
  if (options.require_unbounded_queue && session.bare()) {
    return base::fail(ErrorCode::kInvalidArgument,
                      "--require-unbounded-queue reads an endpoint's model, and a bare server (--http) has "
                      "none; leave it out and see to the server's own queue limit");
  }
  if (options.method == "ladder") {
    if (options.rungs.empty())
      return base::fail(ErrorCode::kInvalidArgument, "--rungs is empty; give at least one count");
    if (options.judge > options.hold)
      return base::fail(ErrorCode::kInvalidArgument, "--judge is longer than --hold; judge at most the hold");
    if (!std::is_sorted(options.rungs.begin(), options.rungs.end(), std::less_equal<>())) {
      return base::fail(ErrorCode::kInvalidArgument, "--rungs must rise, each count once");
    }
  }
  if (options.resume && options.runs > 1)
    return base::fail(ErrorCode::kInvalidArgument, "--resume goes on with one run; leave out --runs");
  return {};
}

// What cannot be read is not taken for "no limit".
base::Result<void> check_queue(const QmaxOptions& options, const LiveEndpoint& live) {
  if (!options.require_unbounded_queue) return {};
  if (live.config.model_name.empty()) {
    return base::fail(ErrorCode::kRefused,
                      "the endpoint's configuration names no model for this variant, so that its queue limit "
                      "cannot be read; leave out --require-unbounded-queue");
  }
  if (!live.queue_limit) return {};
  return base::fail(ErrorCode::kRefused,
                    fmt::format("the container has MAX_QUEUE_DEPTH={}; deploy without it, or leave out "
                                "--require-unbounded-queue",
                                *live.queue_limit));
}

int dry_run(const QmaxOptions& options, Session& session, const LoadPlan& load) {
  session.say(
      fmt::format("qmax by method {} on endpoint '{}', workload {} (hash {}), transport {}, SLO {:.0f} ms",
                  options.method, session.endpoint(), load.workload.spec(), load.hash,
                  aws::name_of(load.transport), slo_of(options, session)));
  if (options.method == "ladder") {
    session.say(fmt::format("rungs {}; each held {:.0f} s, its last {:.0f} s judged, {:.0f} s idle after it",
                            fmt::join(options.rungs, ", "), base::to_s(options.hold),
                            base::to_s(options.judge), base::to_s(options.idle)));
  } else {
    session.say(
        fmt::format("rungs 1, 5, 10, then towards the SLO until one above and one below are proven; at most "
                    "{:.0f} s each, "
                    "{:.0f} s in all, rung 1 again and a sustain at Q_max included",
                    base::to_s(options.max_hold), base::to_s(options.budget)));
  }
  session.say(fmt::format("estimated {:.0f} min; no request was made", base::to_s(estimate(options)) / 60.0));
  return base::kExitGood;
}

// One whole search per run; the smallest Q_max counts.
struct Measured {
  std::vector<SearchRun> runs;
  std::size_t chosen = 0;
  std::optional<double> spread;
  capacity::Counts counts;
};

// Where nothing succeeded, what came instead says more than the SLO.
void name_errors(capacity::QmaxResult& result, const load::Driver& driver) {
  std::map<std::string, int> times;
  for (const auto& record : driver.records()) ++times[record.error.substr(0, record.error.find(": "))];
  std::string errors;
  for (const auto& [name, count] : times)
    errors += fmt::format("{}{} {} times", errors.empty() ? "" : ", ", name, count);
  if (!errors.empty())
    result.sentence = fmt::format("No request succeeded ({}): Q_max is unknown; mend that first.", errors);
}

// `kept`: the rungs that were held lie in the partial file.
base::Result<Measured> measure(const QmaxOptions& options, Session& session, const LiveEndpoint& live,
                               Rig& rig, double slo_ms, SearchRun before, bool& kept) {
  Measured measured;
  const capacity::Counts resumed = before.resumed_counts;
  std::vector<capacity::QmaxResult> results;
  for (int i = 0; i < options.runs; ++i) {
    if (options.runs > 1) session.say(fmt::format("run {} of {}", i + 1, options.runs));
    const auto save = [&](const SearchRun& so_far) {
      capacity::Counts sent = count_all(rig.driver());
      sent += resumed;
      const auto saved = save_partial(session, options, live, slo_ms, so_far, sent);
      kept = kept || saved;  // one that fails leaves what was saved before it
      if (!saved) session.complain("warning: " + base::describe(saved.error()));
    };
    auto run =
        run_search(session, rig, options, slo_ms, live.endpoint.config_name, std::exchange(before, {}), save);
    if (!run) {
      rig.driver().stop(std::chrono::seconds(1));  // within the 5 s in which restoring has to begin
      return tl::unexpected(run.error());
    }
    results.push_back(run->result);
    measured.runs.push_back(std::move(*run));
  }
  rig.driver().stop(std::chrono::seconds(10));
  measured.counts = count_all(rig.driver());
  measured.counts += resumed;
  const auto summary = capacity::choose_run(results);
  measured.chosen = summary.chosen;
  auto& chosen = measured.runs[measured.chosen];
  const bool resumed_success =
      std::any_of(chosen.rungs.begin(), chosen.rungs.end(),
                  [](const HeldRung& held) { return held.rung.counts && held.rung.counts->ok > 0; });
  if (measured.counts.ok == 0 && !resumed_success) name_errors(chosen.result, rig.driver());
  measured.spread = summary.spread;
  if (summary.spread_warns)
    session.say(fmt::format("warning: the runs differ by {:.0f} %; measure again on a quieter endpoint",
                            *summary.spread * 100));
  return measured;
}

std::string why_no_ratio(const Session& session, const base::Result<void>& joined) {
  if (session.bare()) return "a bare server publishes no metric";
  if (joined) return "the metric had no datapoint within the rungs";
  if (joined.error().code == ErrorCode::kCancelled) return "interrupted while waiting for the metric";
  return "the metric could not be read (" + base::describe(joined.error()) + ")";
}

artifact::QmaxArtifact to_artifact(const QmaxOptions& options, Session& session, const LiveEndpoint& live,
                                   Measured& measured, double slo_ms, const base::Result<void>& joined) {
  SearchRun& run = measured.runs[measured.chosen];
  artifact::QmaxArtifact out;
  out.header = session.header(live.fingerprint);
  out.header.counts = measured.counts;
  out.method = options.method;
  out.slo_ms = slo_ms;
  out.transport = live.fingerprint.transport.value_or("");
  for (const auto& held : run.rungs) out.rungs.push_back(held.rung);
  out.result = run.result;
  out.knee_n = capacity::knee(out.rungs);
  out.knee_sentence = capacity::knee_sentence(out.rungs, out.result.q_max);
  out.unqueued = run.unqueued;
  out.noise_ratio = run.noise_ratio;
  out.scatter = run.scatter;
  out.calibration.ratio = capacity::calibration_ratio(out.rungs);
  if (!out.calibration.ratio)
    out.calibration.note =
        why_no_ratio(session, joined) + "; plan needs --assume-ratio for a target in its units";
  for (const auto& each : measured.runs)
    out.runs.push_back({each.result.q_max, each.result.verdict, each.result.q_max_interval});
  out.runs_spread = measured.spread;
  out.duration_s = base::to_s(run.took);
  out.paced_engine = live.paced;
  if (!live.config.model_name.empty()) out.server_queue_limit = live.queue_limit.value_or(0);
  if (live.paced)
    out.header.notes.push_back("paced engine: no model speaks; figures are for capacity experiments only");
  note_host(session, out.header, out.host_contended, live.paced, 1);
  if (run.not_compared)
    out.header.notes.push_back("whether the endpoint was redeployed in the last hold could not be read: " +
                               *run.not_compared);
  if (run.resumed_rungs > 0)
    out.header.notes.push_back(
        fmt::format("resumed: the first {} rung(s) were held by an interrupted run, whose requests are "
                    "counted up to the last of them",
                    run.resumed_rungs));
  out.header.effective["search"] = run.ended_because;
  return out;
}

void explain(const Session& session, const artifact::QmaxArtifact& a, const std::string& path) {
  session.say(a.result.sentence);
  if (!a.knee_sentence.empty()) session.say(a.knee_sentence);
  if (a.unqueued.mean_ms)
    session.say(fmt::format("unqueued: mean {:.1f} ms, p95 {:.1f} ms", *a.unqueued.mean_ms,
                            a.unqueued.p95_ms.value_or(0)));
  if (a.calibration.ratio)
    session.say(fmt::format("calibration: ConcurrentRequestsPerModel reads {:.3f} of what was held",
                            *a.calibration.ratio));
  else
    session.say("calibration: " + a.calibration.note);
  session.say("written: " + path);
}

// What is known of a bare server: where it is and what it was sent.
LiveEndpoint bare_live(const Session& session, const LoadPlan& load) {
  LiveEndpoint live;
  live.fingerprint.endpoint = session.bare()->url;
  live.fingerprint.transport = session.bare()->form + " over http";
  live.fingerprint.workload_hash = load.hash;
  return live;
}

int verdict_code(const QmaxOptions& options, const artifact::QmaxArtifact& a) {
  if (capacity::nothing_judged(a.result)) return base::kExitInconclusive;
  if (a.result.verdict == capacity::QmaxVerdict::kNone) return base::kExitNegative;
  if (!capacity::doubtful_holds(a.rungs).empty()) return base::kExitInconclusive;
  const bool open = a.result.verdict == capacity::QmaxVerdict::kLowerBound;
  return open && options.require_bracket ? base::kExitInconclusive : base::kExitGood;
}

}  // namespace

std::vector<base::Option> QmaxOptions::table() {
  std::vector<base::Option> rows = load.table();
  const std::vector<base::Option> own{
      {.name = "method",
       .help = "adaptive, or the published ladder",
       .target = &method,
       .choices = {"adaptive", "ladder"}},
      {.name = "rungs", .help = "ladder: outstanding counts", .target = &rungs, .min = 1, .max = 100'000},
      {.name = "hold", .help = "ladder: how long each rung is held", .target = &hold},
      {.name = "judge", .help = "ladder: the last part of the hold, which is judged", .target = &judge},
      {.name = "idle", .help = "ladder: rest between rungs", .target = &idle},
      {.name = "max-hold", .help = "adaptive: longest hold of one rung", .target = &max_hold},
      {.name = "budget",
       .help = "adaptive: time for all rungs, repeat and sustain included",
       .target = &budget},
      {.name = "slo-ms",
       .help = "p95 of time to first audio byte; default: the model file's, else 3000",
       .target = &slo_ms,
       .min = 1,
       .max = 600'000},
      {.name = "max-n",
       .help = "adaptive: most outstanding that is tried",
       .target = &max_n,
       .min = 1,
       .max = 100'000},
      {.name = "runs",
       .help = "whole measurements; the smallest counts",
       .target = &runs,
       .min = 1,
       .max = 20},
      {.name = "require-bracket",
       .help = "a lower bound is inconclusive (exit 4)",
       .target = &require_bracket},
      {.name = "require-unbounded-queue",
       .help = "refuse a server with a queue limit",
       .target = &require_unbounded_queue},
      {.name = "resume", .help = "go on with the rungs that an interrupted run held", .target = &resume},
      {.name = "force", .help = "measure although drift was found", .target = &force},
      {.name = "dry-run", .help = "schedule and estimate; no network", .target = &dry_run},
  };
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

int run_qmax(const QmaxOptions& options, Session& session) {
  if (auto ok = check(options, session); !ok) return end_with(session, ok.error());
  auto load = plan_load(options.load, session);
  if (!load) return end_with(session, load.error());
  if (options.dry_run) return dry_run(options, session, *load);
  const double slo_ms = slo_of(options, session);
  auto live = session.bare() ? base::Result<LiveEndpoint>(bare_live(session, *load))
                             : read_live(session, std::string(aws::name_of(load->transport)), load->hash);
  if (!live) return end_with(session, live.error());
  if (auto ok = check_queue(options, *live); !ok) return end_with(session, ok.error());
  if (auto made = base::make_directories(session.folder()); !made)
    return end_with(session, made.error());  // before the work
  SearchRun before;
  if (options.resume) {
    auto partial = load_partial(session, options, *live, slo_ms);
    if (!partial) return end_with(session, partial.error());
    before = std::move(*partial);
  }
  const bool bare = session.bare().has_value();  // nothing to compare, to pay for or to freeze
  if (auto fine = bare ? base::Result<void>() : stop_at_drift(session, options.force); !fine)
    return end_with(session, fine.error());
  if (auto yes = bare ? base::Result<void>()
                      : session.consent("suspend scaling, pin one instance and load it",
                                        base::to_s(estimate(options)) / 3600.0);
      !yes)
    return end_with(session, yes.error());

  const std::string workload_spec = load->workload.spec();
  // Made before the freeze and closed after it: neither may stand between a signal and restoring.
  auto rig = Rig::make(session, std::move(*load), options.load,
                       options.method == "ladder" ? options.rungs.back() : options.max_n);
  if (!rig) return end_with(session, rig.error());
  base::Result<Measured> measured = base::fail(ErrorCode::kInternal, "not measured");
  bool kept = options.resume;   // they are kept already
  base::Result<void> restored;  // a failure does not make what was measured untrue
  if (bare) {
    measured = measure(options, session, *live, **rig, slo_ms, std::move(before), kept);
  } else {
    auto freeze = Freeze::engage(session, *live, 1);
    if (!freeze) return end_with(session, freeze.error());
    measured = measure(options, session, *live, **rig, slo_ms, std::move(before), kept);
    restored = freeze->restore();
  }
  const auto lost = (*rig)->close_or_warn(session);
  if (!measured) {
    if (kept)
      session.complain(
          fmt::format("the rungs{} held so far are kept: the same command with --resume{} goes on "
                      "from there",
                      options.runs > 1 ? " of this run" : "", options.runs > 1 ? " and without --runs" : ""));
    const int code = end_with(session, measured.error());
    return restored ? code : end_with(session, restored.error());
  }
  const auto joined =
      bare ? base::Result<void>() : join_metric(session, measured->runs[measured->chosen].rungs);
  auto a = to_artifact(options, session, *live, *measured, slo_ms, joined);
  a.header.effective["workload"] = workload_spec;
  if (lost) a.header.notes.push_back(*lost);
  const bool interrupted = !joined && joined.error().code == ErrorCode::kCancelled;
  if (interrupted)
    a.header.notes.push_back(
        "interrupted while waiting for the metric: the calibration ratio may be missing");
  if (!restored) a.header.notes.push_back("measured, but " + restored.error().message);
  const std::string path = session.folder() + "/qmax.json";
  if (auto written = artifact::write_artifact(path, a); !written) {
    if (!restored) session.complain(base::describe(restored.error()));
    return end_with(session, written.error());
  }
  (void)base::remove_file(partial_path(session));
  if (session.options().json) {
    if (auto text = artifact::to_json_text(a)) std::fputs(text->c_str(), stdout);
  }
  explain(session, a, path);
  if (!restored) {
    (void)end_with(session, restored.error());
    return base::kExitFailed;
  }
  return interrupted ? base::kExitInterrupted : verdict_code(options, a);
}

}  // namespace headroom::bench
