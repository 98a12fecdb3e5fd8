// What was measured: the curve of latency and throughput, the stages of a start.
#include <fmt/format.h>

#include "capacity/bound.hpp"
#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"

namespace headroom::report {
namespace {

using capacity::Rung;

std::vector<std::pair<double, double>> curve(const std::vector<Rung>& rungs,
                                             std::optional<double> Rung::*field) {
  std::vector<std::pair<double, double>> points;
  for (const Rung& rung : rungs) {
    if (rung.repeat || !(rung.*field)) continue;
    points.emplace_back(rung.n, *(rung.*field));
  }
  return points;
}

std::string verdict_text(const Rung& rung) {
  if (!rung.verdict) return "unknown";
  return std::string(capacity::verdict_name(*rung.verdict)) + (rung.repeat ? " (repeat)" : "");
}

std::string rung_table(const artifact::QmaxArtifact& qmax) {
  std::vector<Row> rows{{"outstanding", "p50", "p95", "p99", "requests/s", "verdict", "started", "ok",
                         "refused", "failed", "timed out", "aborted", "why"}};
  for (const Rung& rung : qmax.rungs) {
    const auto count = [&](auto field) {
      return rung.counts ? fmt::format("{}", (*rung.counts).*field) : std::string("unknown");
    };
    rows.push_back(
        {fmt::format("{}", rung.n), milliseconds(rung.p50_ms), milliseconds(rung.p95_ms),
         milliseconds(rung.p99_ms), shown(rung.rps), verdict_text(rung), count(&capacity::Counts::started),
         count(&capacity::Counts::ok), count(&capacity::Counts::rejected), count(&capacity::Counts::failed),
         count(&capacity::Counts::timed_out), count(&capacity::Counts::aborted), escaped(rung.reason)});
  }
  return table(rows);
}

LineChart latency_chart(const artifact::QmaxArtifact& qmax, const std::vector<Rung>& rungs) {
  LineChart chart;
  chart.title = "Time to first audio by outstanding requests on one instance";
  chart.x_label = "outstanding requests, held";
  chart.y_label = "ms";
  chart.series = {{"p95", "c1", curve(rungs, &Rung::p95_ms), "", false, true},
                  {"p50", "c2", curve(rungs, &Rung::p50_ms), "6 3", false, true},
                  {"p99", "c3", curve(rungs, &Rung::p99_ms), "2 3", false, false}};
  for (const Rung& rung : rungs) {
    const auto interval = rung.repeat ? std::nullopt : capacity::p95_interval(rung);
    if (interval)
      chart.whiskers.push_back({static_cast<double>(rung.n), interval->low_ms, interval->high_ms, "c1"});
  }
  chart.rules.push_back({qmax.slo_ms, fmt::format("SLO {:g} ms", qmax.slo_ms)});
  if (qmax.knee_n)
    chart.rules.push_back({static_cast<double>(*qmax.knee_n), fmt::format("knee {}", *qmax.knee_n), true});
  if (const auto& interval = qmax.result.q_max_interval)
    chart.bands.push_back(
        {interval->low, interval->high, fmt::format("Q_max {:g} to {:g}", interval->low, interval->high)});
  if (qmax.result.verdict == capacity::QmaxVerdict::kBracketed)
    chart.description = fmt::format("p95 crosses the SLO of {:g} ms above {} outstanding", qmax.slo_ms,
                                    counted(qmax.result.q_max));
  else
    chart.description = qmax.result.sentence;
  return chart;
}

}  // namespace

std::string latency_section(const artifact::QmaxArtifact& qmax) {
  const auto rungs = capacity::last_holds(qmax.rungs);
  std::string out =
      "<section><h2>What one instance carries</h2>\n<p>" + escaped(qmax.result.sentence) + "</p>\n";
  const LineChart latency = latency_chart(qmax, rungs);
  out += svg(latency);
  if (!latency.whiskers.empty())
    out += "<p class=quiet>The bars at the p95 are its 95 % interval in that rung.</p>\n";
  LineChart throughput;
  throughput.title = "Throughput by outstanding requests";
  throughput.x_label = "outstanding requests, held";
  throughput.y_label = "requests/s";
  throughput.height = 200;
  throughput.series = {{"answered", "c1", curve(rungs, &Rung::rps), "", false, true}};
  if (qmax.knee_n)
    throughput.rules.push_back(
        {static_cast<double>(*qmax.knee_n), fmt::format("knee {}", *qmax.knee_n), true});
  throughput.description = qmax.knee_sentence;
  out += svg(throughput) + "<p>" + escaped(qmax.knee_sentence) + "</p>\n";
  return out + "<details><summary>Every rung</summary>" + rung_table(qmax) + "</details></section>\n";
}

std::string stages_section(const artifact::TtotalArtifact& ttotal) {
  std::vector<Part> parts;
  for (const capacity::Stage& stage : ttotal.stages.measured) {
    std::string note;
    if (stage.kind) {
      note = capacity::kind_name(*stage.kind);
      if (stage.resolution_s && *stage.resolution_s > 0)
        note += fmt::format(" to {:g} s", *stage.resolution_s);
    }
    parts.push_back({stage.to, stage.s, note, stage.kind == capacity::StageKind::kBounded});
  }
  std::string out = "<section><h2>How long new capacity takes</h2>\n<p>";
  out += fmt::format(
      "T_m (measured, from asking to traffic that is well again): <b>{}</b>. Lag of the policy, a bound: "
      "<b>{}</b>. T_total: <b>{}</b>.</p>\n",
      shown(ttotal.measured_total_s, 4, "s"), shown(ttotal.policy_lag_bound_s, 4, "s"),
      shown(ttotal.total_s, 4, "s"));
  if (!parts.empty()) out += stacked_bar("Stages of T_m, in order", parts, "s");
  if (const auto largest = capacity::largest_stage(ttotal.stages.measured);
      largest && ttotal.measured_total_s && ttotal.total_s) {
    out += "<p>" +
           escaped(capacity::share_sentence(*largest, *ttotal.measured_total_s, *ttotal.total_s) + ". " +
                   capacity::stage_remedy(largest->to)) +
           "</p>\n";
  }
  for (const capacity::Stage& stage : ttotal.stages.before_clock)
    out += fmt::format("<p class=quiet>Before the clock, in no sum: {} {:.4g} s.</p>\n", escaped(stage.to),
                       stage.s);
  if (ttotal.host_contended.value_or(false))
    out += "<p class=quiet>The host was contended: instances and driver shared too few cores.</p>\n";
  if (ttotal.client_bound)
    out += "<p class=quiet>T_m may be the driver's, not the service's: " + escaped(*ttotal.client_bound) +
           ".</p>\n";
  return out + "</section>\n";
}

}  // namespace headroom::report
