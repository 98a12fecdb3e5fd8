// The CDK app: three stacks for each model, checked by cdk-nag while they are synthesised. Needs no account, network or bootstrap.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, BootstraplessSynthesizer, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { bringsWeights, type Deployment } from "./deployment.ts";
import { cacheStack, endpointStack, FOUNDATION_STACK } from "./names.ts";
import { Problem } from "./problem.ts";
import { makeFolder } from "./scratch.ts";
import { SpeechEndpointStack } from "./stacks/endpoint_stack.ts";
import { SpeechFoundationStack } from "./stacks/foundation_stack.ts";
import { SpeechModelCacheStack } from "./stacks/model_cache_stack.ts";

export interface Template { stack: string; path: string; body: string }

export function buildApp(deployments: Deployment[], outdir: string): App {
  const app = new App({ outdir, analyticsReporting: false, treeMetadata: false });
  const synthesizer = new BootstraplessSynthesizer(); // the templates hold no assets
  const foundation = new SpeechFoundationStack(app, FOUNDATION_STACK, { synthesizer });
  for (const deployment of deployments) {
    const { name } = deployment.model;
    const endpoint = new SpeechEndpointStack(app, endpointStack(name), { synthesizer: new BootstraplessSynthesizer(), deployment });
    endpoint.addStackDependency(foundation);
    Tags.of(endpoint).add("headroom:model", name);
    if (!bringsWeights(deployment)) continue;
    const cache = new SpeechModelCacheStack(app, cacheStack(name), { synthesizer: new BootstraplessSynthesizer(), deployment });
    cache.addStackDependency(foundation);
    endpoint.addStackDependency(cache);
    Tags.of(cache).add("headroom:model", name);
  }
  Tags.of(app).add("project", "headroom");
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app;
}

// The templates by stack, in the order to deploy them. A finding of cdk-nag is an error.
export function synthesise(deployments: Deployment[], outdir: string): Template[] {
  const clash = deployments.find((one, index) => deployments.findIndex((other) => other.model.endpoint === one.model.endpoint) !== index);
  if (clash) {
    throw new Problem(`two of the models have the endpoint '${clash.model.endpoint}'`, "give each model file its own endpoint");
  }
  makeFolder(outdir);
  buildApp(deployments, outdir).synth();
  const order = [FOUNDATION_STACK, ...deployments.flatMap((one) => [...(bringsWeights(one) ? [cacheStack(one.model.name)] : []), endpointStack(one.model.name)])];
  return order.map((stack) => {
    const path = join(outdir, `${stack}.template.json`);
    return { stack, path, body: readFileSync(path, "utf8") };
  });
}
