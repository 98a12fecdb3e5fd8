// The driver against its yardstick.
#include "bench/selftest.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error_table.hpp"
#include "base/limits.hpp"
#include "bench/interrupt.hpp"
#include "load/driver.hpp"
#include "load/http_target.hpp"
#include "load/known_delay_server.hpp"
#include "stats/percentile.hpp"

namespace headroom::bench {
namespace {

using nlohmann::json;

constexpr double kWantedErrorMs = 1.0;

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<unsigned>(i), &set)) out.push_back(i);
  }
  return out;
}

load::KnownDelayOptions server_options(const SelftestOptions& options, std::optional<int> core) {
  load::KnownDelayOptions out;
  out.port = static_cast<std::uint16_t>(options.port);
  out.first = options.first;
  out.gap = options.gap;
  out.chunks = options.chunks;
  out.chunk_bytes = static_cast<std::size_t>(options.chunk_bytes);
  out.core = core;
  return out;
}

// What the server process tells of itself: one line a question, over two pipes.
struct ServerReport {
  std::uint16_t port = 0;
  load::KnownDelayStats stats;
};

class ServerProcess {
 public:
  // Forks; the child answers each byte on `ask_` with a ServerReport until the pipe closes.
  static std::unique_ptr<ServerProcess> start(const load::KnownDelayOptions& options) {
    int ask[2], tell[2];
    if (pipe(ask) != 0 || pipe(tell) != 0) return nullptr;
    const pid_t child = fork();
    if (child < 0) return nullptr;
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ask[1]);
      close(tell[0]);
      auto server = load::KnownDelayServer::make(options);
      ServerReport report;
      if (server) report.port = (*server)->port();
      char byte = 0;
      while (::write(tell[1], &report, sizeof report) == sizeof report && ::read(ask[0], &byte, 1) == 1) {
        if (server) report.stats = (*server)->stats();
      }
      _exit(0);
    }
    close(ask[0]);
    close(tell[1]);
    auto out = std::make_unique<ServerProcess>();
    out->child_ = child;
    out->ask_ = ask[1];
    out->tell_ = tell[0];
    if (!out->read_report() || out->report_.port == 0) return nullptr;
    return out;
  }
  ~ServerProcess() {
    if (ask_ >= 0) close(ask_);
    if (tell_ >= 0) close(tell_);
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }
  std::uint16_t port() const { return report_.port; }
  load::KnownDelayStats stats() {
    const char byte = 'x';
    if (::write(ask_, &byte, 1) == 1) read_report();
    return report_.stats;
  }

 private:
  bool read_report() { return ::read(tell_, &report_, sizeof report_) == sizeof report_; }
  pid_t child_ = -1;
  int ask_ = -1;
  int tell_ = -1;
  ServerReport report_;
};

struct Run {
  int asked = 0;
  load::WindowView view;
  std::uint64_t requests = 0;
  double error_p50_ms = 0, error_p99_ms = 0, error_max_ms = 0;  // TTFAB's end against the server's stamp
  double total_error_p99_ms = 0;  // TTFAB against (sent - received): the way there is in it too
  double cpu_ms_per_request = 0;
  int server_saw_most = 0;
  double server_late_p99_ms = 0;
  bool interrupted = false;
};

base::Result<Run> measure(const SelftestOptions& options, int streams, std::optional<int> core,
                          std::optional<int> server_core, Interrupt& interrupt) {
  auto server = ServerProcess::start(server_options(options, server_core));
  if (!server)
    return base::fail(base::ErrorCode::kInternal,
                      "the server of known delay did not start; is the port taken?");
  load::HttpTargetOptions http;
  http.url = fmt::format("http://127.0.0.1:{}/", server->port());
  http.connections = static_cast<std::size_t>(streams);
  http.lanes = static_cast<std::size_t>(options.threads);
  if (core && options.threads == 1) http.cores = {*core};
  auto target = load::HttpTarget::make(http);
  if (!target) return tl::unexpected(target.error());
  auto& clock = base::SystemClock::instance();
  if (auto warm = (*target)->warm(static_cast<std::size_t>(streams),
                                  base::Deadline::after(clock, std::chrono::seconds(60)));
      !warm)
    return tl::unexpected(warm.error());
  const auto workload = load::Workload::make("short");
  auto body = load::body_format("sagemaker", "af_heart", "pcm");
  load::DriverOptions driver_options;
  driver_options.event_loops = options.threads;
  const base::Duration stream = options.first + (options.chunks - 1) * options.gap;
  driver_options.longest_ramp = stream;  // so that the streams' chunks spread evenly
  load::Driver driver(**target, *workload, *body, clock, driver_options);
  driver.start();
  driver.hold(streams);
  Run run;
  run.asked = streams;
  // One stream's length to ramp, one to settle.
  run.interrupted = !interrupt.wait_for(2 * stream);
  const auto from = clock.steady();
  const double cpu_before = load::Driver::process_cpu_seconds();
  run.interrupted = run.interrupted || !interrupt.wait_for(options.duration);
  const auto to = clock.steady();
  const double cpu = load::Driver::process_cpu_seconds() - cpu_before;
  run.view = driver.window(from, to);
  const auto stats = server->stats();
  driver.stop(stream + std::chrono::seconds(2));
  std::vector<double> errors, total;
  for (const auto& record : driver.records()) {
    if (record.end < from || record.end >= to || record.outcome != load::Outcome::kOk) continue;
    const auto known = load::parse_known_times(record.server_request_id);
    if (!known) continue;
    errors.push_back(base::to_ms(*record.first_byte - known->sent));
    total.push_back(base::to_ms(record.ttfab() - (known->sent - known->received)));
  }
  run.requests = errors.size();
  run.error_p50_ms = stats::percentile(errors, 0.5).value_or(0);
  run.error_p99_ms = stats::percentile(errors, 0.99).value_or(0);
  run.error_max_ms = stats::percentile(errors, 1.0).value_or(0);
  run.total_error_p99_ms = stats::percentile(total, 0.99).value_or(0);
  run.cpu_ms_per_request = run.requests > 0 ? cpu * 1000 / static_cast<double>(run.requests) : 0;
  run.server_saw_most = stats.most_outstanding;
  run.server_late_p99_ms = stats.late_p99_ms;
  return run;
}

json to_json(const Run& run) {
  return {{"asked", run.asked},
          {"held_mean", run.view.held_mean},
          {"in_flight_max", run.view.in_flight_max},
          {"over_limit", run.view.over_limit},
          {"server_saw_most", run.server_saw_most},
          {"requests", run.requests},
          {"not_ok", run.view.started - run.view.ok},
          {"ttfab_error_p50_ms", run.error_p50_ms},
          {"ttfab_error_p99_ms", run.error_p99_ms},
          {"ttfab_error_max_ms", run.error_max_ms},
          {"round_trip_error_p99_ms", run.total_error_p99_ms},
          {"cpu_ms_per_request", run.cpu_ms_per_request},
          {"cpu_share", run.view.cpu_share},
          {"rps", run.view.rps},
          {"loop_lag_ms", run.view.loop_lag_ms},
          {"server_late_p99_ms", run.server_late_p99_ms},
          {"client_bound", run.view.client_bound},
          {"client_bound_why", run.view.client_bound_why}};
}

void say(const CommonOptions& common, const std::string& line) {
  if (common.quiet || common.json) return;
  std::puts(line.c_str());
  std::fflush(stdout);
}

std::string line(const Run& run) {
  return fmt::format(
      "{:6} streams: held {:.1f}, at most {} at the server, {:.0f} requests/s; TTFAB error p50 {:.3f} "
      "p99 {:.3f} max {:.2f} ms; {:.3f} ms CPU a request, {:.0f} % of a core; server late p99 {:.2f} ms",
      run.asked, run.view.held_mean, run.server_saw_most, run.view.rps, run.error_p50_ms, run.error_p99_ms,
      run.error_max_ms, run.cpu_ms_per_request, run.view.cpu_share * 100, run.server_late_p99_ms);
}

int serve_only(const SelftestOptions& options) {
  base::raise_limits(65'536);
  auto server = load::KnownDelayServer::make(server_options(options, std::nullopt));
  if (!server) {
    std::fprintf(stderr, "tts-bench selftest: %s\n", base::describe(server.error()).c_str());
    return base::error_row(server.error().code).exit_code;
  }
  fmt::print("listening on 127.0.0.1:{}\n", (*server)->port());
  std::fflush(stdout);
  Interrupt interrupt;
  while (interrupt.wait_for(std::chrono::hours(1))) {
  }
  const auto stats = (*server)->stats();
  fmt::print("{}\n", json{{"requests", stats.requests},
                          {"most_outstanding", stats.most_outstanding},
                          {"late_p50_ms", stats.late_p50_ms},
                          {"late_p99_ms", stats.late_p99_ms},
                          {"cpu_s", stats.cpu_s}}
                         .dump());
  return base::kExitGood;
}

int fail_with(const base::Error& error) {
  std::fprintf(stderr, "tts-bench selftest: %s\n", base::describe(error).c_str());
  return base::error_row(error.code).exit_code;
}

}  // namespace

int run_selftest(const SelftestOptions& options, const CommonOptions& common) {
  if (options.serve) return serve_only(options);
  const int most = std::max(options.streams, options.capacity);
  const auto limits = base::raise_limits(static_cast<std::size_t>(most) + 256);
  say(common, fmt::format("limits: {} file descriptors, {} local ports to one server", limits.descriptors,
                          limits.local_ports));
  if (auto fits = base::check_limits(limits, static_cast<std::size_t>(most)); !fits)
    return fail_with(fits.error());
  const auto cores = allowed_cores();
  std::optional<int> core, server_core;
  if (cores.size() >= 2) {
    core = cores.front();
    server_core = cores.back();
  }
  if (!core) say(common, "one core only: driver and server share it, and the figures say little");

  std::unique_ptr<Interrupt> interrupt;
  const auto once = [&](int streams) -> base::Result<Run> {
    interrupt.reset();  // no thread of ours while a server is forked off
    interrupt = std::make_unique<Interrupt>();
    return measure(options, streams, core, server_core, *interrupt);
  };
  json out{{"schema", "headroom/selftest"}, {"version", 1}, {"tool_version", HEADROOM_VERSION}};
  out["descriptors"] = limits.descriptors;
  out["local_ports"] = limits.local_ports;
  std::vector<double> p99s;
  bool over = false;
  bool bound = false;
  bool nothing = false;
  const auto note = [&](const Run& run, const char* where) {
    say(common, line(run));
    out[where].push_back(to_json(run));
    over = over || run.server_saw_most > run.asked || run.view.over_limit > 0;
    bound = bound || run.view.client_bound;
    if (run.requests > 0) return;
    nothing = true;
    std::string errors;
    for (const auto& [name, count] : run.view.errors)
      errors += fmt::format("{}{} ({} times)", errors.empty() ? ": " : ", ", name, count);
    fmt::print(stderr, "tts-bench selftest: no request succeeded with {} outstanding{}\n", run.asked, errors);
  };
  for (int i = 0; i < options.runs; ++i) {
    auto run = once(options.streams);
    if (!run) return fail_with(run.error());
    if (run->interrupted) return base::kExitInterrupted;
    note(*run, "accuracy");
    p99s.push_back(run->error_p99_ms);
  }
  const double median = stats::median(p99s).value_or(0);
  if (options.capacity > 0) {
    auto run = once(options.capacity);
    if (!run) return fail_with(run.error());
    if (run->interrupted) return base::kExitInterrupted;
    note(*run, "capacity");
  }
  out["ttfab_error_p99_ms"] = median;
  out["never_over"] = !over;
  out["reached"] = !over && !bound && !nothing && median <= kWantedErrorMs;
  if (!nothing)
    say(common,
        fmt::format("TTFAB error at {} streams: p99 {:.3f} ms, median of {} runs (wanted: at most {:.0f} ms)",
                    options.streams, median, options.runs, kWantedErrorMs));
  if (over) say(common, "more than N were outstanding: this is a fault of the driver");
  if (common.json) fmt::print("{}\n", out.dump(2));
  if (over || nothing) return base::kExitFailed;
  return out["reached"].get<bool>() ? base::kExitGood : base::kExitInconclusive;
}

std::vector<base::Option> SelftestOptions::table() {
  return {
      {.name = "streams",
       .help = "outstanding in the accuracy runs",
       .target = &streams,
       .min = 1,
       .max = 100'000},
      {.name = "runs", .help = "accuracy runs; their median counts", .target = &runs, .min = 1, .max = 100},
      {.name = "capacity",
       .help = "outstanding in the capacity run; 0: none",
       .target = &capacity,
       .min = 0,
       .max = 100'000},
      {.name = "duration", .help = "judged part of each run", .target = &duration},
      {.name = "first", .help = "server: delay of the first audio", .target = &first},
      {.name = "gap", .help = "server: between chunks", .target = &gap},
      {.name = "chunks", .help = "server: chunks an answer", .target = &chunks, .min = 1, .max = 10'000},
      {.name = "chunk-bytes",
       .help = "server: bytes a chunk",
       .target = &chunk_bytes,
       .min = 2,
       .max = 65'536},
      {.name = "threads", .help = "event loops of the driver", .target = &threads, .min = 1, .max = 64},
      {.name = "serve", .help = "only run the server, for other tools", .target = &serve},
      {.name = "port", .help = "server: its port; 0: any", .target = &port, .min = 0, .max = 65'535},
  };
}

}  // namespace headroom::bench
