// speech-infra deploy: foundation, weights, endpoint, in this order; what cannot work is said before anything is changed.
import { bringsWeights, type Deployment, GPU_TYPE, onGpu } from "../deployment.ts";
import { bucketOf, cacheStack, endpointStack, FOUNDATION_STACK, REPOSITORY } from "../names.ts";
import { EXIT, Problem } from "../problem.ts";
import { withoutWhatBlocks } from "./blocked.ts";
import type { Cloud } from "./cloud.ts";
import type { Options } from "./options.ts";
import { deployedTemplate, deployStack, refuseHalfDeployed } from "./stack_runner.ts";
import { sayScaling } from "./synth.ts";
import { type Terminal, where } from "./terminal.ts";
import { fillWeights, putSource } from "./weights.ts";

export interface TemplateBody { stack: string; body: string }

// A plan that lies there and may not be deployed stops the deployment: without it, an endpoint would quietly lose its scaling.
export function refusePlans(deployments: Deployment[]): void {
  for (const { model, judgement, planPath } of deployments) {
    if (judgement.scaling || !judgement.planGiven) continue;
    const failures = judgement.failures.filter(({ condition }) => condition !== "scaling_enabled");
    if (failures.length === 0) continue;
    throw new Problem(`${planPath} may not be deployed: ${failures.map(({ condition, message }) => `${condition}: ${message}`).join("; ")}`,
      `${failures[0]?.remedy}; or deploy ${model.named} without autoscaling with --no-plan`, EXIT.negative);
  }
}

// A model of a local cloud has a machine and a price that no account knows: --all leaves it out, and by name it is refused.
export function withoutLocal(deployments: Deployment[], all: boolean, terminal: Terminal): Deployment[] {
  const local = deployments.filter(({ model, image }) => model.image === "local" && image === "");
  const first = local[0]?.model;
  if (first === undefined) return deployments;
  if (!all || local.length === deployments.length) {
    throw new Problem(`${first.name} is for a local cloud only (container.image = "local" in ${first.path})`,
      `tts-local up ${first.named}; or name another model: speech-infra list`);
  }
  for (const { model } of local) terminal.say(`${model.name}: left out, it is for a local cloud only (container.image = "local")`);
  return deployments.filter((one) => !local.includes(one));
}

const wanted = ({ model, judgement }: Deployment): { least: number; most: number } => (judgement.scaling
  ? { least: judgement.plan.min_instances, most: judgement.plan.max_instances } : { least: model.minInstances, most: model.minInstances });

async function checkQuota(cloud: Cloud, terminal: Terminal, deployment: Deployment): Promise<void> {
  const { instanceType, path } = deployment.model;
  const { least, most } = wanted(deployment);
  let quota;
  try {
    quota = await cloud.quota(instanceType);
  } catch (error) {
    terminal.say(`note: the quota of ${instanceType} could not be read (${(error as Error).message})`);
    return;
  }
  if (!quota || quota.value >= most) return;
  const ask = `aws service-quotas request-service-quota-increase --service-code sagemaker --quota-code ${quota.code} --desired-value ${most}`;
  if (quota.value < least) {
    throw new Problem(`the account may run ${quota.value} instances of ${instanceType} for endpoints in ${cloud.region()}, ${path} needs ${least}`,
      `ask for more (a day or two): ${ask}`);
  }
  terminal.say(`note: quota ${quota.value} of ${instanceType}, the maximum is ${most}: scaling will stop there; ask for more: ${ask}`);
}

// Before a first foundation: is the bucket's name free? What an earlier foundation kept (bucket, repository) is taken over.
async function checkBucket(cloud: Cloud, terminal: Terminal, account: string): Promise<void> {
  const bucket = bucketOf(account, cloud.region());
  const state = await cloud.bucketState(bucket);
  if (state === "foreign") {
    throw new Problem(`the bucket name ${bucket} is taken by another account, or may not be read`,
      "attach infra/iam/speech-infra-deploy.json; if the name is really taken, deploy in another region: it is headroom-speech-ACCOUNT-REGION");
  }
  if (state === "ours") terminal.say(`the bucket ${bucket} is left from an earlier foundation: it is taken over, with its weights`);
}

function cost(deployments: Deployment[]): string {
  const parts = deployments.map((deployment) => {
    const { least, most } = wanted(deployment);
    const price = deployment.model.pricePerHourUsd;
    const count = least === most ? `${least}` : `${least} to ${most}`;
    const dollars = price === undefined ? "price unknown (instance.price_per_hour_usd)"
      : `${(least * price).toFixed(2)}${least === most ? "" : ` to ${(most * price).toFixed(2)}`} USD an hour`;
    return `${deployment.model.endpoint}: ${count} x ${deployment.model.instanceType}, ${dollars}`;
  });
  const weights = deployments.some(bringsWeights) ? "; weights: one build of about 10 minutes and under 1 GB of storage" : "";
  return parts.join("; ") + weights;
}

export async function deploy(deployments: Deployment[], templates: TemplateBody[], options: Options, cloud: Cloud, terminal: Terminal): Promise<number> {
  refusePlans(deployments);
  const account = await cloud.account();
  const foundation = await cloud.stack(FOUNDATION_STACK);
  refuseHalfDeployed(foundation, deployments[0]?.model.named ?? "");
  const first = foundation === undefined || foundation.status === "REVIEW_IN_PROGRESS";
  if (first) await checkBucket(cloud, terminal, account);
  for (const deployment of deployments) {
    for (const stack of [cacheStack(deployment.model.name), endpointStack(deployment.model.name)]) {
      refuseHalfDeployed(await cloud.stack(stack), deployment.model.named);
    }
    await checkQuota(cloud, terminal, deployment);
    sayScaling(deployment, terminal);
    if (GPU_TYPE.test(deployment.model.instanceType) && !onGpu(deployment.model)) {
      terminal.say(`note: ${deployment.model.instanceType} has a GPU, and ${deployment.model.path} leaves it idle: TTS_ENGINE = "onnxruntime" and TTS_DEVICE = "cuda" use it`);
    }
  }
  terminal.say(where(account, cloud.region(), options.endpointUrl));
  terminal.say(`this will run ${cost(deployments)}`);
  if (!options.yes && !(await terminal.confirm(`deploy ${deployments.map(({ model }) => model.name).join(", ")}`))) {
    throw new Problem("not confirmed; nothing was changed", "answer y, or pass --yes", EXIT.negative);
  }
  const body = (stack: string): string => templates.find((template) => template.stack === stack)?.body ?? "";
  await deployStack(cloud, terminal, FOUNDATION_STACK, body(FOUNDATION_STACK), first);
  for (const deployment of deployments) await deployModel(deployment, body, account, cloud, terminal);
  return EXIT.good;
}

async function deployModel(deployment: Deployment, body: (stack: string) => string, account: string, cloud: Cloud, terminal: Terminal): Promise<void> {
  const { model, judgement } = deployment;
  if (bringsWeights(deployment)) {
    await putSource(cloud, terminal, deployment, account);
    await deployStack(cloud, terminal, cacheStack(model.name), body(cacheStack(model.name)));
    await fillWeights(cloud, terminal, deployment, account);
  }
  if (deployment.image === "") {
    const registry = `${account}.dkr.ecr.${cloud.region()}.amazonaws.com`;
    throw new Problem(`foundation and weights are deployed, but no image is named for ${model.name}`,
      `docker/build-image.sh ${onGpu(model) ? "cuda --cuda-base NAME@sha256:..." : "cpu"} --base debian:12-slim@sha256:... (docs/operations.md, Image), push it to ${registry}/${REPOSITORY}, then: speech-infra deploy ${model.named} --image-uri ${registry}/${REPOSITORY}@sha256:...`);
  }
  const name = endpointStack(model.name);
  const deployed = await deployedTemplate(cloud, name);
  const between = deployed === undefined ? undefined : withoutWhatBlocks(deployed, body(name));
  if (between !== undefined) {
    terminal.say(`${name}: a policy changes its type, or the instance type changes under a policy; AWS takes neither in place, so the policy goes first`);
    await deployStack(cloud, terminal, name, between);
  }
  await deployStack(cloud, terminal, name, body(name));
  const next = judgement.scaling ? `tts-bench validate --model ${model.named}`
    : `tts-bench drift --model ${model.named}, then qmax, ttotal and plan; then deploy again, and the policy follows the plan`;
  terminal.say(`${model.name}: endpoint ${model.endpoint} is deployed; next: ${next}`);
}
