// The plan as a table for people.
#include <fmt/format.h>

#include "bench/plan.hpp"

namespace headroom::bench {
namespace {

using capacity::Plan;

std::string wrap(const std::string& text, std::size_t indent, std::size_t width = 110) {
  std::string out;
  std::size_t column = indent;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t space = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, space - from);
    if (column > indent && column + word.size() + 1 > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    from = space + 1;
  }
  return out;
}

std::string or_unknown(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.6g}{}", *value, unit) : "unknown";
}

void append_numbers(std::string& out, const Plan& p) {
  const auto row = [&](const char* name, const std::string& value) {
    out += fmt::format("  {:<28} {}\n", name, value);
  };
  const bool rate = p.policy.carrier == capacity::Carrier::kOfferedRate;
  row("scale out above",
      or_unknown(p.scale_out_target, rate ? " requests/s an instance" : " outstanding an instance"));
  row("scale in below",
      or_unknown(p.scale_in_threshold, p.rule == capacity::Rule::kPublished ? " outstanding an instance"
                                                                            : " requests/s x (n - 1)"));
  row("queue limit", fmt::format("{} (MAX_QUEUE_DEPTH of the container)", p.queue_limit));
  row("instances", fmt::format("{} to {}", p.min_instances, p.max_instances));
  row("cooldown", fmt::format("out {} s, in {} s", p.scale_out_cooldown_s, p.scale_in_cooldown_s));
  row("utilisation", fmt::format("{:.3g}", p.utilisation));
  row("longest wait (W_max)", or_unknown(p.w_max_s, " s"));
  if (p.unqueued_alarm_ms) row("unqueued latency alarm", fmt::format("{} ms", *p.unqueued_alarm_ms));
  if (p.safe_scale_in_minimum)
    row("safe minimum in scale-in", fmt::format("{} instances", *p.safe_scale_in_minimum));
  if (p.reaction_time_s) row("reaction time (H)", fmt::format("{:.0f} s", *p.reaction_time_s));
  row("by throughput", fmt::format("{:g} requests/s need {} instances at {:.2f} each; {} serve {:.0f}",
                                   p.peak_rps, p.instances_by_throughput_peak, p.throughput_per_instance_rps,
                                   p.max_instances, p.max_fleet_rps));
}

void append_alternatives(std::string& out, const Plan& p) {
  out += fmt::format("\n  {:<26} {:>9} {:>12} {:>10} {:>12} {:>12} {:>10}\n", "side by side", "instances",
                     "serves rps", "USD/h max", "within SLO", "instance-h", "turns/h");
  for (const capacity::Alternative& a : p.alternatives) {
    const std::string range = a.min_instances && a.max_instances
                                  ? fmt::format("{}..{}", *a.min_instances, *a.max_instances)
                                  : "none";
    out += fmt::format(
        "  {:<26} {:>9} {:>12} {:>10} {:>12} {:>12} {:>10}\n", a.name, range,
        a.peak_rps_served ? fmt::format("{:.0f}", *a.peak_rps_served) : "unknown",
        a.cost_per_hour_at_peak_usd ? fmt::format("{:.2f}", *a.cost_per_hour_at_peak_usd) : "unknown",
        or_unknown(a.share_within_slo, ""), or_unknown(a.instance_hours, ""),
        or_unknown(a.turns_per_hour, ""));
    if (!a.note.empty()) out += "      " + wrap(a.note, 6) + "\n";
  }
  if (!p.simulated_load.empty()) out += "  simulated against " + wrap(p.simulated_load, 20) + "\n";
}

void append_sensitivity(std::string& out, const Plan& p) {
  if (p.sensitivity.empty()) return;
  out += fmt::format("\n  {:<58} {:>9} {:>6} {:>12}\n", "what if", "instances", "queue", "utilisation");
  for (const capacity::Sensitivity& s : p.sensitivity) {
    if (s.min_instances && s.max_instances && s.queue_limit && s.utilisation)
      out += fmt::format("  {:<58} {:>9} {:>6} {:>12.3g}\n", s.what,
                         fmt::format("{}..{}", *s.min_instances, *s.max_instances), *s.queue_limit,
                         *s.utilisation);
    else
      out += fmt::format("  {:<58} {}\n", s.what, wrap(s.note, 61));
  }
}

void append_cost(std::string& out, const Plan& p) {
  const auto usd = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.2f} USD", *value) : std::string("unknown");
  };
  out += fmt::format(
      "\n  cost: {} an hour at the minimum, {} at the maximum; {} per million characters; {} a month\n",
      usd(p.cost.per_hour_at_trough_usd), usd(p.cost.per_hour_at_peak_usd),
      usd(p.cost.per_million_characters_usd), usd(p.cost.per_month_usd));
}

}  // namespace

std::string plan_text(const artifact::PlanArtifact& artifact) {
  const Plan& p = artifact.plan;
  std::string out =
      fmt::format("Plan for {} ({} rule, {} metric): {}\n\n",
                  artifact.header.fingerprint.endpoint.value_or("?"), capacity::rule_name(p.rule),
                  capacity::carrier_name(p.policy.carrier), capacity::verdict_name(p.verdict));
  append_numbers(out, p);
  append_alternatives(out, p);
  append_sensitivity(out, p);
  append_cost(out, p);
  out += "\nFindings\n";
  for (const capacity::Finding& f : p.findings) {
    out += fmt::format("  {:<5} {:<20} {}\n", capacity::level_name(f.level), f.id, wrap(f.evidence, 29));
    if (!f.remedy.empty()) out += fmt::format("{:29}-> {}\n", "", wrap(f.remedy, 32));
  }
  return out;
}

}  // namespace headroom::bench
