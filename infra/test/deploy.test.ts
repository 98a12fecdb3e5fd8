// deploy, destroy and diff against a fake account: the order, what is refused before anything changes, and what failures say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type TemplateBody, deploy } from "../src/cli/deploy.ts";
import { refusePlans, withoutLocal } from "../src/cli/checks.ts";
import { withoutWhatBlocks } from "../src/cli/blocked.ts";
import { destroy } from "../src/cli/destroy.ts";
import { keepImages } from "../src/cli/images.ts";
import type { Options } from "../src/cli/options.ts";
import { parseOptions } from "../src/cli/options.ts";
import { explain } from "../src/cli/problems.ts";
import { templateDiff } from "../src/cli/template_diff.ts";
import { where } from "../src/cli/terminal.ts";
import { Problem } from "../src/problem.ts";
import { deployment, plan } from "./fixtures.ts";
import { FakeCloud, FakeTerminal } from "./fake_cloud.ts";

const FOUNDATION = "SpeechFoundationStack";
const CACHE = "SpeechModelCacheStack-kokoro-82m";
const ENDPOINT = "SpeechEndpointStack-kokoro-82m";
const options = (...words: string[]): Options => parseOptions(["deploy", "kokoro-82m", "--yes", ...words]);
const one = deployment(plan("published"), undefined, { imageUri: "image:1" });
const prefix = `models/kokoro-82m/${one.model.manifestSha256}/`;
const templates: TemplateBody[] = [FOUNDATION, CACHE, ENDPOINT].map((stack) => ({ stack, body: JSON.stringify({ Resources: {}, Description: `${stack} ${prefix}` }) }));

async function failure(run: Promise<unknown>): Promise<Problem> {
  try {
    await run;
  } catch (error) {
    const problem = explain(error);
    assert.ok(problem instanceof Problem, String(error));
    assert.ok(problem.remedy.length > 10);
    return problem;
  }
  throw new assert.AssertionError({ message: "it succeeded" });
}

test("a first deployment: foundation, scripts, cache, weights, endpoint; then the next command", async () => {
  const cloud = new FakeCloud();
  const terminal = new FakeTerminal();
  assert.equal(await deploy([one], templates, options(), cloud, terminal), 0);
  assert.deepEqual(cloud.log.filter((line) => !line.startsWith("prepare")),
    [`execute ${FOUNDATION}`, "put source", `execute ${CACHE}`, "build headroom-model-cache-kokoro-82m", `execute ${ENDPOINT}`]);
  assert.match(terminal.text(), /account 123456789012 {2}region us-east-1/);
  assert.match(terminal.text(), /1\.41 USD an hour/);
  assert.match(terminal.said.at(-1) ?? "", /next: tts-bench validate --model \S*kokoro-82m/);
});

test("a second deployment changes nothing and builds nothing", async () => {
  const cloud = new FakeCloud();
  await deploy([one], templates, options(), cloud, new FakeTerminal());
  cloud.log = [];
  await deploy([one], templates, options(), cloud, new FakeTerminal());
  assert.deepEqual(cloud.log, [`prepare ${FOUNDATION}`, `prepare ${CACHE}`, `prepare ${ENDPOINT}`]);
});

test("without an image the foundation and the weights are made, and the push is explained", async () => {
  const cloud = new FakeCloud();
  const problem = await failure(deploy([deployment(plan("published"))], templates, options(), cloud, new FakeTerminal()));
  assert.match(problem.remedy, /docker\/build-image.sh.*123456789012\.dkr\.ecr\.us-east-1\.amazonaws\.com\/headroom-tts-serve/);
  assert.ok(cloud.log.includes(`execute ${CACHE}`) && !cloud.log.includes(`execute ${ENDPOINT}`));
  const several = new FakeCloud();
  const named = { ...one, model: { ...one.model, name: "other" } };
  const more = [...templates, { stack: "SpeechModelCacheStack-other", body: "{}" }, { stack: "SpeechEndpointStack-other", body: "{}" }];
  const still = await failure(deploy([deployment(plan("published")), { ...named, weightsInImage: true }], more, options(), several, new FakeTerminal()));
  assert.match(still.message, /no image is named for kokoro-82m$/);
  assert.ok(several.log.includes("execute SpeechEndpointStack-other"), "the other model is deployed all the same");
});

test("an image given once stays", async () => {
  const cloud = new FakeCloud();
  cloud.stacks.set(ENDPOINT, { name: ENDPOINT, status: "CREATE_COMPLETE", reason: "", outputs: {} });
  cloud.bodies.set(ENDPOINT, JSON.stringify({ Resources: { Model: { Properties: { PrimaryContainer: { Image: "image:7" } } } } }));
  const kept = deployment(plan("published"));
  const given = deployment(plan("published"), undefined, { imageUri: "image:8" });
  await keepImages([kept, given], cloud);
  assert.deepEqual([kept.image, kept.weightsInImage, given.image, given.weightsInImage], ["image:7", true, "image:8", false]);
  cloud.bodies.set(ENDPOINT, JSON.stringify({ Resources: { Model: { Properties: { PrimaryContainer: { Image: "image:7", ModelDataSource: {} } } } } }));
  const cached = deployment(plan("published"));
  await keepImages([cached], cloud);
  assert.equal(cached.weightsInImage, false);
  cloud.bodies.set(ENDPOINT, JSON.stringify({ Resources: { Model: { Properties: { PrimaryContainer: { Image: "image:7", Environment: { TTS_ENGINE: "paced" } } } } } }));
  const paced = deployment(plan("published"));
  await keepImages([paced], cloud);
  assert.deepEqual([paced.image, paced.weightsInImage], ["image:7", false], "the paced engine has no weights anywhere");
  cloud.bodies.set(ENDPOINT, JSON.stringify({ Resources: { Model: { Properties: { PrimaryContainer: { Image: { Ref: "ImageUri" } } } } } }));
  const asked = deployment(plan("published"));
  await keepImages([asked], cloud);
  assert.equal(asked.image, "");
});

test("an image that holds the weights needs no cache and no build", async () => {
  const cloud = new FakeCloud();
  const holding = deployment(plan("published"), undefined, { imageUri: "image:1", weightsInImage: true });
  assert.equal(await deploy([holding], templates, options(), cloud, new FakeTerminal()), 0);
  assert.deepEqual(cloud.log.filter((line) => !line.startsWith("prepare")), [`execute ${FOUNDATION}`, `execute ${ENDPOINT}`]);
});

test("saying no changes nothing", async () => {
  const cloud = new FakeCloud();
  const terminal = new FakeTerminal();
  terminal.answer = false;
  const problem = await failure(deploy([one], templates, parseOptions(["deploy", "kokoro-82m"]), cloud, terminal));
  assert.equal(problem.exitCode, 3);
  assert.deepEqual(cloud.log, []);
});

test("a plan that may not be deployed stops the deployment; no plan does not", async () => {
  const bad = deployment({ ...plan("published"), verdict: "infeasible" });
  const problem = await failure(Promise.resolve().then(() => refusePlans([bad])));
  assert.equal(problem.exitCode, 3);
  assert.match(problem.message, /feasible/);
  assert.match(problem.remedy, /--no-plan/);
  refusePlans([deployment(undefined, undefined, { noPlan: true })]);
});

test("a model of a local cloud is refused by name and left out of all", () => {
  const local = deployment(undefined, (text) => text.replace('image = ""', 'image = "local"'), { noPlan: true });
  assert.throws(() => withoutLocal([local], false, new FakeTerminal()), (error: unknown) => error instanceof Problem && /local cloud only/.test(error.message) && /tts-local up/.test(error.remedy));
  const terminal = new FakeTerminal();
  assert.deepEqual(withoutLocal([one, local], true, terminal), [one]);
  assert.match(terminal.text(), /kokoro-82m: left out/);
});

test("account, region and the address of every service are said, the one of the environment too", () => {
  assert.equal(where("1", "us-east-1", "http://127.0.0.1:1"), "account 1  region us-east-1  at http://127.0.0.1:1");
  process.env["AWS_ENDPOINT_URL"] = "http://127.0.0.1:2";
  assert.match(where("1", "us-east-1", undefined), /at http:\/\/127\.0\.0\.1:2$/);
  delete process.env["AWS_ENDPOINT_URL"];
  assert.equal(where("1", "us-east-1", undefined), "account 1  region us-east-1");
});

test("scaling that stands is not taken away because the plan was not found", async () => {
  const cloud = new FakeCloud();
  cloud.stacks.set(ENDPOINT, { name: ENDPOINT, status: "CREATE_COMPLETE", reason: "", outputs: {} });
  cloud.bodies.set(ENDPOINT, JSON.stringify({ Resources: { T: { Type: "AWS::ApplicationAutoScaling::ScalableTarget" } } }));
  const lost = { ...one, planPath: "artifacts/e/plan.json", judgement: { scaling: false as const, planGiven: false,
    failures: [{ condition: "plan_present" as const, message: "no plan", remedy: "plan" }] } };
  const problem = await failure(deploy([lost], templates, options(), cloud, new FakeTerminal()));
  assert.equal(problem.exitCode, 3);
  assert.match(`${problem.message} -> ${problem.remedy}`, /scales by a plan, and there is none at artifacts\/e\/plan\.json.*--plan FILE.*--no-plan/);
  assert.deepEqual(cloud.log, []);
  assert.equal(await deploy([lost], templates, options("--no-plan"), cloud, new FakeTerminal()), 0);
});

test("expired credentials, missing region, refusal: cause and remedy", async () => {
  const say = async (name: string, message: string): Promise<string> => {
    const cloud = new FakeCloud();
    cloud.thrown = Object.assign(new Error(message), { name });
    const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
    return `${problem.message} -> ${problem.remedy}`;
  };
  assert.match(await say("ExpiredTokenException", "The security token included in the request is expired"), /have expired -> sign in again/);
  assert.match(await say("Error", "Region is missing"), /--region/);
  assert.match(await say("AccessDenied", "User is not authorized to perform: cloudformation:DescribeStacks"), /infra\/iam/);
  assert.match(await say("InvalidClientTokenId", "The security token is invalid"), /does not accept the credentials/);
});

test("a bucket name that is taken is said before anything changes", async () => {
  const cloud = new FakeCloud();
  cloud.bucket = "foreign";
  const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
  assert.match(problem.message, /headroom-speech-123456789012-us-east-1 is taken by another account/);
  assert.deepEqual(cloud.log, []);
});

test("a bucket that an earlier foundation left is taken over", async () => {
  const cloud = new FakeCloud();
  cloud.bucket = "ours";
  const terminal = new FakeTerminal();
  await deploy([one], templates, options(), cloud, terminal);
  assert.equal(cloud.log[0], `prepare ${FOUNDATION} adopting`);
  cloud.log = [];
  await deploy([one], templates, options(), cloud, terminal);
  assert.equal(cloud.log[0], `prepare ${FOUNDATION}`);
  assert.match(terminal.text(), /it is taken over, with its weights/);
});

test("a quota below the minimum refuses, one below the maximum warns", async () => {
  const cloud = new FakeCloud();
  cloud.quotaValue = 0;
  const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
  assert.match(problem.message, /0 instances of ml\.g5\.xlarge/);
  assert.match(problem.remedy, /request-service-quota-increase.*L-1/);
  assert.deepEqual(cloud.log, []);
  cloud.quotaValue = 2;
  const terminal = new FakeTerminal();
  await deploy([deployment({ ...plan("native") }, undefined, { imageUri: "image:1" })], templates, options(), cloud, terminal);
  assert.match(terminal.text(), /scaling will stop there/);
});

for (const [status, said] of [["ROLLBACK_COMPLETE", /destroy \S*kokoro-82m/], ["DELETE_FAILED", /destroy \S*kokoro-82m/],
  ["UPDATE_ROLLBACK_FAILED", /continue-update-rollback/], ["UPDATE_IN_PROGRESS", /wait until/]] as const) {
  test(`a stack in ${status} is named with its way out`, async () => {
    const cloud = new FakeCloud();
    cloud.stacks.set(ENDPOINT, { name: ENDPOINT, status, reason: "it broke", outputs: {} });
    const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
    assert.equal(problem.exitCode, 3);
    assert.match(problem.message, new RegExp(`${ENDPOINT}.*${status}`));
    assert.match(problem.remedy, said);
    assert.deepEqual(cloud.log, []);
  });
}

test("a failed resource is traced to its cause", async () => {
  for (const [reason, said] of [
    ["The account-level service limit 'ml.g5.xlarge for endpoint usage' is 0 Instances (ResourceLimitExceeded)", /limit is too small.*request-service-quota-increase/],
    ["headroom-speech-123456789012-us-east-1 already exists (BucketAlreadyExists)", /taken by another account/],
    ["The primary container did not pass the ping health check", /did not pass the ping health check/],
  ] as const) {
    const cloud = new FakeCloud();
    cloud.failing = { stack: FOUNDATION, reason };
    const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
    assert.match(`${problem.message} -> ${problem.remedy}`, said);
  }
});

test("a failed build of the weights stops before the endpoint", async () => {
  const cloud = new FakeCloud();
  cloud.buildStatus = "FAILED";
  const problem = await failure(deploy([one], templates, options(), cloud, new FakeTerminal()));
  assert.match(problem.message, /ended as FAILED/);
  assert.ok(!cloud.log.includes(`prepare ${ENDPOINT}`));
});

test("destroy removes the endpoint first and keeps what is shared, unless told", async () => {
  const cloud = new FakeCloud();
  await deploy([one], templates, options(), cloud, new FakeTerminal());
  cloud.log = [];
  const terminal = new FakeTerminal();
  await destroy(["kokoro-82m"], [], parseOptions(["destroy", "kokoro-82m", "--yes"]), cloud, terminal);
  assert.deepEqual(cloud.log, [`delete ${ENDPOINT}`, `delete ${CACHE}`]);
  assert.match(terminal.text(), /bucket headroom-speech-123456789012-us-east-1 and the shared foundation are kept/);
  cloud.log = [];
  await destroy(["kokoro-82m"], [], parseOptions(["destroy", "kokoro-82m", "--yes", "--foundation", "--delete-weights"]), cloud, terminal);
  assert.deepEqual(cloud.log, [`delete ${FOUNDATION}`, "delete bucket headroom-speech-123456789012-us-east-1"]);
});

test("a bucket is deleted where it is ours, not there where it is absent, and where it may not be read nothing is deleted", async () => {
  const whole = parseOptions(["destroy", "kokoro-82m", "--yes", "--foundation", "--delete-weights"]);
  const cloud = new FakeCloud();
  await deploy([one], templates, options(), cloud, new FakeTerminal());
  cloud.log = [];
  cloud.bucket = "foreign";
  const problem = await failure(destroy(["kokoro-82m"], [], whole, cloud, new FakeTerminal()));
  assert.match(problem.message, /headroom-speech-123456789012-us-east-1 may not be read or belongs to another account; nothing was deleted/);
  assert.equal(cloud.log.length, 0);
  for (const [state, said, calls] of [["absent", "not there", 0], ["ours", "deleted", 1]] as const) {
    cloud.bucket = state;
    const terminal = new FakeTerminal();
    await destroy(["kokoro-82m"], [], whole, cloud, terminal);
    assert.equal(terminal.said.at(-1), `bucket headroom-speech-123456789012-us-east-1: ${said}`);
    assert.equal(cloud.log.filter((line) => line.startsWith("delete bucket")).length, calls);
  }
});

test("the foundation stays while another model stands on it", async () => {
  const cloud = new FakeCloud();
  cloud.stacks.set("SpeechEndpointStack-other", { name: "SpeechEndpointStack-other", status: "CREATE_COMPLETE", reason: "", outputs: {} });
  const problem = await failure(destroy(["kokoro-82m"], ["other"], parseOptions(["destroy", "kokoro-82m", "--yes", "--foundation"]), cloud, new FakeTerminal()));
  assert.match(problem.message, /SpeechEndpointStack-other still needs the foundation/);
  assert.deepEqual(cloud.log, []);
});

const POLICY = (type: string): object => ({ Type: "AWS::ApplicationAutoScaling::ScalingPolicy", Properties: { PolicyName: "out", PolicyType: type } });
test("a policy that changes its type is removed first, with the alarm that points at it", () => {
  const alarm = { Type: "AWS::CloudWatch::Alarm", Properties: { AlarmActions: [{ Ref: "A" }] } };
  const before = JSON.stringify({ Resources: { A: POLICY("TargetTrackingScaling"), Alarm: alarm, Keep: { Type: "AWS::Thing" } } });
  const between = withoutWhatBlocks(before, JSON.stringify({ Resources: { B: POLICY("StepScaling") } }));
  assert.deepEqual(Object.keys(JSON.parse(between ?? "{}").Resources), ["Keep"]);
  assert.equal(withoutWhatBlocks(before, before), undefined);
});

test("a new instance type takes target and policies away first, since SageMaker refuses it under a target", () => {
  const machine = (type: string): object => ({ Type: "AWS::SageMaker::EndpointConfig", Properties: { ProductionVariants: [{ InstanceType: type }] } });
  const scaled = { Target: { Type: "AWS::ApplicationAutoScaling::ScalableTarget" }, A: POLICY("StepScaling") };
  const before = JSON.stringify({ Resources: { Config: machine("ml.g5.xlarge"), ...scaled } });
  const between = withoutWhatBlocks(before, JSON.stringify({ Resources: { Config: machine("ml.g6.xlarge"), ...scaled } }));
  assert.deepEqual(Object.keys(JSON.parse(between ?? "{}").Resources), ["Config"]);
  assert.equal(withoutWhatBlocks(JSON.stringify({ Resources: { Config: machine("ml.g5.xlarge") } }), JSON.stringify({ Resources: { Config: machine("ml.g6.xlarge") } })), undefined);
});

test("a stack of this name that others wrote in YAML is deployed over", async () => {
  const cloud = new FakeCloud();
  cloud.stacks.set(ENDPOINT, { name: ENDPOINT, status: "CREATE_COMPLETE", reason: "", outputs: {} });
  const yaml = "Resources:\n  Config:\n    Type: AWS::SageMaker::EndpointConfig\n";
  cloud.bodies.set(ENDPOINT, yaml);
  const machine = { Type: "AWS::SageMaker::EndpointConfig", Properties: { ProductionVariants: [{ InstanceType: "ml.g5.xlarge" }] } };
  assert.equal(withoutWhatBlocks(yaml, JSON.stringify({ Resources: { Config: machine } })), undefined);
  assert.equal(await deploy([one], templates, options(), cloud, new FakeTerminal()), 0);
  assert.deepEqual(cloud.log.filter((line) => line.endsWith(ENDPOINT)), [`prepare ${ENDPOINT}`, `execute ${ENDPOINT}`]);
});

test("a difference names the resource, the property and both values", () => {
  const template = (value: number, more: object = {}): object => ({ Resources: { Target: { Type: "T", Properties: { Max: value } }, ...more } });
  assert.deepEqual(templateDiff(template(1), template(1)), []);
  assert.deepEqual(templateDiff(template(1), template(2, { New: { Type: "N" } })), ["+ N New", "~ T Target Properties.Max: 1 -> 2"]);
  assert.deepEqual(templateDiff(template(1, { Old: { Type: "O" } }), template(1)), ["- O Old"]);
});
