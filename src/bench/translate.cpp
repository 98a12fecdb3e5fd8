// A plan's policy as AWS requests.
#include "bench/translate.hpp"

namespace headroom::bench {
namespace {

aws::MetricQuery to_aws(const capacity::AlarmQuery& query) {
  aws::MetricQuery out;
  out.id = query.id;
  if (query.metric) out.metric = bench::to_aws(*query.metric);
  out.statistic = query.statistic;
  out.period_s = query.period_s;
  out.expression = query.expression;
  out.label = query.label;
  out.return_data = query.return_data;
  return out;
}

}  // namespace

aws::Metric to_aws(const capacity::MetricRef& metric) {
  aws::Metric out{metric.metric_namespace, metric.name, {}};
  for (const auto& d : metric.dimensions) out.dimensions.push_back({d.name, d.value});
  return out;
}

aws::ScalingPolicy to_aws(const capacity::PolicyRule& rule, const std::string& resource_id) {
  aws::ScalingPolicy out;
  out.name = rule.name;
  out.resource_id = resource_id;
  out.type = rule.type;
  if (rule.target_tracking) {
    aws::TargetTracking tracking;
    tracking.target_value = rule.target_tracking->target_value;
    tracking.predefined_metric = rule.target_tracking->predefined_metric;
    tracking.scale_out_cooldown_s = rule.target_tracking->scale_out_cooldown_s;
    tracking.scale_in_cooldown_s = rule.target_tracking->scale_in_cooldown_s;
    tracking.disable_scale_in = rule.target_tracking->disable_scale_in;
    out.target_tracking = tracking;
  }
  if (rule.step_scaling) {
    aws::StepScaling step;
    step.adjustment_type = rule.step_scaling->adjustment_type;
    for (const auto& row : rule.step_scaling->steps)
      step.steps.push_back({row.lower_bound, row.upper_bound, row.adjustment});
    step.cooldown_s = rule.step_scaling->cooldown_s;
    step.min_adjustment_magnitude = rule.step_scaling->min_adjustment_magnitude;
    step.aggregation = rule.step_scaling->aggregation;
    out.step_scaling = step;
  }
  return out;
}

aws::Alarm to_aws(const capacity::AlarmRule& rule, const std::string& policy_arn) {
  aws::Alarm out;
  out.name = rule.name;
  out.description = rule.description;
  if (rule.metric) out.metric = to_aws(*rule.metric);
  for (const auto& query : rule.queries) out.queries.push_back(to_aws(query));
  out.statistic = rule.statistic;
  out.extended_statistic = rule.extended_statistic;
  out.period_s = rule.period_s;
  out.evaluation_periods = rule.evaluation_periods;
  out.datapoints_to_alarm = rule.datapoints_to_alarm;
  out.threshold = rule.threshold;
  out.comparison = rule.comparison;
  out.missing_data = rule.missing_data;
  out.actions_enabled = true;
  if (!policy_arn.empty()) out.alarm_actions = {policy_arn};
  return out;
}

std::vector<capacity::PolicyRule> all_rules(const capacity::Policy& policy) {
  std::vector<capacity::PolicyRule> rules = policy.scale_out;
  rules.insert(rules.end(), policy.scale_in.begin(), policy.scale_in.end());
  return rules;
}

std::string own_prefix(const std::string& endpoint, const std::string& variant) {
  return "headroom-" + endpoint + "-" + variant + "-";
}

}  // namespace headroom::bench
