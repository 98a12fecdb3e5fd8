// The synthesised templates: what is in them, when, with which values; snapshots of the whole.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Stack } from "aws-cdk-lib";
import { Bucket } from "aws-cdk-lib/aws-s3";
import { buildApp, synthesise } from "../src/app.ts";
import type { Plan } from "../src/plan/plan_file.ts";
import { deployment, type Form, HERE, plan, temporary } from "./fixtures.ts";

interface Resource { Type: string; Properties: Record<string, any>; DeletionPolicy?: string }
type Resources = Record<string, Resource>;

function templates(content?: unknown, change?: (text: string) => string, more: object = {}): Record<string, { Resources: Resources; [part: string]: unknown }> {
  const made = synthesise([deployment(content, change, content === undefined ? { noPlan: true, ...more } : more)], temporary());
  return Object.fromEntries(made.map(({ stack, body }) => [stack, JSON.parse(body)]));
}
const endpointOf = (all: ReturnType<typeof templates>): Resources => all["SpeechEndpointStack-kokoro-82m"]!.Resources;
const ofType = (resources: Resources, type: string): Resource[] => Object.values(resources).filter((one) => one.Type === type);
const only = (resources: Resources, type: string): Record<string, any> => {
  const found = ofType(resources, type);
  assert.equal(found.length, 1, type);
  return found[0]!.Properties;
};
const named = (resources: Resources, type: string, key: string): Record<string, Record<string, any>> =>
  Object.fromEntries(ofType(resources, type).map(({ Properties: one }) => [one[key], one]));

const POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy";
const ALARM = "AWS::CloudWatch::Alarm";
const FORMS: Form[] = ["published", "native", "offered-rate"];
const made = Object.fromEntries(FORMS.map((form) => [form, templates(plan(form))])) as Record<Form, ReturnType<typeof templates>>;
const bare = templates();

function snapshot(name: string, value: unknown): void {
  const path = join(HERE, "snapshots", `${name}.json`);
  const text = `${JSON.stringify(value, null, 1)}\n`;
  if (process.env["UPDATE_SNAPSHOTS"] === "1") writeFileSync(path, text);
  assert.ok(existsSync(path), `no snapshot ${path}: run with UPDATE_SNAPSHOTS=1 and read what it writes`);
  assert.equal(text, readFileSync(path, "utf8"), `${name} differs from its snapshot; UPDATE_SNAPSHOTS=1 writes it anew`);
}

test("snapshots of the templates", () => {
  for (const form of FORMS) snapshot(`endpoint-${form}`, made[form]["SpeechEndpointStack-kokoro-82m"]);
  snapshot("endpoint-without-plan", bare["SpeechEndpointStack-kokoro-82m"]);
  snapshot("foundation", bare["SpeechFoundationStack"]);
  // The archive's hash changes with every script; the rest may not.
  snapshot("model-cache", JSON.parse(JSON.stringify(bare["SpeechModelCacheStack-kokoro-82m"]).replaceAll(/[0-9a-f]{64}\.zip/g, "HASH.zip")));
});

test("without a plan there is no target, policy, alarm or dashboard, and no queue limit", () => {
  const resources = endpointOf(bare);
  assert.deepEqual(Object.values(resources).map(({ Type }) => Type).sort(),
    ["AWS::SageMaker::Endpoint", "AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model"]);
  assert.ok(!("MAX_QUEUE_DEPTH" in only(resources, "AWS::SageMaker::Model")["PrimaryContainer"]["Environment"]));
});

for (const form of FORMS) {
  test(`${form}: target, policies, alarms and queue limit have the plan's values`, () => {
    const wanted = plan(form);
    const resources = endpointOf(made[form]);
    const target = only(resources, "AWS::ApplicationAutoScaling::ScalableTarget");
    assert.deepEqual([target["MinCapacity"], target["MaxCapacity"]], [wanted.min_instances, wanted.max_instances]);
    assert.equal(target["ResourceId"], "endpoint/speech-kokoro-82m/variant/AllTraffic");
    comparePolicies(wanted, resources);
    compareAlarms(wanted, resources);
    const environment = only(resources, "AWS::SageMaker::Model")["PrimaryContainer"]["Environment"];
    assert.equal(environment["MAX_QUEUE_DEPTH"], String(wanted.queue_limit));
    assert.equal(environment["TTS_EMF"], form === "offered-rate" ? "1" : undefined);
    assert.equal(only(resources, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0]["InitialInstanceCount"], wanted.min_instances);
  });
}

function comparePolicies(wanted: Plan, resources: Resources): void {
  const policies = named(resources, POLICY, "PolicyName");
  const rules = [...wanted.policy.scale_out, ...wanted.policy.scale_in];
  assert.deepEqual(Object.keys(policies).sort(), rules.map((rule) => rule.name).sort());
  for (const rule of rules) {
    const found = policies[rule.name]!;
    assert.equal(found["PolicyType"], rule.type);
    if (rule.target_tracking) {
      const config = found["TargetTrackingScalingPolicyConfiguration"];
      assert.equal(config["TargetValue"], rule.target_tracking.target_value);
      assert.equal(config["PredefinedMetricSpecification"]["PredefinedMetricType"], "SageMakerVariantConcurrentRequestsPerModelHighResolution");
      assert.equal(config["DisableScaleIn"], true);
      assert.equal(config["ScaleOutCooldown"], rule.target_tracking.scale_out_cooldown_s);
    }
    if (rule.step_scaling) {
      const config = found["StepScalingPolicyConfiguration"];
      assert.equal(config["AdjustmentType"], rule.step_scaling.adjustment_type);
      assert.equal(config["Cooldown"], rule.step_scaling.cooldown_s);
      assert.equal(config["MetricAggregationType"], rule.step_scaling.aggregation);
      assert.deepEqual(config["StepAdjustments"].map((row: Record<string, unknown>) =>
        [row["MetricIntervalLowerBound"] ?? null, row["MetricIntervalUpperBound"] ?? null, row["ScalingAdjustment"]]),
        rule.step_scaling.steps.map((row) => [row.lower_bound ?? null, row.upper_bound ?? null, row.adjustment]));
    }
  }
}

function compareAlarms(wanted: Plan, resources: Resources): void {
  const alarms = named(resources, ALARM, "AlarmName");
  const policyIds = Object.fromEntries(Object.entries(resources).filter(([, one]) => one.Type === POLICY).map(([id, one]) => [one.Properties["PolicyName"], id]));
  for (const rule of wanted.policy.alarms) {
    const found = alarms[rule.name]!;
    assert.equal(found["Threshold"], rule.threshold);
    assert.equal(found["ComparisonOperator"], rule.comparison);
    assert.deepEqual([found["EvaluationPeriods"], found["DatapointsToAlarm"], found["TreatMissingData"]], [rule.evaluation_periods, rule.datapoints_to_alarm, rule.missing_data]);
    assert.equal(found["Period"], rule.period_s ?? undefined);
    assert.equal(found["Statistic"], rule.statistic ?? undefined);
    assert.equal(found["ExtendedStatistic"], rule.extended_statistic ?? undefined);
    assert.deepEqual(found["AlarmActions"], rule.policy ? [{ Ref: policyIds[rule.policy] }] : undefined);
    assert.deepEqual((found["Metrics"] ?? []).map((one: Record<string, any>) => [one["Id"], one["Expression"] ?? null, one["MetricStat"]?.["Stat"] ?? null, one["ReturnData"]]),
      (rule.queries ?? []).map((one) => [one.id, one.expression ?? null, one.statistic ?? null, one.return_data]));
  }
}

test("the published numbers reach the policy", () => {
  const policies = named(endpointOf(made.published), POLICY, "PolicyName");
  assert.equal(policies["headroom-speech-kokoro-82m-AllTraffic-out"]!["TargetTrackingScalingPolicyConfiguration"]["TargetValue"], 37.5);
  assert.equal(policies["headroom-speech-kokoro-82m-AllTraffic-in"]!["StepScalingPolicyConfiguration"]["Cooldown"], 960);
  assert.equal(named(endpointOf(made.published), ALARM, "AlarmName")["headroom-speech-kokoro-82m-AllTraffic-in"]!["Threshold"], 25);
});

test("observability names no alarm as the policy's are named, and chooses missing data on purpose", () => {
  for (const form of FORMS) {
    const alarms = named(endpointOf(made[form]), ALARM, "AlarmName");
    const own = Object.keys(alarms).filter((name) => !name.startsWith("headroom-"));
    assert.deepEqual(own.sort(), ["speech-kokoro-82m-over-target", "speech-kokoro-82m-server-errors", "speech-kokoro-82m-slo-p95"]);
    assert.equal(alarms["speech-kokoro-82m-slo-p95"]!["Threshold"], 3_000_000);
    assert.equal(alarms["speech-kokoro-82m-slo-p95"]!["ExtendedStatistic"], "p95");
    for (const name of own) assert.equal(alarms[name]!["TreatMissingData"], "notBreaching");
    const body = JSON.stringify(only(endpointOf(made[form]), "AWS::CloudWatch::Dashboard"));
    assert.match(body, /"DashboardName":"speech-kokoro-82m-scaling"/);
    assert.match(body, /scale out above/);
    assert.match(body, /SLO/);
  }
});

test("a topic is told by the informative alarms and by no scaling alarm", () => {
  const topic = "arn:aws:sns:us-east-1:123456789012:speech";
  const alarms = named(endpointOf(templates(plan("published"), undefined, { alarmTopic: topic })), ALARM, "AlarmName");
  assert.deepEqual(alarms["speech-kokoro-82m-slo-p95"]!["AlarmActions"], [topic]);
  assert.deepEqual(alarms["headroom-speech-kokoro-82m-AllTraffic-unqueued-p95"]!["AlarmActions"], [topic]);
  assert.equal(JSON.stringify(alarms["headroom-speech-kokoro-82m-AllTraffic-in"]!["AlarmActions"]).includes(topic), false);
});

test("the endpoint: least outstanding, timeouts, isolated network, counts kept over updates", () => {
  const resources = endpointOf(bare);
  const variant = only(resources, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0];
  assert.deepEqual(variant["RoutingConfig"], { RoutingStrategy: "LEAST_OUTSTANDING_REQUESTS" });
  assert.deepEqual([variant["ContainerStartupHealthCheckTimeoutInSeconds"], variant["ModelDataDownloadTimeoutInSeconds"]], [600, 600]);
  assert.equal(only(resources, "AWS::SageMaker::Model")["EnableNetworkIsolation"], true);
  assert.equal(only(resources, "AWS::SageMaker::Endpoint")["RetainAllVariantProperties"], true);
});

test("an image is embedded, else asked for; one of another repository brings its permission", () => {
  assert.ok("ImageUri" in (bare["SpeechEndpointStack-kokoro-82m"]!["Parameters"] as object));
  const uri = "123456789012.dkr.ecr.us-east-1.amazonaws.com/elsewhere@sha256:" + "0".repeat(64);
  const all = templates(undefined, undefined, { imageUri: uri });
  assert.equal(all["SpeechEndpointStack-kokoro-82m"]!["Parameters"], undefined);
  assert.equal(only(endpointOf(all), "AWS::SageMaker::Model")["PrimaryContainer"]["Image"], uri);
  assert.match(JSON.stringify(only(endpointOf(all), "AWS::IAM::RolePolicy")), /repository\/elsewhere/);
});

test("the bucket is private, encrypted, TLS-only and kept", () => {
  const resources = bare["SpeechFoundationStack"]!.Resources;
  const [bucket] = ofType(resources, "AWS::S3::Bucket");
  assert.equal(bucket!.DeletionPolicy, "Retain");
  assert.deepEqual(bucket!.Properties["PublicAccessBlockConfiguration"],
    { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true });
  assert.ok(bucket!.Properties["BucketEncryption"]);
  assert.match(JSON.stringify(only(resources, "AWS::S3::BucketPolicy")), /"aws:SecureTransport":"false"/);
});

test("a paced model has no weights and no model cache", () => {
  const all = templates(undefined, (text) => text.replace(/^environment = .*$/m, 'environment = { TTS_ENGINE = "paced" }'));
  assert.ok(!("SpeechModelCacheStack-kokoro-82m" in all));
  assert.equal(only(endpointOf(all), "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataSource"], undefined);
});

test("a GPU model runs under a driver that its CUDA needs, a CPU model under SageMaker's choice", () => {
  const ami = (resources: Resources): unknown => only(resources, "AWS::SageMaker::EndpointConfig")["ProductionVariants"][0]["InferenceAmiVersion"];
  assert.equal(ami(endpointOf(bare)), "al2023-ami-sagemaker-inference-gpu-4-1");
  assert.equal(ami(endpointOf(templates(undefined, (text) => text.replace(/^environment = .*$/m, 'environment = { TTS_ENGINE = "openvino" }')))), undefined);
});

test("an image that holds the weights takes none from the bucket, and has no model cache", () => {
  const all = templates(undefined, undefined, { imageUri: "image:1", weightsInImage: true });
  assert.ok(!("SpeechModelCacheStack-kokoro-82m" in all));
  assert.equal(only(endpointOf(all), "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataSource"], undefined);
});

test("weights from Hugging Face: pinned revision and hashes, and the token only by its secret", () => {
  const hash = "f".repeat(64);
  const source = { repository: "o/n", revision: "a".repeat(40), files: { "manifest.json": hash, "ir/model.bin": hash }, tokenSecret: "hf-token" };
  const made = synthesise([{ ...deployment(undefined, undefined, { noPlan: true }), huggingFace: source }], temporary());
  const resources = (JSON.parse(made[1]!.body) as { Resources: Resources }).Resources;
  const variables = only(resources, "AWS::CodeBuild::Project")["Environment"]["EnvironmentVariables"] as { Name: string; Type: string; Value: unknown }[];
  const value = (name: string): unknown => variables.find((one) => one.Name === name)?.Value;
  assert.equal(value("HF_REVISION"), "a".repeat(40));
  assert.equal(value("HF_FILES"), `${hash}  manifest.json\n${hash}  ir/model.bin`);
  assert.deepEqual(variables.find((one) => one.Name === "HF_TOKEN"), { Name: "HF_TOKEN", Type: "SECRETS_MANAGER", Value: "hf-token" });
  const policies = ofType(resources, "AWS::IAM::Policy").map((one) => JSON.stringify(one)).join();
  assert.match(policies, /secretsmanager:GetSecretValue/);
  assert.doesNotMatch(policies, /"Resource":"\*"/);
});

test("cdk-nag judges every synthesis: an open bucket stops it", () => {
  const app = buildApp([deployment(undefined, undefined, { noPlan: true })], temporary());
  new Bucket(app.node.findChild("SpeechFoundationStack") as Stack, "Open");
  const shown = console.error;
  console.error = () => undefined; // the findings are no news here
  try {
    assert.throws(() => app.synth(), /validation ?failed/i);
  } finally {
    console.error = shown;
  }
});

test("two models with one endpoint are refused", () => {
  const one = deployment(plan("published"));
  assert.throws(() => synthesise([one, one], temporary()), /two of the models have the endpoint/);
});
