// Loads of a given shape.
#include "bench/load_run.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error_table.hpp"
#include "base/names.hpp"
#include "bench/load_report.hpp"
#include "bench/progress_line.hpp"
#include "load/record_file.hpp"
#include "load/schedule.hpp"

namespace headroom::bench {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);

int end_with(Session& session, const std::string& command, const base::Error& error) {
  session.complain("tts-bench " + command + ": " + base::describe(error));
  return base::error_row(error.code).exit_code;
}

void show_progress(ProgressLine& progress, const load::Driver& driver, base::SteadyTime began,
                   base::SteadyTime now, base::Duration all) {
  if (!progress.wanted()) return;
  const auto live = driver.live();
  progress.show(fmt::format("  {:4.0f} of {:.0f} s  in flight {}  ok {}  not ok {}  dropped {}  p95 {}",
                            base::to_s(now - began), base::to_s(all), live.in_flight, live.ok, live.not_ok,
                            live.dropped, recent_p95(driver, now)));
}

// Waits until `done` or an interrupt; false: interrupted.
template <class Done>
bool watch(Session& session, const load::Driver& driver, base::Duration all, Done done) {
  ProgressLine progress(session);
  const auto began = session.clock().steady();
  while (!done()) {
    if (!session.interrupt().wait_for(kTick)) return false;
    show_progress(progress, driver, began, session.clock().steady(), all);
  }
  return true;
}

// What became of the single requests. The figures are whole without them.
struct Records {
  std::string path;     // "": none kept
  std::string lost;     // why the file is not whole; "": it is
  bool wanted = false;  // named by --records
};

Records close_records(Rig& rig, const LoadOptions& options, base::Duration grace) {
  Records out;
  out.wanted = !options.records.empty();
  if (auto closed = rig.close(grace))
    out.path = *closed;
  else
    out.lost = base::describe(closed.error());
  return out;
}

int report(Session& session, const std::string& command, Rig& rig, LoadReport report, bool whole,
           const Records& records) {
  report.about["created"] = base::format_iso8601(session.clock().wall());
  report.about["run_id"] = session.run_id();
  report.about["target"] = session.bare() ? session.bare()->url : session.endpoint();
  report.about["workload_hash"] = rig.hash();
  if (!records.path.empty()) report.about["requests"] = records.path;
  if (!records.lost.empty()) report.about["requests_note"] = records.lost;
  if (auto made = base::make_directories(session.folder()); !made)
    return end_with(session, command, made.error());
  const std::string path = session.folder() + "/" + command + ".json";
  const std::string text = load_json(report);
  if (auto written = base::write_file_atomically(path, text); !written)
    return end_with(session, command, written.error());
  if (session.options().json) std::fputs(text.c_str(), stdout);
  session.say(load_text(report) + "written: " + path +
              (records.path.empty() ? "" : "\nrequests: " + records.path));
  if (!records.lost.empty()) session.complain("warning: " + records.lost);
  if (!whole) return base::kExitInterrupted;
  if (report.view.ok == 0) {
    session.complain("tts-bench " + command + ": no successful request");
    return base::kExitFailed;
  }
  if (!records.lost.empty() && records.wanted) return base::kExitFailed;
  return report.view.client_bound ? base::kExitInconclusive : base::kExitGood;
}

base::Result<void> agree(Session& session, base::Duration length) {
  if (session.bare()) return {};
  return session.consent(fmt::format("send load for {:.0f} s", base::to_s(length)), 0);
}

}  // namespace

int run_load(const LoadRunOptions& options, Session& session) {
  auto plan = plan_load(options.load, session);
  if (!plan) return end_with(session, "load", plan.error());
  auto arrivals = load::parse_arrivals(options.arrivals);
  if (!arrivals) return end_with(session, "load", arrivals.error());
  const bool open = options.rate || *arrivals == load::Arrivals::kTrace;
  load::OpenLoop schedule;
  if (open) {
    auto made = load::make_schedule(*arrivals, options.rate.value_or(0), options.warm_up + options.duration,
                                    plan->workload, static_cast<std::uint64_t>(options.load.seed));
    if (!made) return end_with(session, "load", made.error());
    schedule.schedule = std::move(*made);
    schedule.most_outstanding = options.most_outstanding;
    schedule.patience = options.patience;
  }
  if (auto yes = agree(session, options.warm_up + options.duration); !yes)
    return end_with(session, "load", yes.error());
  const int most = open ? options.most_outstanding : options.n;
  auto rig = Rig::make(session, std::move(*plan), options.load, most);
  if (!rig) return end_with(session, "load", rig.error());
  if (auto warm = (*rig)->warm(open ? std::min(most, 64) : options.n, session); !warm)
    return end_with(session, "load", warm.error());
  auto& driver = (*rig)->driver();
  const auto began = session.clock().steady();
  const auto from = began + options.warm_up;
  const auto to = from + options.duration;
  open ? driver.open(std::move(schedule)) : driver.hold(options.n);
  const bool whole = watch(session, driver, options.warm_up + options.duration,
                           [&] { return session.clock().steady() >= to; });
  const auto ended = session.clock().steady();
  const auto records = close_records(**rig, options.load, whole ? options.grace : base::Duration{});
  LoadReport out;
  out.open_loop = open;
  out.asked = open ? options.rate.value_or(0) : options.n;
  out.dropped = driver.dropped(from, std::min(to, ended));  // as the rest: not those of the warm-up
  // By start: what did not end within the grace is counted, as aborted.
  out.view = driver.window(from, std::min(to, ended), load::Basis::kStarted);
  return report(session, "load", **rig, std::move(out), whole, records);
}

int run_latency(const LatencyOptions& options, Session& session) {
  auto plan = plan_load(options.load, session);
  if (!plan) return end_with(session, "latency", plan.error());
  if (auto yes = agree(session, std::chrono::seconds(options.count)); !yes)
    return end_with(session, "latency", yes.error());
  auto rig = Rig::make(session, std::move(*plan), options.load, 1);
  if (!rig) return end_with(session, "latency", rig.error());
  if (auto warm = (*rig)->warm(1, session); !warm) return end_with(session, "latency", warm.error());
  auto& driver = (*rig)->driver();
  const auto from = session.clock().steady();
  driver.hold(1);
  const auto wanted = static_cast<std::size_t>(options.count);
  const bool whole = watch(session, driver, std::chrono::seconds(0),
                           [&] { return driver.nth_end_since(from, wanted).has_value(); });
  const auto to = driver.nth_end_since(from, wanted).value_or(session.clock().steady());
  const auto records = close_records(**rig, options.load, {});
  LoadReport out;
  out.asked = 1;
  out.view = driver.window(from, to + std::chrono::nanoseconds(1));
  return report(session, "latency", **rig, std::move(out), whole, records);
}

int run_export(const ExportOptions& options, const std::function<void(const std::string&)>& out,
               const std::function<void(const std::string&)>& err) {
  if (auto done = load::export_csv(options.file, out); !done) {
    err("tts-bench export: " + base::describe(done.error()));
    return base::error_row(done.error().code).exit_code;
  }
  return base::kExitGood;
}

std::vector<base::Option> LoadRunOptions::table() {
  std::vector<base::Option> rows = load.table();
  const std::vector<base::Option> own{
      {.name = "n", .help = "closed loop: requests outstanding", .target = &n, .min = 1, .max = 100'000},
      {.name = "rate", .help = "open loop: requests a second", .target = &rate, .min = 0.001, .max = 1e6},
      {.name = "arrivals",
       .help = "open loop: constant, poisson, or the trace in the workload's t_s",
       .target = &arrivals,
       .choices = {"constant", "poisson", "trace"}},
      {.name = "most-outstanding",
       .help = "open loop: more than these wait (cap wait)",
       .target = &most_outstanding,
       .min = 1,
       .max = 100'000},
      {.name = "patience", .help = "open loop: what waited longer is dropped", .target = &patience},
      {.name = "duration", .help = "how long requests are started and judged", .target = &duration},
      {.name = "warm-up", .help = "load before that, not judged", .target = &warm_up},
      {.name = "grace", .help = "how long the last requests may take to end", .target = &grace},
  };
  rows.insert(rows.end(), own.begin(), own.end());
  return rows;
}

std::vector<base::Option> LatencyOptions::table() {
  std::vector<base::Option> rows = load.table();
  rows.push_back({.name = "count", .help = "requests", .target = &count, .min = 1, .max = 100'000});
  return rows;
}

std::vector<base::Option> ExportOptions::table() {
  return {{.name = "file",
           .help = "requests-<run id>.jsonl.gz of a run",
           .target = &file,
           .positional = true,
           .required = true}};
}

}  // namespace headroom::bench
