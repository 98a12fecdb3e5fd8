// What cannot work, or would take something away unasked: said before a deployment changes anything.
import { type Deployment } from "../deployment.ts";
import { bucketOf, endpointStack } from "../names.ts";
import { EXIT, Problem } from "../problem.ts";
import type { Cloud } from "./cloud.ts";
import { deployedTemplate } from "./stack_runner.ts";
import type { Terminal } from "./terminal.ts";

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

// The plan that an endpoint scales by is not where it was looked for: from another folder or machine, its scaling would quietly go.
export async function refuseToForgetThePlan(deployment: Deployment, noPlan: boolean, cloud: Cloud): Promise<void> {
  const { model, judgement, planPath } = deployment;
  if (noPlan || judgement.scaling || judgement.failures.some(({ condition }) => condition !== "plan_present")) return;
  const name = endpointStack(model.name);
  const deployed = await deployedTemplate(cloud, name);
  if (deployed === undefined || !deployed.includes('"AWS::ApplicationAutoScaling::ScalableTarget"')) return;
  throw new Problem(`${name} scales by a plan, and there is none at ${planPath}: this deployment would take its scaling away`,
    "name the plan with --plan FILE; or take the scaling away with --no-plan", EXIT.negative);
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

export const wanted = ({ model, judgement }: Deployment): { least: number; most: number } => (judgement.scaling
  ? { least: judgement.plan.min_instances, most: judgement.plan.max_instances } : { least: model.minInstances, most: model.minInstances });

export async function checkQuota(cloud: Cloud, terminal: Terminal, deployment: Deployment): Promise<void> {
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
export async function checkBucket(cloud: Cloud, terminal: Terminal, account: string): Promise<void> {
  const bucket = bucketOf(account, cloud.region());
  const state = await cloud.bucketState(bucket);
  if (state === "foreign") {
    throw new Problem(`the bucket name ${bucket} is taken by another account, or may not be read`,
      "attach infra/iam/speech-infra-deploy.json; if the name is really taken, deploy in another region: it is headroom-speech-ACCOUNT-REGION");
  }
  if (state === "ours") terminal.say(`the bucket ${bucket} is left from an earlier foundation: it is taken over, with its weights`);
}
