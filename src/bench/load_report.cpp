// Load reports as text and JSON.
#include "bench/load_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headroom::bench {
namespace {

using nlohmann::json;

json percentiles(const std::optional<load::Percentiles>& p) {
  if (!p) return nullptr;
  return {{"mean", p->mean}, {"p50", p->p50}, {"p90", p->p90},
          {"p95", p->p95},   {"p99", p->p99}, {"max", p->max}};
}

std::string line(const char* name, const std::optional<load::Percentiles>& p) {
  if (!p) return fmt::format("{:<22} -\n", name);
  return fmt::format("{:<22} p50 {:8.1f}  p95 {:8.1f}  p99 {:8.1f}  mean {:8.1f}  max {:8.1f} ms\n", name,
                     p->p50, p->p95, p->p99, p->mean, p->max);
}

}  // namespace

std::string load_json(const LoadReport& report) {
  const auto& v = report.view;
  json out;
  out["schema"] = "headroom/load";
  out["version"] = 1;
  out["tool_version"] = HEADROOM_VERSION;
  for (const auto& [name, value] : report.about) out[name] = value;
  out["loop"] = report.open_loop ? "open" : "closed";
  out[report.open_loop ? "asked_rps" : "asked_n"] = report.asked;
  out["seconds"] = v.seconds;
  out["started"] = v.started;
  out["ok"] = v.ok;
  out["rejected"] = v.rejected;
  out["failed"] = v.failed;
  out["timed_out"] = v.timed_out;
  out["aborted"] = v.aborted;
  out["dropped"] = report.dropped;
  out["ttfab_ms"] = percentiles(v.ttfab_ms);
  out["first_audible_ms"] = percentiles(v.first_audible_ms);
  out["total_ms"] = percentiles(v.total_ms);
  out["cap_wait_ms"] = report.open_loop ? percentiles(v.cap_wait_ms) : json(nullptr);
  out["rps"] = v.rps;
  out["audio_s"] = v.audio_s;
  out["underruns"] = v.underruns;
  out["errors"] = v.errors;
  if (v.samples > 0) {
    out["in_flight"] = {{"min", v.in_flight_min},
                        {"mean", v.in_flight_mean},
                        {"max", v.in_flight_max},
                        {"samples", v.samples},
                        {"over_limit", v.over_limit}};
  } else {
    out["in_flight"] = nullptr;
  }
  out["client"] = {{"bound", v.client_bound},
                   {"why", v.client_bound_why},
                   {"cpu_share", v.cpu_share},
                   {"lag_p95_ms", v.lag_p95_ms},
                   {"loop_lag_ms", v.loop_lag_ms}};
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string load_text(const LoadReport& report) {
  const auto& v = report.view;
  std::string out = fmt::format(
      "{} loop, {:g} {} for {:.1f} s: {} started, {} ok, {} rejected, {} failed, {} timed "
      "out, {} aborted",
      report.open_loop ? "open" : "closed", report.asked, report.open_loop ? "requests/s" : "outstanding",
      v.seconds, v.started, v.ok, v.rejected, v.failed, v.timed_out, v.aborted);
  if (report.open_loop) out += fmt::format(", {} dropped", report.dropped);
  out += "\n";
  if (v.ok == 0) out += "no successful request\n";
  out += line("time to first audio", v.ttfab_ms);
  out += line("first audible sample", v.first_audible_ms);
  out += line("whole answer", v.total_ms);
  if (report.open_loop) out += line("of it, wait under cap", v.cap_wait_ms);
  out += fmt::format("{:.2f} requests/s, {:.2f} audio seconds a second, {} underruns\n", v.rps,
                     v.seconds > 0 ? v.audio_s / v.seconds : 0, v.underruns);
  for (const auto& [what, count] : v.errors) out += fmt::format("  {} x {}\n", count, what);
  out += fmt::format(
      "driver: {:.0f} % of a core, {:.1f} in flight, requests {:.1f} ms late (p95), loop {:.1f} ms late\n",
      v.cpu_share * 100, v.in_flight_mean, v.lag_p95_ms, v.loop_lag_ms);
  if (v.client_bound)
    out += "client_bound: " + v.client_bound_why + "; the figures judge the driver, not the server\n";
  return out;
}

}  // namespace headroom::bench
