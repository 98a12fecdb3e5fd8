// The plan artifact as tts-bench writes it, checked against docs/schemas/plan.schema.json. Reads; decides nothing.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { SCHEMAS } from "../paths.ts";

export interface Dimension { name: string; value: string }
export interface MetricRef { namespace: string; name: string; dimensions?: Dimension[] }
export interface AlarmQuery {
  id: string;
  metric?: MetricRef | null;
  statistic?: string | null;
  period_s?: number | null;
  expression?: string | null;
  label?: string | null;
  return_data?: boolean | null;
}
export interface StepRow { lower_bound?: number | null; upper_bound?: number | null; adjustment: number }
export interface PolicyRule {
  name: string;
  type: "TargetTrackingScaling" | "StepScaling";
  target_tracking?: {
    target_value: number;
    predefined_metric: string;
    disable_scale_in: boolean;
    scale_out_cooldown_s?: number | null;
    scale_in_cooldown_s?: number | null;
  } | null;
  step_scaling?: {
    adjustment_type: string;
    steps: StepRow[];
    cooldown_s: number;
    min_adjustment_magnitude?: number | null;
    aggregation?: string | null;
  } | null;
}
export interface AlarmRule {
  name: string;
  description?: string | null;
  purpose: "scale_out" | "scale_in" | "informative";
  policy?: string | null;
  metric?: MetricRef | null;
  queries?: AlarmQuery[] | null;
  statistic?: string | null;
  extended_statistic?: string | null;
  period_s?: number | null;
  evaluation_periods: number;
  datapoints_to_alarm: number;
  threshold: number;
  comparison: string;
  missing_data: string;
}
export interface Plan {
  created?: string | null;
  fingerprint?: {
    endpoint?: string | null;
    variant?: string | null;
    instance_type?: string | null;
    transport?: string | null;
    workload_hash?: string | null;
  } | null;
  transport?: string | null;
  rule: "recommended" | "published";
  slo_ms?: number | null;
  scale_out_target?: number | null;
  scale_in_threshold?: number | null;
  queue_limit: number;
  min_instances: number;
  max_instances: number;
  unqueued_alarm_ms?: number | null;
  reaction_time_s?: number | null;
  calibration_ratio?: number | null;
  ratio_assumed?: boolean | null;
  policy: {
    carrier: "concurrency" | "native" | "offered-rate";
    variant?: string | null;
    scale_out: PolicyRule[];
    scale_in: PolicyRule[];
    alarms: AlarmRule[];
  };
  inputs?: { qmax_file?: string | null; qmax_sha256?: string | null; ttotal_file?: string | null; ttotal_sha256?: string | null } | null;
  findings: { id: string; level: string; evidence: string; remedy?: string | null }[];
  verdict: "feasible" | "warnings" | "infeasible";
}

// What became of looking for a plan: there is none, it cannot be used as it is, or it was read.
export type PlanRead =
  | { state: "absent"; path: string }
  | { state: "unknown_schema"; path: string; reason: string }
  | { state: "read"; path: string; plan: Plan; sha256: string };

const MAX_BYTES = 16 << 20;

export function readPlan(path: string): PlanRead {
  if (!existsSync(path)) return { state: "absent", path };
  const unknown = (reason: string): PlanRead => ({ state: "unknown_schema", path, reason });
  const bytes = readFileSync(path);
  if (bytes.length > MAX_BYTES) return unknown("it is larger than 16 MiB");
  let document: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return unknown("it is not a JSON object");
    document = parsed as Record<string, unknown>;
  } catch (error) {
    return unknown(`it is not JSON: ${(error as Error).message}`);
  }
  if (document["schema"] !== "headroom/plan" || document["version"] !== 1) {
    return unknown(`its schema is ${JSON.stringify(document["schema"] ?? null)} version ${JSON.stringify(document["version"] ?? null)}, `
      + "known is \"headroom/plan\" version 1");
  }
  const ajv = new Ajv2020({ allErrors: false, strict: false });
  const valid = ajv.compile(JSON.parse(readFileSync(join(SCHEMAS, "plan.schema.json"), "utf8")));
  if (!valid(document)) {
    const first = valid.errors?.[0];
    return unknown(`${first?.instancePath || "/"} ${first?.message ?? "is not as the schema says"}`);
  }
  return { state: "read", path, plan: document as unknown as Plan, sha256: createHash("sha256").update(bytes).digest("hex") };
}

export const variantOf = (plan: Plan): string => plan.fingerprint?.variant ?? (plan.policy.variant || "AllTraffic");
