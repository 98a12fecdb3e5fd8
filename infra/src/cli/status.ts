// speech-infra status: stacks, endpoint, policies, alarms and the age of the plan, in one table. Read-only.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { bringsWeights, type Deployment } from "../deployment.ts";
import { cacheStack, endpointStack, FOUNDATION_STACK, ownPrefix } from "../names.ts";
import { type Plan, variantOf } from "../plan/plan_file.ts";
import { EXIT } from "../problem.ts";
import { type Cloud, NotOffered } from "./cloud.ts";
import { deployedHoldsWeights } from "./images.ts";
import { table, type Terminal } from "./terminal.ts";

type Row = [string, string, string]; // what, state, remark

async function stackRow(cloud: Cloud, name: string): Promise<Row> {
  try {
    const state = await cloud.stack(name);
    return [`stack ${name}`, state?.status ?? "not deployed", state?.reason ?? ""];
  } catch (error) {
    if (!(error instanceof NotOffered)) throw error;
    return [`stack ${name}`, "unknown", "CloudFormation is not offered at this address"];
  }
}

function age(created: string | null | undefined, path: string): string {
  const from = created == null ? statSync(path).mtimeMs : Date.parse(created);
  const hours = (Date.now() - from) / 3_600_000;
  return hours < 48 ? `${Math.max(0, hours).toFixed(1)} h old` : `${Math.floor(hours / 24)} days old`;
}

// The measurements beside the plan that are not the ones it was made from: it was measured again since.
function measuredSince(plan: Plan, path: string): string[] {
  return (["qmax", "ttotal"] as const).filter((name) => {
    const made = plan.inputs?.[`${name}_sha256`];
    const file = join(dirname(path), `${name}.json`);
    return made != null && existsSync(file) && createHash("sha256").update(readFileSync(file)).digest("hex") !== made;
  }).map((name) => `${name}.json was measured again since: tts-bench plan`);
}

function planRow({ judgement }: Deployment): Row {
  if (judgement.scaling) {
    return ["plan", `${judgement.plan.verdict}, ${age(judgement.plan.created, judgement.path)}`, [judgement.path, ...measuredSince(judgement.plan, judgement.path), ...judgement.notes].join("; ")];
  }
  const failure = judgement.failures[0];
  return ["plan", `not deployable: ${failure?.condition} fails`, failure?.message ?? ""];
}

async function weightsOf(deployment: Deployment, cloud: Cloud): Promise<boolean | undefined> {
  try {
    return await deployedHoldsWeights(deployment, cloud);
  } catch (error) {
    if (!(error instanceof NotOffered)) throw error;
    return undefined;
  }
}

async function rowsOf(deployment: Deployment, cloud: Cloud): Promise<Row[]> {
  const { model, judgement } = deployment;
  const variant = judgement.scaling ? variantOf(judgement.plan) : "AllTraffic";
  const rows: Row[] = [];
  const weightsInImage = (await weightsOf(deployment, cloud)) ?? deployment.weightsInImage;
  if (bringsWeights({ ...deployment, weightsInImage })) rows.push(await stackRow(cloud, cacheStack(model.name)));
  rows.push(await stackRow(cloud, endpointStack(model.name)));
  const endpoint = await cloud.endpoint(model.endpoint);
  rows.push([`endpoint ${model.endpoint}`, endpoint?.status ?? "not there",
    endpoint ? `${endpoint.current ?? "?"} of ${endpoint.desired ?? "?"} instances of ${endpoint.instanceType ?? "?"}${endpoint.failureReason ? `: ${endpoint.failureReason}` : ""}` : ""]);
  const resource = `endpoint/${model.endpoint}/variant/${variant}`;
  const target = await cloud.target(resource);
  rows.push(["scalable target", target ? `${target.min} to ${target.max}` : "not registered",
    target?.suspended ? `scaling is suspended: tts-bench thaw --model ${model.named}` : ""]);
  for (const policy of await cloud.policies(resource)) {
    rows.push([`policy ${policy.name}`, policy.type, policy.alarms === 0 ? "no alarm triggers it" : `${policy.alarms} alarm(s)`]);
  }
  for (const prefix of [ownPrefix(model.endpoint, variant), `${model.endpoint}-`]) {
    for (const alarm of await cloud.alarms(prefix)) rows.push([`alarm ${alarm.name}`, alarm.state, ""]);
  }
  rows.push(planRow(deployment));
  return rows;
}

export async function status(deployments: Deployment[], cloud: Cloud, terminal: Terminal): Promise<number> {
  const rows: string[][] = [["MODEL", "WHAT", "STATE", ""]];
  rows.push(["(shared)", ...(await stackRow(cloud, FOUNDATION_STACK))]);
  for (const deployment of deployments) {
    for (const row of await rowsOf(deployment, cloud)) rows.push([deployment.model.name, ...row]);
  }
  for (const line of table(rows)) terminal.say(line);
  return EXIT.good;
}
