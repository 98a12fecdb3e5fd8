// speech-infra synth and diff: the templates, and what they would change.
import { join } from "node:path";
import type { Deployment } from "../deployment.ts";
import { ROOT } from "../paths.ts";
import { EXIT } from "../problem.ts";
import { scratch } from "../scratch.ts";
import type { Cloud } from "./cloud.ts";
import { keepImages } from "./images.ts";
import type { Options } from "./options.ts";
import { deployedTemplate, parseTemplate } from "./stack_runner.ts";
import type { Terminal } from "./terminal.ts";
import { templateDiff } from "./template_diff.ts";

export function sayScaling(deployment: Deployment, terminal: Terminal): void {
  const { model, judgement } = deployment;
  if (judgement.scaling) {
    const { plan } = judgement;
    terminal.say(`${model.name}: autoscaling as ${judgement.path} holds: ${plan.rule}, ${plan.policy.carrier}, ${plan.min_instances} to `
      + `${plan.max_instances} instances, MAX_QUEUE_DEPTH ${plan.queue_limit}`);
    for (const note of judgement.notes) terminal.say(`${model.name}: note: ${note}`);
    return;
  }
  for (const { condition, message, remedy } of judgement.failures) {
    terminal.say(`${model.name}: no autoscaling: condition ${condition} failed: ${message} -> ${remedy}`);
  }
}

export async function synth(deployments: Deployment[], options: Options, terminal: Terminal): Promise<number> {
  const { synthesise } = await import("../app.ts");
  const templates = synthesise(deployments, options.out ?? join(ROOT, "infra", "cdk.out"));
  for (const deployment of deployments) {
    sayScaling(deployment, terminal);
    if (deployment.image === "") {
      terminal.say(`${deployment.model.name}: no image is named: the template asks for ImageUri (--image-uri, or container.image of ${deployment.model.path})`);
    }
  }
  for (const { stack, path } of templates) terminal.say(`${stack}: ${path}`);
  return EXIT.good;
}

export async function diff(deployments: Deployment[], options: Options, cloud: Cloud, terminal: Terminal): Promise<number> {
  await keepImages(deployments, cloud);
  const { synthesise } = await import("../app.ts");
  const templates = synthesise(deployments, options.out ?? scratch());
  for (const deployment of deployments) sayScaling(deployment, terminal);
  for (const { stack, body } of templates) {
    const before = await deployedTemplate(cloud, stack);
    const lines = templateDiff(before === undefined ? {} : parseTemplate(before), JSON.parse(body) as object);
    terminal.say(lines.length === 0 ? `${stack}: nothing would change` : `${stack}${before === undefined ? " (new)" : ""}:`);
    for (const line of lines) terminal.say(`  ${line}`);
  }
  return EXIT.good;
}
