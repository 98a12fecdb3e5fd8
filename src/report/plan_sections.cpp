// What was planned: numbers, alternatives, what-ifs, findings, the simulated load, and where all this is
// from.
#include <algorithm>

#include <fmt/format.h>

#include "report/chart.hpp"
#include "report/html.hpp"
#include "report/sections.hpp"

namespace headroom::report {
namespace {

std::string range(const std::optional<int>& low, const std::optional<int>& high) {
  return low && high ? fmt::format("{} to {}", *low, *high) : "none";
}

std::string usd(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f} USD", *value) : std::string("unknown");
}

std::string tile(const std::string& name, const std::string& value, const std::string& note) {
  return fmt::format("<div class=tile><span>{}</span><b>{}</b><small>{}</small></div>", name, value,
                     escaped(note));
}

std::string alternatives_table(const capacity::Plan& plan) {
  std::vector<Row> rows{{"policy", "instances", "serves requests/s", "USD/h at most", "within SLO",
                         "instance-hours", "turns/h", "note"}};
  for (const capacity::Alternative& a : plan.alternatives)
    rows.push_back({escaped(a.name), range(a.min_instances, a.max_instances), shown(a.peak_rps_served),
                    shown(a.cost_per_hour_at_peak_usd), share_percent(a.share_within_slo),
                    shown(a.instance_hours), shown(a.turns_per_hour, 2), escaped(a.note)});
  return table(rows);
}

std::string what_if_table(const capacity::Plan& plan) {
  std::vector<Row> rows{{"what if", "instances", "queue limit", "utilisation", "note"}};
  for (const capacity::Sensitivity& s : plan.sensitivity)
    rows.push_back({escaped(s.what), range(s.min_instances, s.max_instances), counted(s.queue_limit),
                    shown(s.utilisation, 3), escaped(s.note)});
  return table(rows);
}

// `line_rps`: where the policy scales out, per instance; drawn where it is known.
LineChart fleet_chart(const artifact::SimulateArtifact& simulate, const artifact::SimulatedRow& row,
                      const std::optional<double>& line_rps) {
  LineChart chart;
  chart.title = row.row.name + ": load offered and what the fleet can serve";
  chart.x_label = "minutes";
  chart.y_label = "requests/s";
  chart.height = 200;
  Series load{"offered", "c2", {}, "6 3", false, false}, fleet{"fleet", "c1", {}, "", true, false},
      bad{"refused, late", "c3", {}, "2 3", false, false}, line{"scale-out line", "c4", {}, "9 3 2 3", true};
  const artifact::Timeline& t = row.timeline;
  for (std::size_t i = 0; i < t.offered_rps.size(); ++i) {
    const double minute = static_cast<double>(i) * t.step_s / 60;
    load.points.emplace_back(minute, t.offered_rps[i]);
    if (i < t.in_service.size()) fleet.points.emplace_back(minute, t.in_service[i] * simulate.throughput_rps);
    if (i < t.in_service.size() && line_rps) line.points.emplace_back(minute, t.in_service[i] * *line_rps);
    if (i < t.bad_rps.size()) bad.points.emplace_back(minute, t.bad_rps[i]);
  }
  chart.series = {load, fleet, bad, line};
  chart.description = fmt::format("{} of the requests within the SLO, at most {} instances",
                                  share_percent(row.row.share_within_slo), row.row.most);
  return chart;
}

}  // namespace

std::string tiles(const ReportInput& in) {
  std::string out = "<div class=tiles>";
  if (in.qmax) {
    const auto& interval = in.qmax->result.q_max_interval;
    out += tile("Q_max", counted(in.qmax->result.q_max),
                interval ? fmt::format("{:g} to {:g}, {}", interval->low, interval->high,
                                       in.qmax->result.interval_method)
                         : std::string(capacity::verdict_name(in.qmax->result.verdict)));
    out += tile("knee", counted(in.qmax->knee_n), "95 % of the peak throughput");
    out += tile("unqueued p95", milliseconds(in.qmax->unqueued.p95_ms),
                fmt::format("SLO {:g} ms", in.qmax->slo_ms));
  }
  if (in.ttotal)
    out += tile("T_total", shown(in.ttotal->total_s, 4, "s"),
                fmt::format("T_m {} + lag {}", shown(in.ttotal->measured_total_s, 4, "s"),
                            shown(in.ttotal->policy_lag_bound_s, 4, "s")));
  if (in.plan) {
    const capacity::Plan& p = in.plan->plan;
    out += tile("instances", range(p.min_instances, p.max_instances),
                fmt::format("{:g} to {:g} requests/s", p.trough_rps, p.peak_rps));
    out += tile("cost per hour", usd(p.cost.per_hour_at_peak_usd), "at the maximum");
    out += tile("plan", std::string(capacity::verdict_name(p.verdict)),
                fmt::format("{} rule, {} metric", capacity::rule_name(p.rule),
                            capacity::carrier_name(p.policy.carrier)));
  }
  return out + "</div>\n";
}

std::string plan_section(const artifact::PlanArtifact& artifact) {
  const capacity::Plan& p = artifact.plan;
  const bool rate = p.policy.carrier == capacity::Carrier::kOfferedRate;
  const bool published = p.rule == capacity::Rule::kPublished;
  std::vector<Row> rows{{"the policy", "value", "unit"}};
  rows.push_back({"scale out above", shown(p.scale_out_target, 6),
                  rate ? "requests/s an instance" : "outstanding an instance"});
  rows.push_back({"scale in below", shown(p.scale_in_threshold, 6),
                  published ? "outstanding an instance" : "requests/s x (n - 1)"});
  rows.push_back({"queue limit", counted(p.queue_limit), "MAX_QUEUE_DEPTH of the container"});
  rows.push_back(
      {"cooldown out, in", fmt::format("{}, {}", p.scale_out_cooldown_s, p.scale_in_cooldown_s), "s"});
  rows.push_back({"longest wait W_max", shown(p.w_max_s), "s"});
  rows.push_back({"utilisation", shown(p.utilisation, 3), "of the throughput"});
  rows.push_back({"reaction time H", shown(p.reaction_time_s), "s"});
  rows.push_back({"instances by throughput at the peak", counted(p.instances_by_throughput_peak),
                  fmt::format("at {:.2f} requests/s each", p.throughput_per_instance_rps)});
  std::string out = "<section><h2>The plan</h2>\n" + table(rows);
  out += "<h3>Side by side</h3>\n" + alternatives_table(p);
  out += p.simulated_load.empty()
             ? "<p class=quiet>Not simulated.</p>\n"
             : "<p class=quiet>Simulated against " + escaped(p.simulated_load) + ".</p>\n";
  if (!p.sensitivity.empty()) out += "<h3>What if</h3>\n" + what_if_table(p);
  out += fmt::format(
      "<p>Cost: {} an hour at the minimum, {} at the maximum; {} per million characters; {} a month.</p>\n",
      usd(p.cost.per_hour_at_trough_usd), usd(p.cost.per_hour_at_peak_usd),
      usd(p.cost.per_million_characters_usd), usd(p.cost.per_month_usd));
  return out + "</section>\n";
}

std::string findings_section(const artifact::PlanArtifact& artifact) {
  // The gravest first; within a level in the order of the plan.
  auto findings = artifact.plan.findings;
  std::stable_sort(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    return static_cast<int>(a.level) > static_cast<int>(b.level);
  });
  std::vector<Row> rows{{"level", "finding", "evidence", "what to do"}};
  for (const capacity::Finding& f : findings) {
    const std::string level(capacity::level_name(f.level));
    rows.push_back({fmt::format("<b class='level {}'>{}</b>", level, level),
                    "<code class=id>" + escaped(f.id) + "</code>", escaped(f.evidence), escaped(f.remedy)});
  }
  return "<section><h2>Findings</h2>\n" + table(rows) + "</section>\n";
}

std::string simulation_section(const artifact::SimulateArtifact& simulate,
                               const std::optional<artifact::PlanArtifact>& plan) {
  std::vector<Row> rows{{"policy", "instances", "within SLO", "refused", "late", "instance-hours",
                         "x the least", "turns/h", "cost"}};
  for (const artifact::SimulatedRow& r : simulate.rows)
    rows.push_back({escaped(r.row.name), range(r.row.min_instances, r.row.max_instances),
                    share_percent(r.row.share_within_slo), bad_percent(r.row.share_refused),
                    bad_percent(r.row.share_late), shown(r.row.instance_hours),
                    shown(r.row.vs_clairvoyant, 3), shown(r.row.turns_per_hour, 2), usd(r.cost_usd)});
  std::string out = "<section><h2>Simulated: " + escaped(simulate.load.name) + "</h2>\n";
  out += fmt::format(
      "<p>{} requests in {:.1f} h, {} to {} requests/s, growth x{} within {:.0f} s. The least is what "
      "someone "
      "who knows the future would pay: {} instance-hours.</p>\n",
      simulate.load.offered, simulate.load.duration_s / 3600, shown(simulate.load.trough_rps),
      shown(simulate.load.peak_rps), shown(simulate.load.growth, 3), simulate.horizon_s,
      shown(simulate.load.clairvoyant_hours));
  out += table(rows);
  std::size_t drawn = 0;
  for (const artifact::SimulatedRow& r : simulate.rows) {
    if (r.timeline.offered_rps.empty() || drawn == 4) continue;
    const bool own = r.row.name == "plan" && plan;  // whose line the report knows
    out += svg(fleet_chart(simulate, r, own ? plan->plan.policy.rate_per_instance_rps : std::nullopt));
    ++drawn;
  }
  return out + "</section>\n";
}

std::string provenance_section(const ReportInput& in) {
  std::vector<Row> rows{{"artifact", "made", "run", "tool", "transport", "instance", "image"}};
  const auto add = [&](const char* name, const artifact::Header& h, const std::string& transport) {
    const auto text = [](const std::optional<std::string>& value) {
      return escaped(value.value_or("unknown"));
    };
    rows.push_back({name, escaped(h.created), escaped(h.run_id), escaped(h.tool_version), escaped(transport),
                    text(h.fingerprint.instance_type),
                    "<code>" + text(h.fingerprint.image_digest) + "</code>"});
  };
  std::string notes;
  const auto note = [&](const char* name, const artifact::Header& h) {
    for (const std::string& line : h.notes) notes += fmt::format("<li>{}: {}</li>", name, escaped(line));
  };
  if (in.qmax) add("qmax", in.qmax->header, in.qmax->transport), note("qmax", in.qmax->header);
  if (in.ttotal) add("ttotal", in.ttotal->header, in.ttotal->transport), note("ttotal", in.ttotal->header);
  if (in.plan) add("plan", in.plan->header, in.plan->transport), note("plan", in.plan->header);
  if (in.simulate)
    add("simulate", in.simulate->header, "none: nothing was sent"), note("simulate", in.simulate->header);
  std::string out = "<section><h2>Where this is from</h2>\n" + table(rows);
  if (in.plan)
    out += fmt::format(
        "<p class=quiet>The plan stands on qmax <code>{}</code> and ttotal <code>{}</code> (SHA-256).</p>\n",
        escaped(in.plan->qmax_sha256), escaped(in.plan->ttotal_sha256));
  if (!notes.empty()) out += "<ul class=quiet>" + notes + "</ul>\n";
  return out + "</section>\n";
}

}  // namespace headroom::report
