// speech-infra destroy: endpoint, then model cache; what all models share only when told, and the weights only when told twice.
import { bucketOf, cacheStack, endpointStack, FOUNDATION_STACK, REPOSITORY } from "../names.ts";
import { EXIT, Problem } from "../problem.ts";
import type { Cloud } from "./cloud.ts";
import type { Options } from "./options.ts";
import { removeStack } from "./stack_runner.ts";
import { type Terminal, where } from "./terminal.ts";

export async function destroy(models: string[], otherModels: string[], options: Options, cloud: Cloud, terminal: Terminal): Promise<number> {
  const account = await cloud.account();
  const bucket = bucketOf(account, cloud.region());
  const stacks = models.flatMap((model) => [endpointStack(model), cacheStack(model)]);
  if (options.foundation) {
    for (const other of otherModels) {
      for (const stack of [endpointStack(other), cacheStack(other)]) {
        if (await cloud.stack(stack)) throw new Problem(`${stack} still needs the foundation`, `speech-infra destroy ${other} first`, EXIT.negative);
      }
    }
    stacks.push(FOUNDATION_STACK);
  }
  const weights = options.deleteWeights ? await deletable(cloud, bucket) : undefined;
  terminal.say(where(account, cloud.region(), options.endpointUrl));
  terminal.say(`this will delete ${stacks.join(", ")}${options.deleteWeights ? ` and the bucket ${bucket} with all that lies in it` : ""}; `
    + "requests in flight fail, and instances stop costing");
  if (!options.yes && !(await terminal.confirm("delete them"))) throw new Problem("not confirmed; nothing was deleted", "answer y, or pass --yes", EXIT.negative);
  for (const stack of stacks) await removeStack(cloud, terminal, stack);
  if (options.deleteWeights) {
    if (weights === "ours") await cloud.deleteBucket(bucket);
    terminal.say(`bucket ${bucket}: ${weights === "ours" ? "deleted" : "not there"}`);
  } else if (options.foundation) {
    terminal.say(`bucket ${bucket} and repository ${REPOSITORY} are kept: aws s3 rb --force s3://${bucket}; aws ecr delete-repository --force --repository-name ${REPOSITORY}`);
  } else {
    terminal.say(`the bucket ${bucket} and the shared foundation are kept (--foundation removes it)`);
  }
  return EXIT.good;
}

// The foundation keeps its bucket, so what holds now holds after the stacks are gone.
async function deletable(cloud: Cloud, bucket: string): Promise<"ours" | "absent"> {
  const state = await cloud.bucketState(bucket);
  if (state !== "foreign") return state;
  throw new Problem(`the bucket ${bucket} may not be read or belongs to another account; nothing was deleted`,
    "attach infra/iam/speech-infra-destroy.json; or leave out --delete-weights", EXIT.negative);
}
