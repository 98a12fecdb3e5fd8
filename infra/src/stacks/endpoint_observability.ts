// EndpointObservability: alarms that tell people, and the dashboard <endpoint>-scaling with the policy's lines drawn on the metrics.
// They act on nothing; their names do not begin as the policy's do, so that validate does not take them for a plan's.
import { Aws, Stack } from "aws-cdk-lib";
import * as cloudwatch from "aws-cdk-lib/aws-cloudwatch";
import { Construct } from "constructs";
import { type AlarmRule, type MetricRef, type Plan, variantOf } from "../plan/plan_file.ts";
import { planAlarm } from "./endpoint_autoscaling.ts";

export interface EndpointObservabilityProps { plan: Plan; endpointName: string; sloMs: number; alarmTopic: string | undefined }

const MICROSECONDS = 1000; // in a millisecond; SageMaker's latencies are microseconds
const REACTION_S = 600; // where the plan does not hold its reaction time

export class EndpointObservability extends Construct {
  constructor(scope: Construct, id: string, props: EndpointObservabilityProps) {
    super(scope, id);
    const actions = props.alarmTopic === undefined ? [] : [props.alarmTopic];
    for (const [alarmId, rule] of Object.entries(alarms(props))) planAlarm(this, alarmId, rule, actions);
    new cloudwatch.CfnDashboard(this, "Dashboard", {
      dashboardName: `${props.endpointName}-scaling`,
      dashboardBody: Stack.of(this).toJsonString({ start: "-PT3H", periodOverride: "auto", widgets: widgets(props) }),
    });
  }
}

function metric(props: EndpointObservabilityProps, name: string, namespace = "AWS/SageMaker"): MetricRef {
  return { namespace, name, dimensions: [
    { name: "EndpointName", value: props.endpointName }, { name: "VariantName", value: variantOf(props.plan) }] };
}

// The line above which the policy adds instances, and the metric it is drawn on.
function scaleOutLine(props: EndpointObservabilityProps): { metric: MetricRef; threshold: number } | undefined {
  const alarm = props.plan.policy.alarms.find((one) => one.purpose === "scale_out" && one.metric);
  if (alarm?.metric) return { metric: alarm.metric, threshold: alarm.threshold };
  const tracking = props.plan.policy.scale_out.find((rule) => rule.target_tracking)?.target_tracking;
  return tracking ? { metric: metric(props, "ConcurrentRequestsPerModel"), threshold: tracking.target_value } : undefined;
}

function alarms(props: EndpointObservabilityProps): Record<string, AlarmRule> {
  const common = { purpose: "informative", comparison: "GreaterThanThreshold", missing_data: "notBreaching", period_s: 60 } as const;
  const out: Record<string, AlarmRule> = {
    SloP95: { ...common, name: `${props.endpointName}-slo-p95`, metric: metric(props, "FirstChunkLatency"), extended_statistic: "p95",
      description: `p95 time to first audio above the SLO of ${props.sloMs} ms for 3 minutes. No requests, no breach.`,
      threshold: props.sloMs * MICROSECONDS, evaluation_periods: 3, datapoints_to_alarm: 3 },
    ServerErrors: { ...common, name: `${props.endpointName}-server-errors`, metric: metric(props, "Invocation5XXErrors"), statistic: "Sum",
      description: "The container answered 5xx in 2 of 3 minutes: it fails, or refuses above the queue limit. No reading is no error.",
      threshold: 0, evaluation_periods: 3, datapoints_to_alarm: 2 },
  };
  const line = scaleOutLine(props);
  if (line) {
    const minutes = Math.ceil((props.plan.reaction_time_s ?? REACTION_S) / 60) + 1;
    out["ConcurrencyOverTarget"] = { ...common, name: `${props.endpointName}-over-target`, metric: line.metric, statistic: "Average",
      description: `Above the scale-out line for ${minutes} minutes, longer than capacity takes to arrive: the fleet is at its `
        + "maximum, or the policy does not act. No reading is no load.",
      threshold: line.threshold, evaluation_periods: minutes, datapoints_to_alarm: minutes };
  }
  return out;
}

interface Line { label: string; value: number; color?: string }

function widgets(props: EndpointObservabilityProps): object[] {
  const { plan } = props;
  const line = scaleOutLine(props);
  const concurrency = plan.policy.carrier !== "offered-rate";
  const published = plan.policy.carrier === "concurrency";
  const lines = (...all: (Line | undefined)[]): Line[] => all.filter((one): one is Line => one !== undefined);
  const out = line && { label: "scale out above", value: line.threshold, color: "#d62728" };
  const scaleIn = published && plan.scale_in_threshold != null
    ? { label: "scale in below", value: plan.scale_in_threshold, color: "#1f77b4" } : undefined;
  const limit = { label: "queue limit", value: plan.queue_limit, color: "#7f7f7f" };
  const ms = (label: string, value: number, color: string): Line => ({ label, value: value * MICROSECONDS, color });
  const sources: [MetricRef, object][][] = [
    [[metric(props, "ConcurrentRequestsPerModel"), { stat: "Average", period: 10 }],
      [metric(props, "ConcurrentRequestsPerModel"), { stat: "Maximum", period: 10 }]],
    [[metric(props, "FirstChunkLatency"), { stat: "p50" }], [metric(props, "FirstChunkLatency"), { stat: "p95" }]],
    [[metric(props, "Invocations"), { stat: "Sum" }], [metric(props, "Invocation5XXErrors"), { stat: "Sum" }],
      [metric(props, "Invocation4XXErrors"), { stat: "Sum" }]],
    [[metric(props, "CPUUtilization", "/aws/sagemaker/Endpoints"), { stat: "Average" }],
      [metric(props, "MemoryUtilization", "/aws/sagemaker/Endpoints"), { stat: "Average" }]],
  ];
  const titles = ["Outstanding per instance", "Time to first audio (microseconds)", "Requests and errors a minute", "Instances"];
  const annotations = [
    lines(concurrency ? out : undefined, scaleIn, limit),
    lines(ms("SLO", props.sloMs, "#d62728"), plan.unqueued_alarm_ms == null ? undefined : ms("unqueued p95", plan.unqueued_alarm_ms, "#1f77b4")),
    [], [],
  ];
  if (!concurrency && line) {
    sources.push([[line.metric, { stat: "Average", period: 10 }]]);
    titles.push("Offered requests per instance and 10 s");
    annotations.push(lines(out));
  }
  return sources.map((rows, index) => ({
    type: "metric", x: (index % 2) * 12, y: Math.floor(index / 2) * 6, width: 12, height: 6,
    properties: {
      title: titles[index], region: Aws.REGION, view: "timeSeries", stacked: false, period: 60,
      metrics: rows.map(([one, options]) => [one.namespace, one.name, ...(one.dimensions ?? []).flatMap(({ name, value }) => [name, value]), options]),
      ...(annotations[index]?.length ? { annotations: { horizontal: annotations[index] } } : {}),
    },
  }));
}
