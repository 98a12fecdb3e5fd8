// The commands over the wire, through the official clients: what they send, and what they make of the answers.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { awsCloud } from "../src/cli/aws_cloud.ts";
import type { Cloud } from "../src/cli/cloud.ts";
import { deploy } from "../src/cli/deploy.ts";
import { destroy } from "../src/cli/destroy.ts";
import { parseOptions } from "../src/cli/options.ts";
import { explain } from "../src/cli/problems.ts";
import { Problem } from "../src/problem.ts";
import { FakeAws } from "./fake_aws.ts";
import { FakeTerminal } from "./fake_cloud.ts";
import { deployment, plan } from "./fixtures.ts";

const aws = new FakeAws();
let cloud: Cloud;
const one = deployment(plan("published"), undefined, { imageUri: "123456789012.dkr.ecr.us-east-1.amazonaws.com/headroom-tts-serve:1" });
const prefix = `models/kokoro-82m/${one.model.manifestSha256}/`;
const templates = ["SpeechFoundationStack", "SpeechModelCacheStack-kokoro-82m", "SpeechEndpointStack-kokoro-82m"]
  .map((stack) => ({ stack, body: JSON.stringify({ Description: `${stack} & <${prefix}>`, Resources: {} }) }));
const options = parseOptions(["deploy", "kokoro-82m", "--yes"]);

before(async () => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local", AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" });
  delete process.env["AWS_ENDPOINT_URL"];
  cloud = await awsCloud({ region: "us-east-1", profile: undefined, endpointUrl: await aws.start() });
});
after(() => aws.stop());
beforeEach(() => { aws.calls = []; });

test("deploy makes three stacks and the weights; again, it changes nothing; diff and destroy follow", async () => {
  const terminal = new FakeTerminal();
  assert.equal(await deploy([one], templates, options, cloud, terminal), 0);
  assert.deepEqual([...aws.stacks.keys()], ["SpeechFoundationStack", "SpeechModelCacheStack-kokoro-82m", "SpeechEndpointStack-kokoro-82m"]);
  const source = [...aws.objects.keys()].find((name) => name.includes("/source/"));
  assert.equal(source, `headroom-speech-123456789012-us-east-1/source/${one.source.sha256}.zip`);
  assert.ok(aws.calls.includes("codebuild:StartBuild"));
  assert.match(terminal.said.at(-1) ?? "", /next: tts-bench validate/);

  aws.calls = [];
  const again = new FakeTerminal();
  assert.equal(await deploy([one], templates, options, cloud, again), 0);
  assert.equal(again.said.filter((line) => line.endsWith("nothing to change")).length, 3);
  assert.ok(!aws.calls.includes("cloudformation:ExecuteChangeSet") && !aws.calls.includes("codebuild:StartBuild"));
  assert.deepEqual(JSON.parse((await cloud.template("SpeechEndpointStack-kokoro-82m")) ?? ""), JSON.parse(templates[2]!.body));

  await destroy(["kokoro-82m"], [], parseOptions(["destroy", "kokoro-82m", "--yes", "--foundation"]), cloud, new FakeTerminal());
  assert.equal(aws.stacks.size, 0);
});

test("emptying the bucket deletes every version, then the bucket", async () => {
  aws.stacks.set("SpeechFoundationStack", { status: "CREATE_COMPLETE", body: "{}" });
  assert.ok(aws.objects.size > 0);
  await cloud.deleteBucket("headroom-speech-123456789012-us-east-1");
  assert.equal(aws.objects.size, 0);
  assert.ok(aws.calls.includes("s3:GET bucket versions") && aws.calls.at(-1) === "s3:DELETE bucket");
  aws.stacks.clear();
});

test("a bucket of another account is told from none", async () => {
  assert.equal(await cloud.bucketState("b"), "absent");
  aws.foreignBucket = true;
  assert.equal(await cloud.bucketState("b"), "foreign");
  aws.foreignBucket = false;
});

test("a stack that does not exist is no error", async () => {
  assert.equal(await cloud.stack("nobody"), undefined);
  assert.equal(await cloud.template("nobody"), undefined);
});

test("expired credentials are named as that, with the way out", async () => {
  aws.expired = true;
  await assert.rejects(deploy([one], templates, options, cloud, new FakeTerminal()), (error: unknown) => {
    const problem = explain(error);
    return problem instanceof Problem && /credentials have expired/.test(problem.message) && /sign in again/.test(problem.remedy);
  });
  aws.expired = false;
});

test("an address that nobody listens on is named", async () => {
  const nobody = await awsCloud({ region: "us-east-1", profile: undefined, endpointUrl: "http://127.0.0.1:1" });
  await assert.rejects(nobody.account(), (error: unknown) => {
    const problem = explain(error);
    return problem instanceof Problem && /cannot be reached/.test(problem.message);
  });
});
