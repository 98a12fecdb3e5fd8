// The policy section of a plan as JSON: everything apply and the CDK app register.
#include "artifact/json_fields.hpp"

namespace headroom::artifact {
namespace {

using capacity::AlarmQuery;
using capacity::AlarmRule;
using capacity::MetricRef;
using capacity::PolicyRule;
using capacity::StepRow;

Json metric_json(const std::optional<MetricRef>& m) {
  if (!m) return nullptr;
  Json dimensions = Json::array();
  for (const auto& d : m->dimensions) dimensions.push_back({{"name", d.name}, {"value", d.value}});
  return {{"namespace", m->metric_namespace}, {"name", m->name}, {"dimensions", dimensions}};
}

std::optional<MetricRef> get_metric(const Json& j) {
  if (!j.is_object()) return std::nullopt;
  MetricRef m{text(j, "namespace"), text(j, "name"), {}};
  for (const Json& d : field(j, "dimensions")) m.dimensions.push_back({text(d, "name"), text(d, "value")});
  return m;
}

Json rule_json(const PolicyRule& r) {
  Json j{{"name", r.name}, {"type", r.type}, {"target_tracking", nullptr}, {"step_scaling", nullptr}};
  if (const auto& t = r.target_tracking) {
    j["target_tracking"] = {{"target_value", t->target_value},
                            {"predefined_metric", t->predefined_metric},
                            {"disable_scale_in", t->disable_scale_in},
                            {"scale_out_cooldown_s", value_or_null(t->scale_out_cooldown_s)},
                            {"scale_in_cooldown_s", value_or_null(t->scale_in_cooldown_s)}};
  }
  if (const auto& s = r.step_scaling) {
    Json steps = Json::array();
    for (const StepRow& row : s->steps) {
      steps.push_back({{"lower_bound", value_or_null(row.lower_bound)},
                       {"upper_bound", value_or_null(row.upper_bound)},
                       {"adjustment", row.adjustment}});
    }
    j["step_scaling"] = {{"adjustment_type", s->adjustment_type},
                         {"steps", steps},
                         {"cooldown_s", s->cooldown_s},
                         {"min_adjustment_magnitude", value_or_null(s->min_adjustment_magnitude)},
                         {"aggregation", text_or_null(s->aggregation)}};
  }
  return j;
}

PolicyRule get_rule(const Json& j) {
  PolicyRule r;
  r.name = text(j, "name");
  r.type = text(j, "type");
  if (const Json& t = field(j, "target_tracking"); t.is_object()) {
    r.target_tracking =
        capacity::TargetTrackingRule{number(t, "target_value").value_or(0), text(t, "predefined_metric"),
                                     boolean(t, "disable_scale_in").value_or(false),
                                     whole(t, "scale_out_cooldown_s"), whole(t, "scale_in_cooldown_s")};
  }
  if (const Json& s = field(j, "step_scaling"); s.is_object()) {
    capacity::StepRule step;
    step.adjustment_type = text(s, "adjustment_type");
    for (const Json& row : field(s, "steps"))
      step.steps.push_back(
          {number(row, "lower_bound"), number(row, "upper_bound"), whole(row, "adjustment").value_or(0)});
    step.cooldown_s = whole(s, "cooldown_s").value_or(0);
    step.min_adjustment_magnitude = whole(s, "min_adjustment_magnitude");
    step.aggregation = text(s, "aggregation");
    r.step_scaling = step;
  }
  return r;
}

Json alarm_json(const AlarmRule& a) {
  Json queries = Json::array();
  for (const AlarmQuery& q : a.queries) {
    queries.push_back({{"id", q.id},
                       {"metric", metric_json(q.metric)},
                       {"statistic", text_or_null(q.statistic)},
                       {"period_s", value_or_null(q.period_s)},
                       {"expression", text_or_null(q.expression)},
                       {"label", text_or_null(q.label)},
                       {"return_data", q.return_data}});
  }
  return {{"name", a.name},
          {"description", text_or_null(a.description)},
          {"purpose", a.purpose},
          {"policy", text_or_null(a.policy)},
          {"metric", metric_json(a.metric)},
          {"queries", queries},
          {"statistic", text_or_null(a.statistic)},
          {"extended_statistic", text_or_null(a.extended_statistic)},
          {"period_s", value_or_null(a.period_s)},
          {"evaluation_periods", a.evaluation_periods},
          {"datapoints_to_alarm", a.datapoints_to_alarm},
          {"threshold", a.threshold},
          {"comparison", a.comparison},
          {"missing_data", a.missing_data},
          {"sources", text_or_null(a.sources)}};
}

AlarmRule get_alarm(const Json& j) {
  AlarmRule a;
  a.name = text(j, "name");
  a.description = text(j, "description");
  a.purpose = text(j, "purpose");
  a.policy = text(j, "policy");
  a.metric = get_metric(field(j, "metric"));
  for (const Json& q : field(j, "queries")) {
    a.queries.push_back({text(q, "id"), get_metric(field(q, "metric")), text(q, "statistic"),
                         whole(q, "period_s"), text(q, "expression"), text(q, "label"),
                         boolean(q, "return_data").value_or(false)});
  }
  a.statistic = text(j, "statistic");
  a.extended_statistic = text(j, "extended_statistic");
  a.period_s = whole(j, "period_s");
  a.evaluation_periods = whole(j, "evaluation_periods").value_or(1);
  a.datapoints_to_alarm = whole(j, "datapoints_to_alarm").value_or(1);
  a.threshold = number(j, "threshold").value_or(0);
  a.comparison = text(j, "comparison");
  a.missing_data = text(j, "missing_data");
  a.sources = text(j, "sources");
  return a;
}

}  // namespace

Json policy_json(const capacity::Policy& p) {
  Json j{{"carrier", capacity::carrier_name(p.carrier)},
         {"growth", value_or_null(p.growth)},
         {"rate_per_instance_rps", value_or_null(p.rate_per_instance_rps)},
         {"variant", text_or_null(p.variant)},
         {"scale_out", Json::array()},
         {"scale_in", Json::array()},
         {"alarms", Json::array()}};
  for (const PolicyRule& r : p.scale_out) j["scale_out"].push_back(rule_json(r));
  for (const PolicyRule& r : p.scale_in) j["scale_in"].push_back(rule_json(r));
  for (const AlarmRule& a : p.alarms) j["alarms"].push_back(alarm_json(a));
  return j;
}

capacity::Policy get_policy(const Json& j) {
  capacity::Policy p;
  p.carrier = capacity::parse_carrier(text(j, "carrier")).value_or(capacity::Carrier::kNative);
  p.growth = number(j, "growth");
  p.rate_per_instance_rps = number(j, "rate_per_instance_rps");
  p.variant = text(j, "variant");
  for (const Json& r : field(j, "scale_out")) p.scale_out.push_back(get_rule(r));
  for (const Json& r : field(j, "scale_in")) p.scale_in.push_back(get_rule(r));
  for (const Json& a : field(j, "alarms")) p.alarms.push_back(get_alarm(a));
  return p;
}

}  // namespace headroom::artifact
