// plan.json: results, policy, alternatives, findings.
#include "artifact/json_fields.hpp"

namespace headroom::artifact {
namespace {

using capacity::Alternative;
using capacity::Finding;
using capacity::Plan;

Json alternatives_json(const std::vector<Alternative>& all) {
  Json list = Json::array();
  for (const Alternative& a : all) {
    list.push_back({{"name", a.name},
                    {"min_instances", value_or_null(a.min_instances)},
                    {"max_instances", value_or_null(a.max_instances)},
                    {"peak_rps_served", value_or_null(a.peak_rps_served)},
                    {"cost_per_hour_at_peak_usd", value_or_null(a.cost_per_hour_at_peak_usd)},
                    {"share_within_slo", value_or_null(a.share_within_slo)},
                    {"instance_hours", value_or_null(a.instance_hours)},
                    {"turns_per_hour", value_or_null(a.turns_per_hour)},
                    {"note", text_or_null(a.note)}});
  }
  return list;
}

Json sensitivity_json(const std::vector<capacity::Sensitivity>& all) {
  Json list = Json::array();
  for (const capacity::Sensitivity& s : all) {
    list.push_back({{"what", s.what},
                    {"min_instances", value_or_null(s.min_instances)},
                    {"max_instances", value_or_null(s.max_instances)},
                    {"queue_limit", value_or_null(s.queue_limit)},
                    {"utilisation", value_or_null(s.utilisation)},
                    {"note", text_or_null(s.note)}});
  }
  return list;
}

void get_more(const Json& j, Plan& p) {
  p.simulated_load = text(j, "simulated_load");
  p.simulated_hours = number(j, "simulated_hours").value_or(0);
  for (const Json& s : field(j, "sensitivity"))
    p.sensitivity.push_back({text(s, "what"), whole(s, "min_instances"), whole(s, "max_instances"),
                             whole(s, "queue_limit"), number(s, "utilisation"), text(s, "note")});
  if (const Json& c = field(j, "cost"); c.is_object())
    p.cost = {number(c, "per_hour_at_trough_usd"), number(c, "per_hour_at_peak_usd"),
              number(c, "per_million_characters_usd"), number(c, "per_month_usd")};
}

void put_plan(Json& j, const Plan& p) {
  j["rule"] = capacity::rule_name(p.rule);
  j["verdict"] = capacity::verdict_name(p.verdict);
  j["headroom"] = p.headroom;
  j["peak_rps"] = p.peak_rps;
  j["trough_rps"] = p.trough_rps;
  j["slo_ms"] = p.slo_ms;
  j["scale_out_target"] = value_or_null(p.scale_out_target);
  j["scale_in_threshold"] = value_or_null(p.scale_in_threshold);
  j["queue_limit"] = p.queue_limit;
  j["min_instances"] = p.min_instances;
  j["max_instances"] = p.max_instances;
  j["scale_out_cooldown_s"] = p.scale_out_cooldown_s;
  j["scale_in_cooldown_s"] = p.scale_in_cooldown_s;
  j["unqueued_alarm_ms"] = value_or_null(p.unqueued_alarm_ms);
  j["safe_scale_in_minimum"] = value_or_null(p.safe_scale_in_minimum);
  j["w_max_s"] = value_or_null(p.w_max_s);
  j["utilisation"] = p.utilisation;
  j["throughput"] = {{"per_instance_rps", p.throughput_per_instance_rps},
                     {"instances_at_peak", p.instances_by_throughput_peak},
                     {"instances_at_trough", p.instances_by_throughput_trough},
                     {"max_fleet_rps", p.max_fleet_rps}};
  j["reaction_time_s"] = value_or_null(p.reaction_time_s);
  j["calibration_ratio"] = value_or_null(p.calibration_ratio);
  j["ratio_assumed"] = p.ratio_assumed;
  j["policy"] = policy_json(p.policy);
  j["alternatives"] = alternatives_json(p.alternatives);
  j["simulated_load"] = text_or_null(p.simulated_load);
  j["simulated_hours"] = p.simulated_hours > 0 ? Json(p.simulated_hours) : Json();
  j["sensitivity"] = sensitivity_json(p.sensitivity);
  j["cost"] = {{"per_hour_at_trough_usd", value_or_null(p.cost.per_hour_at_trough_usd)},
               {"per_hour_at_peak_usd", value_or_null(p.cost.per_hour_at_peak_usd)},
               {"per_million_characters_usd", value_or_null(p.cost.per_million_characters_usd)},
               {"per_month_usd", value_or_null(p.cost.per_month_usd)}};
  j["findings"] = Json::array();
  for (const Finding& f : p.findings) {
    j["findings"].push_back({{"id", f.id},
                             {"level", capacity::level_name(f.level)},
                             {"evidence", f.evidence},
                             {"remedy", text_or_null(f.remedy)}});
  }
}

Plan get_plan(const Json& j) {
  Plan p;
  p.rule = *capacity::parse_rule(text(j, "rule"));
  p.verdict = *capacity::parse_plan_verdict(text(j, "verdict"));
  p.headroom = number(j, "headroom").value_or(0);
  p.peak_rps = number(j, "peak_rps").value_or(0);
  p.trough_rps = number(j, "trough_rps").value_or(0);
  p.slo_ms = number(j, "slo_ms").value_or(0);
  p.scale_out_target = number(j, "scale_out_target");
  p.scale_in_threshold = number(j, "scale_in_threshold");
  p.queue_limit = *whole(j, "queue_limit");
  p.min_instances = *whole(j, "min_instances");
  p.max_instances = *whole(j, "max_instances");
  p.scale_out_cooldown_s = *whole(j, "scale_out_cooldown_s");
  p.scale_in_cooldown_s = *whole(j, "scale_in_cooldown_s");
  p.unqueued_alarm_ms = whole(j, "unqueued_alarm_ms");
  p.safe_scale_in_minimum = whole(j, "safe_scale_in_minimum");
  p.w_max_s = number(j, "w_max_s");
  p.utilisation = number(j, "utilisation").value_or(0);
  if (const Json& t = field(j, "throughput"); t.is_object()) {
    p.throughput_per_instance_rps = number(t, "per_instance_rps").value_or(0);
    p.instances_by_throughput_peak = whole(t, "instances_at_peak").value_or(0);
    p.instances_by_throughput_trough = whole(t, "instances_at_trough").value_or(0);
    p.max_fleet_rps = number(t, "max_fleet_rps").value_or(0);
  }
  p.reaction_time_s = number(j, "reaction_time_s");
  p.calibration_ratio = number(j, "calibration_ratio");
  p.ratio_assumed = boolean(j, "ratio_assumed").value_or(false);
  p.policy = get_policy(field(j, "policy"));
  for (const Json& a : field(j, "alternatives")) {
    p.alternatives.push_back({text(a, "name"), whole(a, "min_instances"), whole(a, "max_instances"),
                              number(a, "peak_rps_served"), number(a, "cost_per_hour_at_peak_usd"),
                              number(a, "share_within_slo"), number(a, "instance_hours"),
                              number(a, "turns_per_hour"), text(a, "note")});
  }
  get_more(j, p);
  for (const Json& f : field(j, "findings"))
    p.findings.push_back(
        {text(f, "id"), *capacity::parse_level(text(f, "level")), text(f, "evidence"), text(f, "remedy")});
  return p;
}

}  // namespace

base::Result<std::string> to_json_text(const PlanArtifact& a) {
  Json j;
  put_header(j, "plan", a.header);
  j["transport"] = text_or_null(a.transport);
  put_plan(j, a.plan);
  j["inputs"] = {{"qmax_file", text_or_null(a.qmax_file)},
                 {"qmax_sha256", text_or_null(a.qmax_sha256)},
                 {"ttotal_file", text_or_null(a.ttotal_file)},
                 {"ttotal_sha256", text_or_null(a.ttotal_sha256)}};
  return render(j, "plan");
}

base::Result<PlanArtifact> parse_plan(const std::string& content, const std::string& name) {
  const auto j = load(content, name, "plan");
  if (!j) return tl::unexpected(j.error());
  return guarded_read(name, [&] {
    PlanArtifact a;
    a.header = get_header(*j);
    a.transport = text(*j, "transport");
    a.plan = get_plan(*j);
    const Json& inputs = field(*j, "inputs");
    a.qmax_file = text(inputs, "qmax_file");
    a.qmax_sha256 = text(inputs, "qmax_sha256");
    a.ttotal_file = text(inputs, "ttotal_file");
    a.ttotal_sha256 = text(inputs, "ttotal_sha256");
    return a;
  });
}

base::Result<PlanArtifact> read_plan(const std::string& path) {
  const auto content = read_artifact_file(path, "plan");
  if (!content) return tl::unexpected(content.error());
  return parse_plan(*content, path);
}

}  // namespace headroom::artifact
