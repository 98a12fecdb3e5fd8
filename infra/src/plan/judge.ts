// Whether an endpoint gets autoscaling: every condition, and which one failed. Pure.
import type { ModelFile } from "../model/model_file.ts";
import { ownPrefix } from "../names.ts";
import { type Plan, type PlanRead, variantOf } from "./plan_file.ts";
import { workloadHash } from "./workload.ts";

export type ConditionId =
  | "scaling_enabled" | "plan_present" | "known_schema" | "feasible" | "units_converted"
  | "endpoint" | "instance_type" | "transport" | "workload" | "own_names";

export interface Failure { condition: ConditionId; message: string; remedy: string }

export type Judgement =
  | { scaling: true; plan: Plan; path: string; notes: string[] }
  | { scaling: false; failures: Failure[]; planGiven: boolean };

const measure = (model: ModelFile): string =>
  `measure and plan again: tts-bench qmax --model ${model.named}, then ttotal, then plan`;

export function judge(model: ModelFile, read: PlanRead): Judgement {
  const planGiven = read.state !== "absent";
  const failures: Failure[] = [];
  if (model.maxInstances <= model.minInstances) {
    failures.push({
      condition: "scaling_enabled",
      message: `instance.max = instance.min = ${model.minInstances} in ${model.path}: there is nothing to scale`,
      remedy: "raise instance.max if the endpoint is to scale",
    });
  }
  if (read.state === "absent") {
    failures.push({
      condition: "plan_present",
      message: `there is no plan at ${read.path}`,
      remedy: measure(model),
    });
    return { scaling: false, failures, planGiven };
  }
  if (read.state === "unknown_schema") {
    failures.push({
      condition: "known_schema",
      message: `${read.path} is no plan that this version knows: ${read.reason}`,
      remedy: `tts-bench plan --model ${model.named}`,
    });
    return { scaling: false, failures, planGiven };
  }
  const notes: string[] = [];
  failures.push(...aboutPlan(model, read.plan, read.path, notes));
  return failures.length > 0 ? { scaling: false, failures, planGiven } : { scaling: true, plan: read.plan, path: read.path, notes };
}

function aboutPlan(model: ModelFile, plan: Plan, path: string, notes: string[]): Failure[] {
  const failures: Failure[] = [];
  if (plan.verdict === "infeasible") {
    const failed = plan.findings.filter((finding) => finding.level === "FAIL").map((finding) => `${finding.id}: ${finding.evidence}`);
    failures.push({
      condition: "feasible",
      message: `${path} is infeasible (${failed.join("; ") || "its findings say why"})`,
      remedy: `mend what it names, then tts-bench plan --model ${model.named}`,
    });
  }
  // The offered-rate carrier counts requests; only a concurrency line needs the metric's unit.
  if (plan.policy.carrier !== "offered-rate" && plan.calibration_ratio == null && plan.ratio_assumed !== true) {
    failures.push({
      condition: "units_converted",
      message: `${path} is not converted to the metric's unit (no calibration ratio)`,
      remedy: "measure again with the metric readable, or plan with --assume-ratio",
    });
  }
  const same = (condition: ConditionId, what: string, planned: string | null | undefined, wanted: string | undefined): void => {
    if (planned == null || planned === "") {
      notes.push(`the plan does not record its ${what}`);
    } else if (wanted === undefined || wanted === "") {
      notes.push(`the ${what} of the plan (${planned}) cannot be compared with ${model.path}`);
    } else if (planned !== wanted) {
      failures.push({
        condition,
        message: `${path} was made for ${what} '${planned}', ${model.path} has '${wanted}'`,
        remedy: `${measure(model)}; or correct the model file if the plan is right`,
      });
    }
  };
  const print = plan.fingerprint ?? {};
  same("endpoint", "endpoint", print.endpoint, model.endpoint);
  same("instance_type", "instance type", print.instance_type, model.instanceType);
  same("transport", "transport", print.transport ?? plan.transport, model.transport);
  same("workload", `workload hash`, print.workload_hash, workloadHash(model.workload, model.transport));
  if (plan.slo_ms != null && plan.slo_ms !== model.sloMs) {
    notes.push(`the plan is for an SLO of ${plan.slo_ms} ms, ${model.path} says ${model.sloMs} ms`);
  }
  if (plan.max_instances > model.maxInstances) {
    notes.push(`the plan's maximum of ${plan.max_instances} instances is above instance.max = ${model.maxInstances} of ${model.path}`);
  }
  const foreign = foreignNames(plan, model.endpoint);
  if (foreign.length > 0 && !failures.some((failure) => failure.condition === "endpoint")) {
    failures.push({
      condition: "own_names",
      message: `${path} holds what is not of endpoint '${model.endpoint}': ${foreign.join(", ")}`,
      remedy: `tts-bench plan --model ${model.named}`,
    });
  }
  return failures;
}

// Names and dimensions that belong to another endpoint or variant: a plan that was edited, or of a foreign tool.
function foreignNames(plan: Plan, endpoint: string): string[] {
  const variant = variantOf(plan);
  const prefix = ownPrefix(endpoint, variant);
  const rules = [...plan.policy.scale_out, ...plan.policy.scale_in];
  const names = [...rules, ...plan.policy.alarms].map((one) => one.name).filter((name) => !name.startsWith(prefix));
  const metrics = plan.policy.alarms.flatMap((alarm) => [alarm.metric, ...(alarm.queries ?? []).map((query) => query.metric)]);
  for (const metric of metrics) {
    for (const dimension of metric?.dimensions ?? []) {
      const wanted = { EndpointName: endpoint, VariantName: variant }[dimension.name];
      if (wanted !== undefined && wanted !== dimension.value) names.push(`${metric?.name} of ${dimension.name} ${dimension.value}`);
    }
  }
  const known = new Set(rules.map((rule) => rule.name));
  for (const alarm of plan.policy.alarms) {
    if (alarm.policy && !known.has(alarm.policy)) names.push(`alarm ${alarm.name} that triggers '${alarm.policy}'`);
  }
  return [...new Set(names)];
}
