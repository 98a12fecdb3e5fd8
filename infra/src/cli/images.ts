// Which image an endpoint goes on with, where the command line and the model file name none.
import type { Deployment } from "../deployment.ts";
import { endpointStack } from "../names.ts";
import type { Cloud } from "./cloud.ts";
import { deployedTemplate, parseTemplate } from "./stack_runner.ts";

// An image given once stays: where none is named, the deployed one goes on.
export async function keepImages(deployments: Deployment[], cloud: Cloud): Promise<void> {
  for (const deployment of deployments) {
    if (deployment.image !== "") continue;
    const container = await deployedContainer(deployment, cloud);
    if (typeof container?.Image !== "string") continue;
    deployment.image = container.Image;
    deployment.weightsInImage ||= holdsWeights(container); // they are that image's
  }
}

// Whether the deployed image brings its own weights, whatever would be deployed next; undefined: none is deployed.
export async function deployedHoldsWeights(deployment: Deployment, cloud: Cloud): Promise<boolean | undefined> {
  const container = await deployedContainer(deployment, cloud);
  return container === undefined ? undefined : holdsWeights(container);
}

// The paced engine speaks without weights; its image says nothing about where they would be.
const holdsWeights = (container: Container): boolean => container.ModelDataSource === undefined && container.Environment?.["TTS_ENGINE"] !== "paced";

async function deployedContainer({ model }: Deployment, cloud: Cloud): Promise<Container | undefined> {
  const body = await deployedTemplate(cloud, endpointStack(model.name));
  return body === undefined ? undefined : (parseTemplate(body) as DeployedModel).Resources?.["Model"]?.Properties?.PrimaryContainer;
}
interface Container { Image?: unknown; ModelDataSource?: unknown; Environment?: Record<string, unknown> }
interface DeployedModel { Resources?: Record<string, { Properties?: { PrimaryContainer?: Container } }> }
