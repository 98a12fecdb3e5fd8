// The fields of one scaling policy and of one alarm.
#include <algorithm>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "bench/policy_compare.hpp"

namespace headroom::bench {
namespace {

std::string dimensions_text(std::vector<aws::Dimension> dimensions) {
  std::sort(dimensions.begin(), dimensions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
  });
  std::string out;
  for (const auto& d : dimensions) out += (out.empty() ? "" : ", ") + d.name + "=" + d.value;
  return out;
}

void compare_metric(FieldChecks& out, const std::string& prefix, const std::optional<aws::Metric>& found,
                    const std::optional<aws::Metric>& wanted) {
  const aws::Metric none;
  const aws::Metric& f = found ? *found : none;
  const aws::Metric& w = wanted ? *wanted : none;
  out.field(prefix + "Namespace", f.metric_namespace, w.metric_namespace);
  out.field(prefix + "MetricName", f.name, w.name);
  out.field(prefix + "Dimensions", dimensions_text(f.dimensions), dimensions_text(w.dimensions));
}

void compare_queries(FieldChecks& out, const std::string& name, const std::vector<aws::MetricQuery>& found,
                     const std::vector<aws::MetricQuery>& wanted) {
  const auto ids = [](const std::vector<aws::MetricQuery>& queries) {
    std::vector<std::string> list;
    for (const auto& query : queries) list.push_back(query.id);
    std::sort(list.begin(), list.end());
    return show(list);
  };
  out.field(name, ids(found), ids(wanted));
  for (const auto& w : wanted) {
    const auto it = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.id == w.id; });
    if (it == found.end()) continue;
    const std::string prefix = fmt::format("{}[{}].", name, w.id);
    compare_metric(out, prefix, it->metric, w.metric);
    out.field(prefix + "Stat", it->statistic, w.statistic);
    out.field(prefix + "Unit", it->unit, w.unit);
    // The service may fill in the period of an expression; only a metric's own is the plan's.
    if (w.metric || w.period_s) out.field(prefix + "Period", it->period_s, w.period_s);
    out.field(prefix + "Expression", it->expression, w.expression);
    out.field(prefix + "Label", it->label, w.label);
    out.field(prefix + "ReturnData", it->return_data.value_or(true), w.return_data.value_or(true));
  }
}

void compare_tracking(FieldChecks& out, const aws::TargetTracking& found, const aws::TargetTracking& wanted) {
  out.field("TargetValue", found.target_value, wanted.target_value);
  out.field("PredefinedMetricType", found.predefined_metric, wanted.predefined_metric);
  out.field("ResourceLabel", found.resource_label, wanted.resource_label);
  out.field("CustomizedMetricSpecification", found.customized.has_value(), wanted.customized.has_value());
  if (found.customized && wanted.customized) {
    compare_metric(out, "CustomizedMetricSpecification.", found.customized->metric,
                   wanted.customized->metric);
    out.field("CustomizedMetricSpecification.Statistic", found.customized->statistic,
              wanted.customized->statistic);
    out.field("CustomizedMetricSpecification.Unit", found.customized->unit, wanted.customized->unit);
    compare_queries(out, "CustomizedMetricSpecification.Metrics", found.customized->queries,
                    wanted.customized->queries);
  }
  out.field("ScaleOutCooldown", found.scale_out_cooldown_s, wanted.scale_out_cooldown_s);
  out.field("ScaleInCooldown", found.scale_in_cooldown_s, wanted.scale_in_cooldown_s);
  out.field("DisableScaleIn", found.disable_scale_in.value_or(false),
            wanted.disable_scale_in.value_or(false));
}

std::vector<aws::StepAdjustment> by_bound(std::vector<aws::StepAdjustment> steps) {
  const auto low = [](const aws::StepAdjustment& step) {
    return step.lower_bound ? *step.lower_bound : -std::numeric_limits<double>::infinity();
  };
  std::sort(steps.begin(), steps.end(), [&](const auto& a, const auto& b) { return low(a) < low(b); });
  return steps;
}

void compare_steps(FieldChecks& out, const aws::StepScaling& found, const aws::StepScaling& wanted) {
  out.field("AdjustmentType", found.adjustment_type, wanted.adjustment_type);
  out.field("Cooldown", found.cooldown_s, wanted.cooldown_s);
  out.field("MinAdjustmentMagnitude", found.min_adjustment_magnitude, wanted.min_adjustment_magnitude);
  out.field("MetricAggregationType", found.aggregation.empty() ? std::string("Average") : found.aggregation,
            wanted.aggregation.empty() ? std::string("Average") : wanted.aggregation);
  out.field("StepAdjustments", static_cast<int>(found.steps.size()), static_cast<int>(wanted.steps.size()));
  if (found.steps.size() != wanted.steps.size()) return;
  const auto f = by_bound(found.steps), w = by_bound(wanted.steps);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const std::string prefix = fmt::format("StepAdjustments[{}].", i);
    out.field(prefix + "MetricIntervalLowerBound", f[i].lower_bound, w[i].lower_bound);
    out.field(prefix + "MetricIntervalUpperBound", f[i].upper_bound, w[i].upper_bound);
    out.field(prefix + "ScalingAdjustment", f[i].adjustment, w[i].adjustment);
  }
}

std::string scaling_actions(const std::vector<std::string>& actions) {
  std::vector<std::string> out;
  for (const auto& action : actions) {
    if (is_policy_arn(action)) out.push_back(action);
  }
  std::sort(out.begin(), out.end());
  return show(out);
}

}  // namespace

std::vector<Check> compare_policy(const aws::ScalingPolicy& found, const aws::ScalingPolicy& wanted,
                                  const Commands& commands) {
  FieldChecks out("policy " + wanted.name, commands.apply());
  out.field("PolicyType", found.type, wanted.type);
  out.field("ResourceId", found.resource_id, wanted.resource_id);
  out.field("ScalableDimension", found.dimension, wanted.dimension);
  if (wanted.target_tracking && found.target_tracking)
    compare_tracking(out, *found.target_tracking, *wanted.target_tracking);
  if (wanted.step_scaling && found.step_scaling)
    compare_steps(out, *found.step_scaling, *wanted.step_scaling);
  return out.done();
}

std::vector<Check> compare_alarm(const aws::Alarm& found, const aws::Alarm& wanted,
                                 const Commands& commands) {
  FieldChecks out("alarm " + wanted.name, commands.apply());
  out.field("AlarmDescription", found.description, wanted.description);
  compare_metric(out, "", found.metric, wanted.metric);
  out.field("Statistic", found.statistic, wanted.statistic);
  out.field("ExtendedStatistic", found.extended_statistic, wanted.extended_statistic);
  out.field("Period", found.period_s, wanted.period_s);
  out.field("Unit", found.unit, wanted.unit);
  compare_queries(out, "Metrics", found.queries, wanted.queries);
  out.field("EvaluationPeriods", found.evaluation_periods, wanted.evaluation_periods);
  const auto datapoints = [](const aws::Alarm& alarm) {
    return alarm.datapoints_to_alarm ? alarm.datapoints_to_alarm : alarm.evaluation_periods;
  };
  out.field("DatapointsToAlarm", datapoints(found), datapoints(wanted));
  out.field("Threshold", found.threshold, wanted.threshold);
  out.field("ComparisonOperator", found.comparison, wanted.comparison);
  const auto missing = [](const aws::Alarm& alarm) {
    return alarm.missing_data.empty() ? std::string("missing") : alarm.missing_data;
  };
  out.field("TreatMissingData", missing(found), missing(wanted));
  out.field("ActionsEnabled", found.actions_enabled.value_or(true), wanted.actions_enabled.value_or(true));
  out.field("AlarmActions", scaling_actions(found.alarm_actions), scaling_actions(wanted.alarm_actions));
  out.field("OKActions", scaling_actions(found.ok_actions), std::string("none"));
  out.field("InsufficientDataActions", scaling_actions(found.insufficient_data_actions), std::string("none"));
  return out.done();
}

}  // namespace headroom::bench
