// Every condition under which an endpoint gets no autoscaling, each said by its name; and the one case in which it gets it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readPlan } from "../src/plan/plan_file.ts";
import { deployment, plan, planFile } from "./fixtures.ts";

function failed(content: unknown, change?: (text: string) => string): string[] {
  const { judgement } = deployment(content, change, content === undefined ? { noPlan: true } : {});
  return judgement.scaling ? [] : judgement.failures.map(({ condition }) => condition);
}
const withFields = (fields: object): object => ({ ...plan("published"), ...fields });
const withPrint = (fields: object): object => withFields({ fingerprint: { ...plan("published").fingerprint, ...fields } });

test("all conditions hold: the plan may be deployed, in each form", () => {
  for (const form of ["published", "native", "offered-rate"] as const) assert.deepEqual(failed(plan(form)), []);
});

const rows: [string, unknown, string[], ((text: string) => string)?][] = [
  ["no plan", undefined, ["plan_present"]],
  ["infeasible", withFields({ verdict: "infeasible" }), ["feasible"]],
  ["another artifact", withFields({ schema: "headroom/qmax" }), ["known_schema"]],
  ["a later version", withFields({ version: 2 }), ["known_schema"]],
  ["a field of another type", withFields({ queue_limit: "50" }), ["known_schema"]],
  ["not JSON", "{", ["known_schema"]],
  ["units not converted", withFields({ calibration_ratio: null }), ["units_converted"]],
  ["another endpoint", withPrint({ endpoint: "other" }), ["endpoint"]],
  ["another instance type", withPrint({ instance_type: "ml.g6.xlarge" }), ["instance_type"]],
  ["another transport", withPrint({ transport: "bidirectional" }), ["transport"]],
  ["another workload", withPrint({ workload_hash: "0000000000000000" }), ["workload"]],
  ["min = max", plan("published"), ["scaling_enabled"], (text) => text.replace("max = 9", "max = 1")],
  ["names of another endpoint", withFields({ policy: JSON.parse(JSON.stringify(plan("published").policy).replaceAll("speech-kokoro-82m", "other")) }), ["own_names"]],
  ["several at once", { ...(withPrint({ instance_type: "ml.g6.xlarge" })), verdict: "infeasible" }, ["feasible", "instance_type"]],
];
for (const [name, content, expected, change] of rows) {
  test(`${name}: ${expected.join(" and ")} fails`, () => {
    assert.deepEqual(failed(content, change), expected);
  });
}

test("a bidirectional stream sends other requests, so its plan names another workload hash", () => {
  const bidirectional = (text: string): string => text.replace('kind = "response-stream"', 'kind = "bidirectional"');
  assert.deepEqual(failed(withPrint({ transport: "bidirectional", workload_hash: "28c608c94776feb1" }), bidirectional), []);
  assert.deepEqual(failed(withPrint({ transport: "bidirectional" }), bidirectional), ["workload"]);
});

test("an assumed ratio converts the units, and a rate needs none", () => {
  assert.deepEqual(failed(withFields({ calibration_ratio: null, ratio_assumed: true })), []);
  assert.deepEqual(failed({ ...plan("offered-rate"), calibration_ratio: null }), []);
});

test("every failure names the file or value and a remedy", () => {
  for (const [, content, , change] of rows) {
    const { judgement } = deployment(content, change, content === undefined ? { noPlan: true } : {});
    assert.ok(!judgement.scaling);
    for (const { message, remedy } of judgement.failures) assert.ok(message.length > 20 && remedy.length > 10, message);
  }
});

test("what the plan does not record is noted, not invented", () => {
  const { judgement } = deployment(withPrint({ workload_hash: null, instance_type: null }));
  assert.ok(judgement.scaling);
  assert.deepEqual(judgement.notes, ["the plan does not record its instance type", "the plan does not record its workload hash"]);
});

test("an alarm that triggers no policy of the plan is refused", () => {
  const changed = structuredClone(plan("native"));
  changed.policy.alarms[0]!.policy = "headroom-speech-kokoro-82m-AllTraffic-gone";
  assert.deepEqual(failed(changed), ["own_names"]);
});

test("a plan file is named by its hash", () => {
  const read = readPlan(planFile("{}"));
  assert.equal(read.state, "unknown_schema");
});
