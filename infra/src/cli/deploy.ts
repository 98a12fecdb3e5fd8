// speech-infra deploy: foundation, weights, endpoint, in this order; what cannot work is said before anything is changed.
import { bringsWeights, type Deployment, GPU_TYPE, onGpu, speaks } from "../deployment.ts";
import { cacheStack, endpointStack, FOUNDATION_STACK, REPOSITORY } from "../names.ts";
import { EXIT, Problem } from "../problem.ts";
import { withoutWhatBlocks } from "./blocked.ts";
import { checkBucket, checkQuota, refusePlans, refuseToForgetThePlan, wanted } from "./checks.ts";
import type { Cloud } from "./cloud.ts";
import type { Options } from "./options.ts";
import { deployedTemplate, deployStack, refuseHalfDeployed } from "./stack_runner.ts";
import { sayScaling } from "./synth.ts";
import { type Terminal, where } from "./terminal.ts";
import { fillWeights, putSource } from "./weights.ts";

export interface TemplateBody { stack: string; body: string }

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
    await refuseToForgetThePlan(deployment, options.noPlan, cloud);
    await checkQuota(cloud, terminal, deployment);
    sayScaling(deployment, terminal);
    if (GPU_TYPE.test(deployment.model.instanceType) && speaks(deployment.model) && !onGpu(deployment.model)) {
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
  for (const deployment of deployments) await deployModel(deployment, body, account, options, cloud, terminal);
  askForImages(deployments, account, cloud.region());
  return EXIT.good;
}

// The repository exists only now, so this is the first moment in which an image could have been pushed.
function askForImages(deployments: Deployment[], account: string, region: string): void {
  const without = deployments.filter(({ image }) => image === "").map(({ model }) => model);
  const first = without[0];
  if (first === undefined) return;
  const repository = `${account}.dkr.ecr.${region}.amazonaws.com/${REPOSITORY}`;
  throw new Problem(`foundation and weights are deployed, but no image is named for ${without.map(({ name }) => name).join(", ")}`,
    `docker/build-image.sh ${onGpu(first) ? "cuda --cuda-base NAME@sha256:..." : "cpu"} --base debian:12-slim@sha256:... (docs/operations.md, Image), `
    + `push it to ${repository}, then: speech-infra deploy ${first.named} --image-uri ${repository}@sha256:...`);
}

async function deployModel(deployment: Deployment, body: (stack: string) => string, account: string, options: Options, cloud: Cloud, terminal: Terminal): Promise<void> {
  const { model, judgement } = deployment;
  if (bringsWeights(deployment)) {
    await putSource(cloud, terminal, deployment, account);
    await deployStack(cloud, terminal, cacheStack(model.name), body(cacheStack(model.name)));
    await fillWeights(cloud, terminal, deployment, account);
  }
  if (deployment.image === "") return;
  const name = endpointStack(model.name);
  const deployed = await deployedTemplate(cloud, name);
  const between = deployed === undefined ? undefined : withoutWhatBlocks(deployed, body(name));
  if (between !== undefined) {
    terminal.say(`${name}: a policy changes its type, or the instance type changes under a policy; AWS takes neither in place, so the policy goes first`);
    await deployStack(cloud, terminal, name, between);
  }
  await deployStack(cloud, terminal, name, body(name));
  const next = judgement.scaling ? `tts-bench validate --model ${model.named}${options.plan === undefined ? "" : ` --plan ${options.plan}`}`
    : `tts-bench drift --model ${model.named}, then qmax, ttotal and plan; then deploy again, and the policy follows the plan`;
  terminal.say(`${model.name}: endpoint ${model.endpoint} is deployed; next: ${next}`);
}
