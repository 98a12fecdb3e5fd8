// EndpointAutoscaling: the policy that a plan artifact holds, field by field as `tts-bench apply` registers it, so that drift and
// validate find nothing to say whichever of the two deployed it. Holds no number of its own.
import * as scaling from "aws-cdk-lib/aws-applicationautoscaling";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { type AlarmRule, type MetricRef, type Plan, type PolicyRule, variantOf } from "../plan/plan_file.ts";

const DIMENSION = "sagemaker:variant:DesiredInstanceCount";

export const orAbsent = <T>(value: T | null | undefined): T | undefined => (value === null || value === "" ? undefined : value);

export interface EndpointAutoscalingProps { plan: Plan; endpointName: string; alarmTopic: string | undefined }

export class EndpointAutoscaling extends Construct {
  readonly target: scaling.CfnScalableTarget;

  constructor(scope: Construct, id: string, props: EndpointAutoscalingProps) {
    super(scope, id);
    const { plan, endpointName, alarmTopic } = props;
    this.target = new scaling.CfnScalableTarget(this, "Target", {
      serviceNamespace: "sagemaker",
      resourceId: `endpoint/${endpointName}/variant/${variantOf(plan)}`,
      scalableDimension: DIMENSION,
      minCapacity: plan.min_instances,
      maxCapacity: plan.max_instances,
    });
    const policies = new Map<string, scaling.CfnScalingPolicy>();
    const add = (rules: PolicyRule[], direction: string): void => rules.forEach((rule, index) => {
      policies.set(rule.name, this.policy(`${direction}${rule.type}${index === 0 ? "" : index + 1}`, rule));
    });
    add(plan.policy.scale_out, "Out");
    add(plan.policy.scale_in, "In");
    for (const rule of plan.policy.alarms) {
      const policy = rule.policy ? policies.get(rule.policy) : undefined;
      if (policy) planAlarm(this, `Alarm${rule.purpose === "scale_out" ? "Out" : "In"}`, rule, [policy.ref]);
    }
    this.informative(plan, alarmTopic);
  }

  // The published unqueued p95 and what else the plan watches without acting on it.
  private informative(plan: Plan, alarmTopic: string | undefined): void {
    plan.policy.alarms.filter((rule) => !rule.policy).forEach((rule, index) => {
      planAlarm(this, `FirstChunkLatencyP95${index === 0 ? "" : index + 1}`, rule, alarmTopic === undefined ? [] : [alarmTopic]);
    });
  }

  private policy(id: string, rule: PolicyRule): scaling.CfnScalingPolicy {
    const tracking = rule.target_tracking;
    const step = rule.step_scaling;
    return new scaling.CfnScalingPolicy(this, id, {
      policyName: rule.name,
      policyType: rule.type,
      scalingTargetId: this.target.ref,
      targetTrackingScalingPolicyConfiguration: tracking ? {
        targetValue: tracking.target_value,
        predefinedMetricSpecification: { predefinedMetricType: tracking.predefined_metric },
        disableScaleIn: tracking.disable_scale_in,
        scaleOutCooldown: orAbsent(tracking.scale_out_cooldown_s),
        scaleInCooldown: orAbsent(tracking.scale_in_cooldown_s),
      } : undefined,
      stepScalingPolicyConfiguration: step ? {
        adjustmentType: step.adjustment_type,
        cooldown: step.cooldown_s,
        metricAggregationType: orAbsent(step.aggregation),
        minAdjustmentMagnitude: orAbsent(step.min_adjustment_magnitude),
        stepAdjustments: step.steps.map((row) => ({
          metricIntervalLowerBound: orAbsent(row.lower_bound),
          metricIntervalUpperBound: orAbsent(row.upper_bound),
          scalingAdjustment: row.adjustment,
        })),
      } : undefined,
    });
  }
}

const dimensionsOf = (metric: MetricRef): cloudwatch.CfnAlarm.DimensionProperty[] =>
  (metric.dimensions ?? []).map(({ name, value }) => ({ name, value }));

export function planAlarm(scope: Construct, id: string, rule: AlarmRule, actions: string[]): cloudwatch.CfnAlarm {
  const queries = rule.queries ?? [];
  return new cloudwatch.CfnAlarm(scope, id, {
    alarmName: rule.name,
    alarmDescription: orAbsent(rule.description),
    actionsEnabled: true,
    alarmActions: actions.length > 0 ? actions : undefined,
    namespace: rule.metric?.namespace,
    metricName: rule.metric?.name,
    dimensions: rule.metric ? dimensionsOf(rule.metric) : undefined,
    statistic: orAbsent(rule.statistic),
    extendedStatistic: orAbsent(rule.extended_statistic),
    period: orAbsent(rule.period_s),
    metrics: queries.length === 0 ? undefined : queries.map((query) => ({
      id: query.id,
      label: orAbsent(query.label),
      returnData: query.return_data ?? false,
      expression: orAbsent(query.expression),
      period: query.metric ? undefined : orAbsent(query.period_s),
      metricStat: query.metric ? {
        metric: { namespace: query.metric.namespace, metricName: query.metric.name, dimensions: dimensionsOf(query.metric) },
        period: query.period_s ?? 60,
        stat: query.statistic ?? "Average",
      } : undefined,
    })),
    evaluationPeriods: rule.evaluation_periods,
    datapointsToAlarm: rule.datapoints_to_alarm,
    threshold: rule.threshold,
    comparisonOperator: rule.comparison,
    treatMissingData: rule.missing_data,
  });
}
