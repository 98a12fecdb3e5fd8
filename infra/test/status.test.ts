// status: what stands and what is to be done about it, in one table.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { AlarmState, EndpointState, PolicyState } from "../src/cli/cloud.ts";
import { explain } from "../src/cli/problems.ts";
import { status } from "../src/cli/status.ts";
import { table } from "../src/cli/terminal.ts";
import { Problem } from "../src/problem.ts";
import { FakeCloud, FakeTerminal } from "./fake_cloud.ts";
import { deployment, plan } from "./fixtures.ts";

class Running extends FakeCloud {
  override async endpoint(): Promise<EndpointState> {
    return { status: "InService", failureReason: "", desired: 2, current: 1, instanceType: "ml.g5.xlarge" };
  }
  override async target(): Promise<{ min: number; max: number; suspended: boolean } | undefined> { return { min: 1, max: 9, suspended: true }; }
  override async policies(): Promise<PolicyState[]> { return [{ name: "out", type: "StepScaling", alarms: 0 }]; }
  override async alarms(prefix: string): Promise<AlarmState[]> { return prefix.startsWith("headroom-") ? [{ name: "headroom-in", state: "ALARM" }] : []; }
}

async function shown(content: unknown): Promise<string> {
  const terminal = new FakeTerminal();
  const one = content === undefined ? deployment(undefined, undefined, { noPlan: true }) : deployment(content);
  assert.equal(await status([one], new Running(), terminal), 0);
  return terminal.text();
}

test("counts, suspension, an inert policy and alarms are shown", async () => {
  const text = await shown(plan("native"));
  assert.match(text, /endpoint speech-kokoro-82m +InService +1 of 2 instances of ml\.g5\.xlarge/);
  assert.match(text, /scalable target +1 to 9 +scaling is suspended: tts-bench thaw --model \S*kokoro-82m/);
  assert.match(text, /policy out +StepScaling +no alarm triggers it/);
  assert.match(text, /alarm headroom-in +ALARM/);
  assert.match(text, /stack SpeechEndpointStack-kokoro-82m +not deployed/);
});

test("the weights' stack is shown where the deployed image does not hold them", async () => {
  const seen = async (container: object): Promise<string> => {
    const cloud = new Running();
    const name = "SpeechEndpointStack-kokoro-82m";
    cloud.stacks.set(name, { name, status: "CREATE_COMPLETE", reason: "", outputs: {} });
    cloud.bodies.set(name, JSON.stringify({ Resources: { Model: { Properties: { PrimaryContainer: { Image: "image:7", ...container } } } } }));
    const terminal = new FakeTerminal();
    await status([deployment(plan("native"))], cloud, terminal);
    return terminal.text();
  };
  assert.doesNotMatch(await seen({}), /SpeechModelCacheStack/);
  assert.match(await seen({ ModelDataSource: {} }), /SpeechModelCacheStack-kokoro-82m +not deployed/);
  assert.match(await seen({ Environment: { TTS_ENGINE: "paced" } }), /SpeechModelCacheStack-kokoro-82m/);
});

test("without a deployable plan the condition is shown", async () => {
  assert.match(await shown(undefined), /plan +not deployable: plan_present fails/);
});

test("a plan says how old it is, and whether it was measured again since", async () => {
  const one = deployment({ ...plan("native"), created: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    inputs: { qmax_sha256: createHash("sha256").update("first").digest("hex"), ttotal_sha256: createHash("sha256").update("same").digest("hex") } });
  assert.ok(one.judgement.scaling);
  writeFileSync(join(dirname(one.judgement.path), "qmax.json"), "second");
  writeFileSync(join(dirname(one.judgement.path), "ttotal.json"), "same");
  const terminal = new FakeTerminal();
  await status([one], new Running(), terminal);
  assert.match(terminal.text(), /plan +(feasible|warnings), 3\.0 h old/);
  assert.match(terminal.text(), /qmax\.json was measured again since/);
  assert.doesNotMatch(terminal.text(), /ttotal\.json was measured/);
});

test("columns are as wide as their longest cell", () => {
  assert.deepEqual(table([["a", "b"], ["long", ""]]), ["a     b", "long"]);
});

test("a file that cannot be written is named with what to check", () => {
  const problem = explain(Object.assign(new Error("EACCES: permission denied, mkdir '/x'"), { code: "EACCES" }));
  assert.ok(problem instanceof Problem && problem.message.includes("/x") && problem.remedy.includes("permissions"));
});
