// The table of commands.
#include "bench/command.hpp"

#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/error_table.hpp"
#include "base/names.hpp"
#include "base/options.hpp"
#include "bench/apply.hpp"
#include "bench/compare.hpp"
#include "bench/cost.hpp"
#include "bench/drift.hpp"
#include "bench/load_run.hpp"
#include "bench/plan.hpp"
#include "bench/qmax.hpp"
#include "bench/report.hpp"
#include "bench/selftest.hpp"
#include "bench/session.hpp"
#include "bench/simulate.hpp"
#include "bench/thaw.hpp"
#include "bench/trace_record.hpp"
#include "bench/ttotal.hpp"
#include "bench/validate.hpp"

namespace headroom::bench {
namespace {

// Every command's options side by side: the table below points into them.
struct AllOptions {
  CommonOptions common;
  DriftOptions drift;
  QmaxOptions qmax;
  TtotalOptions ttotal;
  PlanOptions plan;
  SimulateOptions simulate;
  ReportOptions report;
  TraceOptions trace;
  CompareOptions compare;
  CostOptions cost;
  ApplyOptions apply;
  ValidateOptions validate;
  ThawOptions thaw;
  LoadRunOptions load;
  LatencyOptions latency;
  SelftestOptions selftest;
  ExportOptions records;
};

struct Row {
  base::Command command;
  std::function<int(Session&)> run;
  bool bare = false;  // works with --http
};

std::vector<Row> make_rows(AllOptions& o) {
  return {
      {{"drift", "compare what runs with the model file and the plan (read-only)", o.drift.table()},
       [&](Session& s) { return run_drift(o.drift, s); }},
      {{"qmax", "measure the most outstanding requests one instance carries within the SLO", o.qmax.table()},
       [&](Session& s) { return run_qmax(o.qmax, s); },
       true},
      {{"ttotal", "measure how long a new instance takes until traffic is well again", o.ttotal.table()},
       [&](Session& s) { return run_ttotal(o.ttotal, s); }},
      {{"apply", "register what a plan holds", o.apply.table()},
       [&](Session& s) { return run_apply(o.apply, s); }},
      {{"validate", "compare what is registered with a plan, field by field (read-only)", o.validate.table()},
       [&](Session& s) { return run_validate(o.validate, s); }},
      {{"thaw", "restore what a killed measurement left", o.thaw.table()},
       [&](Session& s) { return run_thaw(o.thaw, s); }},
      {{"trace", "the endpoint's recorded requests by the minute, for simulate and plan (read-only)",
        o.trace.table()},
       [&](Session& s) { return run_trace(o.trace, s); }},
      {{"load", "send a closed or open load and say what came back", o.load.table()},
       [&](Session& s) { return run_load(o.load, s); },
       true},
      {{"latency", "a quick check with one request at a time", o.latency.table()},
       [&](Session& s) { return run_latency(o.latency, s); },
       true},
  };
}

void print_out(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

void print_err(const std::string& text) {
  std::fprintf(stderr, "%s%s", text.c_str(), text.empty() || text.back() != '\n' ? "\n" : "");
}

// plan and simulate need no network and so no session.
PlanContext offline_context(const AllOptions& o, const std::vector<base::Setting>& settings) {
  const base::SystemClock clock;
  PlanContext context;
  context.endpoint = o.common.endpoint;
  context.variant = o.common.variant;
  context.model = o.common.model;
  context.out = o.common.out;
  context.json = o.common.json;
  context.quiet = o.common.quiet;
  context.created = base::format_iso8601(clock.wall());
  context.run_id = base::make_run_id(clock.wall(), std::random_device{}());
  context.settings = settings;
  return context;
}

int run_online(const AllOptions& o, const Row& row, const std::vector<base::Setting>& settings) {
  Interrupt interrupt;
  auto session = Session::open(o.common, settings, interrupt);
  if (!session) {
    print_err("tts-bench " + row.command.name + ": " + base::describe(session.error()));
    return base::error_row(session.error().code).exit_code;
  }
  if ((*session)->bare() && !row.bare) {
    print_err("tts-bench " + row.command.name +
              ": --http measures a bare server, which has no AWS side; leave it out, or use qmax");
    return base::kExitUsage;
  }
  return row.run(**session);
}

int run_parsed(int argc, const char* const* argv) {
  AllOptions options;
  const auto rows = make_rows(options);
  base::Program program;
  program.name = "tts-bench";
  program.help = "Measure, plan and check the autoscaling of a text-to-speech endpoint.";
  program.options = options.common.table();
  for (const Row& row : rows) program.commands.push_back(row.command);
  program.commands.insert(
      program.commands.begin() + 3,
      {"plan", "compute the scaling policy from both measurements (no network)", options.plan.table()});
  program.commands.push_back({"simulate",
                              "try policies on a load or a recorded trace, by simulation (no network)",
                              options.simulate.table()});
  program.commands.push_back(
      {"report", "one HTML page from the artifacts of an endpoint (no network)", options.report.table()});
  program.commands.push_back(
      {"compare", "two artifacts of one kind side by side (no network)", options.compare.table()});
  program.commands.push_back({"cost", "what a million characters cost on each measured instance (no network)",
                              options.cost.table()});
  program.commands.push_back(
      {"export", "print the requests of a run as CSV (no network)", options.records.table()});
  program.commands.push_back({"selftest", "measure the load driver itself against a server of known delay",
                              options.selftest.table()});
  program.env_prefix = "TTS_BENCH_";
  program.footer =
      "Order: drift, qmax, ttotal, plan, apply, validate. Exit codes: 0 good, 1 failed, 2 usage, 3 negative "
      "verdict, 4 inconclusive, 130 interrupted.";

  const auto parsed = base::parse_options(program, argc, argv);
  if (parsed.exit_code) {
    *parsed.exit_code == 0 ? print_out(parsed.text) : print_err(parsed.text);
    return *parsed.exit_code;
  }
  for (const auto& warning : parsed.warnings) print_err("warning: " + warning);
  if (parsed.command == "selftest") return run_selftest(options.selftest, options.common);
  for (const Row& row : rows) {
    if (row.command.name == parsed.command) return run_online(options, row, parsed.settings);
  }
  take_signals_as_usual();
  if (parsed.command == "export") return run_export(options.records, print_out, print_err);
  if (parsed.command == "plan")
    return run_plan(options.plan, offline_context(options, parsed.settings), print_out, print_err);
  if (parsed.command == "simulate")
    return run_simulate(options.simulate, offline_context(options, parsed.settings), print_out, print_err);
  const auto context = [&] { return offline_context(options, parsed.settings); };
  if (parsed.command == "report") return run_report(options.report, context(), print_out, print_err);
  if (parsed.command == "compare") return run_compare(options.compare, context(), print_out, print_err);
  if (parsed.command == "cost") return run_cost(options.cost, context(), print_out, print_err);
  return base::kExitUsage;
}

}  // namespace

int run_command_line(int argc, const char* const* argv) {
  const int code = run_parsed(argc, argv);
  // What was printed may be the result itself (export, cost, --json): lost, the command has failed.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  print_err(
      "tts-bench: what was to be printed could not all be written to standard output; is the disk full?");
  return code == base::kExitGood ? base::kExitFailed : code;
}

}  // namespace headroom::bench
