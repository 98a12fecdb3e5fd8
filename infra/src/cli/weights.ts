// Weights into the bucket: the preparation scripts are put there under their hash, the build runs, and the manifest appears last.
import type { Deployment } from "../deployment.ts";
import { bucketOf, cacheProject, sourceKey, weightsPrefix } from "../names.ts";
import { Problem } from "../problem.ts";
import type { Cloud } from "./cloud.ts";
import type { Terminal } from "./terminal.ts";

const POLL_MS = 10_000;

export async function putSource(cloud: Cloud, terminal: Terminal, deployment: Deployment, account: string): Promise<void> {
  const bucket = bucketOf(account, cloud.region());
  const key = sourceKey(deployment.source.sha256);
  if (await cloud.hasObject(bucket, key)) return;
  await cloud.putObject(bucket, key, deployment.source.zip);
  terminal.say(`preparation scripts are in s3://${bucket}/${key}`);
}

export async function fillWeights(cloud: Cloud, terminal: Terminal, deployment: Deployment, account: string): Promise<void> {
  const { name, manifestSha256 } = deployment.model;
  const bucket = bucketOf(account, cloud.region());
  const prefix = weightsPrefix(name, manifestSha256);
  if (await cloud.hasObject(bucket, `${prefix}manifest.json`)) {
    terminal.say(`weights of ${name} are in s3://${bucket}/${prefix}`);
    return;
  }
  const id = await cloud.startBuild(cacheProject(name));
  terminal.say(`build ${id} prepares the weights of ${name} (about 10 minutes)`);
  for (let waited = 0; ; waited += POLL_MS) {
    const state = await cloud.build(id);
    if (state.done) {
      if (state.status !== "SUCCEEDED") {
        throw new Problem(`the build of the weights ended as ${state.status}: ${state.phase}`,
          `read its log (${state.log || `log group /headroom/${cacheProject(name)}`}), then deploy again`);
      }
      break;
    }
    terminal.progress(`build ${id}: ${state.phase}, ${waited / 1000} s`);
    await terminal.sleep(POLL_MS);
  }
  if (!(await cloud.hasObject(bucket, `${prefix}manifest.json`))) {
    throw new Problem(`the build succeeded, but s3://${bucket}/${prefix}manifest.json is not there`, "run deploy again; the build's log says what it copied");
  }
  terminal.say(`weights of ${name} are in s3://${bucket}/${prefix}`);
}
