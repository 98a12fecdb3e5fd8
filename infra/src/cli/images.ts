// Which image an endpoint goes on with, where the command line and the model file name none.
import type { Deployment } from "../deployment.ts";
import { endpointStack } from "../names.ts";
import type { Cloud } from "./cloud.ts";
import { deployedTemplate } from "./stack_runner.ts";

// An image given once stays: where none is named, the deployed one goes on.
export async function keepImages(deployments: Deployment[], cloud: Cloud): Promise<void> {
  for (const deployment of deployments) {
    if (deployment.image !== "") continue;
    const name = endpointStack(deployment.model.name);
    const body = await deployedTemplate(cloud, name);
    const container = body === undefined ? undefined : (JSON.parse(body) as DeployedModel).Resources?.["Model"]?.Properties?.PrimaryContainer;
    if (typeof container?.Image !== "string") continue;
    deployment.image = container.Image;
    deployment.weightsInImage ||= container.ModelDataSource === undefined; // they are that image's
  }
}
interface DeployedModel { Resources?: Record<string, { Properties?: { PrimaryContainer?: { Image?: unknown; ModelDataSource?: unknown } } }> }
