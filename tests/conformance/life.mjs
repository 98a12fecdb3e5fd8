// The life of an endpoint through the JavaScript SDK v3: node life.mjs URL NAME. Prints a line per step; exits 1 on a surprise.
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(process.env.HEADROOM_NPM + "/package.json");
const [url, name] = process.argv.slice(2);
const config = { endpoint: url, region: "us-east-1", maxAttempts: 1, credentials: { accessKeyId: "AKID", secretAccessKey: "right" } };
const load = (p) => require("@aws-sdk/client-" + p);
const sm = load("sagemaker"), rt = load("sagemaker-runtime"), aas = load("application-auto-scaling");
const cw = load("cloudwatch"), logs = load("cloudwatch-logs"), quotas = load("service-quotas");
const sagemaker = new sm.SageMakerClient(config), runtime = new rt.SageMakerRuntimeClient(config);
const scaling = new aas.ApplicationAutoScalingClient(config), cloudwatch = new cw.CloudWatchClient(config);
const step = (text) => console.log("ok " + text);
const refused = async (promise, expected) => {
  await assert.rejects(promise, (error) => error.name === expected || assert.fail(`${error.name}, not ${expected}: ${error.message}`));
};
async function wait(status) {
  for (let i = 0; i < 600; i++) {
    const e = await sagemaker.send(new sm.DescribeEndpointCommand({ EndpointName: name }));
    if (e.EndpointStatus === status) return e;
    assert.notEqual(e.EndpointStatus, "Failed", e.FailureReason);
    await new Promise((r) => setTimeout(r, 100));
  }
  assert.fail("never " + status);
}

await sagemaker.send(new sm.CreateModelCommand({ ModelName: name, PrimaryContainer: { Image: "image:1",
  Environment: { TTS_ENGINE: "paced", TTS_SERVICE_MS: "20", TTS_OVERHEAD_MS: "1" } } }));
await sagemaker.send(new sm.CreateEndpointConfigCommand({ EndpointConfigName: name, ProductionVariants: [{ VariantName: "AllTraffic",
  ModelName: name, InstanceType: "ml.g5.xlarge", InitialInstanceCount: 1, RoutingConfig: { RoutingStrategy: "LEAST_OUTSTANDING_REQUESTS" } }] }));
await sagemaker.send(new sm.CreateEndpointCommand({ EndpointName: name, EndpointConfigName: name }));
await wait("InService");
step("create");
await refused(sagemaker.send(new sm.CreateEndpointCommand({ EndpointName: name, EndpointConfigName: name })), "ValidationException");

const body = (more) => JSON.stringify({ text: "Hello there.", format: "wav", ...more });
const whole = await runtime.send(new rt.InvokeEndpointCommand({ EndpointName: name, ContentType: "application/json", Body: body() }));
assert.equal(Buffer.from(whole.Body).subarray(0, 4).toString(), "RIFF");
assert.equal(whole.InvokedProductionVariant, "AllTraffic");
await refused(runtime.send(new rt.InvokeEndpointCommand({ EndpointName: name, ContentType: "application/json", Body: "{}" })), "ModelError");
step("invoke");
const reply = await runtime.send(new rt.InvokeEndpointWithResponseStreamCommand({ EndpointName: name, ContentType: "application/json",
  Body: body({ stream: true, format: "pcm" }) }));
let bytes = 0;
for await (const event of reply.Body) { assert.ok(event.PayloadPart); bytes += event.PayloadPart.Bytes.length; }
assert.ok(bytes > 10000 && reply.ContentType.startsWith("audio/"));
step("stream");

const id = { ServiceNamespace: "sagemaker", ResourceId: `endpoint/${name}/variant/AllTraffic`, ScalableDimension: "sagemaker:variant:DesiredInstanceCount" };
await scaling.send(new aas.RegisterScalableTargetCommand({ ...id, MinCapacity: 2, MaxCapacity: 3 }));
const policy = await scaling.send(new aas.PutScalingPolicyCommand({ ...id, PolicyName: "p", PolicyType: "TargetTrackingScaling",
  TargetTrackingScalingPolicyConfiguration: { TargetValue: 5, ScaleOutCooldown: 30, ScaleInCooldown: 300, PredefinedMetricSpecification: {
    PredefinedMetricType: "SageMakerVariantConcurrentRequestsPerModelHighResolution" } } }));
assert.ok(policy.PolicyARN && policy.Alarms.length >= 1);
async function waitCount(count) {
  for (let i = 0; (await wait("InService")).ProductionVariants[0].CurrentInstanceCount !== count; i++) {
    assert.ok(i < 300, `${count} instances were not reached`);
    await new Promise((r) => setTimeout(r, 100));
  }
}
await waitCount(2);
const activities = await scaling.send(new aas.DescribeScalingActivitiesCommand({ ServiceNamespace: "sagemaker", ResourceId: id.ResourceId }));
assert.match(activities.ScalingActivities[0].Cause, /minimum capacity/);
await refused(scaling.send(new aas.DeleteScalingPolicyCommand({ ...id, PolicyName: "none" })), "ObjectNotFoundException");
step("scale");
const up = await scaling.send(new aas.PutScalingPolicyCommand({ ...id, PolicyName: "up", PolicyType: "StepScaling", StepScalingPolicyConfiguration: {
  AdjustmentType: "ChangeInCapacity", StepAdjustments: [{ MetricIntervalLowerBound: 0, ScalingAdjustment: 1 }] } }));
await cloudwatch.send(new cw.PutMetricAlarmCommand({ AlarmName: "up", Namespace: "n", MetricName: "load", Statistic: "Average", Period: 60,
  EvaluationPeriods: 1, Threshold: 1, ComparisonOperator: "GreaterThanThreshold", AlarmActions: [up.PolicyARN] }));
await cloudwatch.send(new cw.SetAlarmStateCommand({ AlarmName: "up", StateValue: "ALARM", StateReason: "a trial" }));
await waitCount(3);
const told = await scaling.send(new aas.DescribeScalingActivitiesCommand({ ServiceNamespace: "sagemaker" }));
assert.ok(told.ScalingActivities.some((a) => a.Cause === "monitor alarm up in state ALARM triggered policy up"));
const history = await cloudwatch.send(new cw.DescribeAlarmHistoryCommand({ AlarmName: "up" }));
assert.ok(history.AlarmHistoryItems.some((h) => h.HistorySummary.endsWith("to ALARM") && h.Timestamp instanceof Date));
await cloudwatch.send(new cw.DeleteAlarmsCommand({ AlarmNames: ["up"] }));
step("alarm");

const alarms = await cloudwatch.send(new cw.DescribeAlarmsCommand({ AlarmNamePrefix: "TargetTracking-" }));
assert.ok(alarms.MetricAlarms.length >= 1 && alarms.MetricAlarms[0].StateUpdatedTimestamp instanceof Date);
await cloudwatch.send(new cw.PutMetricDataCommand({ Namespace: "n", MetricData: Array.from({ length: 500 }, (_, i) => ({ MetricName: "m", Value: i, Timestamp: new Date() })) }));
const data = await cloudwatch.send(new cw.GetMetricDataCommand({ StartTime: new Date(Date.now() - 600e3), EndTime: new Date(Date.now() + 60e3),
  MetricDataQueries: [{ Id: "q", MetricStat: { Metric: { Namespace: "n", MetricName: "m" }, Period: 60, Stat: "SampleCount" } }] }));
assert.equal(data.MetricDataResults[0].Values.reduce((a, b) => a + b, 0), 500);
await refused(cloudwatch.send(new cw.PutMetricDataCommand({ Namespace: "AWS/x", MetricData: [{ MetricName: "m", Value: 1 }] })), "InvalidParameterValueException");
step("metrics");
const events = await new logs.CloudWatchLogsClient(config).send(new logs.FilterLogEventsCommand({ logGroupName: "/aws/sagemaker/Endpoints/" + name, filterPattern: '"STAGE ready"' }));
assert.ok(events.events.length >= 1);
const quota = await new quotas.ServiceQuotasClient(config).send(new quotas.GetServiceQuotaCommand({ ServiceCode: "sagemaker", QuotaCode: "L-1928E07B" }));
assert.ok(quota.Quota.Value >= 4);
step("logs and quotas");

await scaling.send(new aas.DeregisterScalableTargetCommand(id));
await sagemaker.send(new sm.DeleteEndpointCommand({ EndpointName: name }));
for (let i = 0; (await sagemaker.send(new sm.ListEndpointsCommand({ NameContains: name }))).Endpoints.length; i++) {
  assert.ok(i < 300, "the endpoint did not go");
  await new Promise((r) => setTimeout(r, 100));
}
await sagemaker.send(new sm.DeleteEndpointConfigCommand({ EndpointConfigName: name }));
await sagemaker.send(new sm.DeleteModelCommand({ ModelName: name }));
await refused(sagemaker.send(new sm.DescribeEndpointCommand({ EndpointName: name })), "ValidationException");
step("delete");
