// The Cloud on AWS, with the official clients. Every call has its action in infra/iam; a test compares the two.
import {
  CloudFormationClient, CreateChangeSetCommand, DeleteChangeSetCommand, DeleteStackCommand, DescribeChangeSetCommand,
  DescribeStackEventsCommand, DescribeStacksCommand, ExecuteChangeSetCommand, GetTemplateCommand,
} from "@aws-sdk/client-cloudformation";
import { ApplicationAutoScalingClient, DescribeScalableTargetsCommand, DescribeScalingPoliciesCommand } from "@aws-sdk/client-application-auto-scaling";
import { CloudWatchClient, DescribeAlarmsCommand } from "@aws-sdk/client-cloudwatch";
import { BatchGetBuildsCommand, CodeBuildClient, StartBuildCommand } from "@aws-sdk/client-codebuild";
import { DeleteBucketCommand, DeleteObjectsCommand, HeadBucketCommand, HeadObjectCommand, ListObjectVersionsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DescribeEndpointCommand, DescribeEndpointConfigCommand, SageMakerClient } from "@aws-sdk/client-sagemaker";
import { ListServiceQuotasCommand, ServiceQuotasClient } from "@aws-sdk/client-service-quotas";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { EXIT, Problem } from "../problem.ts";
import { type AlarmState, type BuildState, type Change, type Cloud, type EndpointState, NotOffered, type PolicyState, type Quota, type StackEvent, type StackState } from "./cloud.ts";

export interface CloudOptions { region: string | undefined; profile: string | undefined; endpointUrl: string | undefined }

const CHANGE_SET_WAIT_MS = 300_000;
const POLL_MS = 1000;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

// Real keys never go over plain http to another machine.
function checkUrl(url: string | undefined): string | undefined {
  if (url === undefined || url === "") return undefined;
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new Problem(`'${url}' is no URL`, "give one such as http://127.0.0.1:4599", EXIT.usage);
  }
  const loopback = ["127.0.0.1", "[::1]", "localhost"].includes(parsed.hostname);
  if (parsed.protocol !== "https:" && !(parsed.protocol === "http:" && loopback)) {
    throw new Problem(`${url} is not https, and not this machine: credentials would be readable on the way`, "use https, or an address of this machine", EXIT.usage);
  }
  return url;
}

const named = (error: unknown, ...names: string[]): boolean => error instanceof Error && names.includes(error.name);
// Answers to HEAD have no body, and so no code: only the status tells.
const httpStatus = (error: unknown): number | undefined => (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
const missingStack = (error: unknown): boolean => error instanceof Error && /does not exist/.test(error.message);

export async function awsCloud(options: CloudOptions): Promise<Cloud> {
  if (options.profile !== undefined) process.env["AWS_PROFILE"] = options.profile;
  const endpoint = checkUrl(options.endpointUrl ?? process.env["AWS_ENDPOINT_URL"]);
  const config = { region: options.region, endpoint, maxAttempts: 5 };
  const sts = new STSClient(config);
  const region = await sts.config.region();
  return new AwsCloud({ ...config, region }, sts);
}

class AwsCloud implements Cloud {
  private readonly settings: { region: string; endpoint: string | undefined; maxAttempts: number };
  private readonly sts: STSClient;
  private readonly formation: CloudFormationClient;
  private readonly s3: S3Client;
  private readonly sagemaker: SageMakerClient;
  private readonly scaling: ApplicationAutoScalingClient;

  constructor(settings: { region: string; endpoint: string | undefined; maxAttempts: number }, sts: STSClient) {
    this.settings = settings;
    this.sts = sts;
    this.formation = new CloudFormationClient(settings);
    this.s3 = new S3Client({ ...settings, forcePathStyle: settings.endpoint !== undefined });
    this.sagemaker = new SageMakerClient(settings);
    this.scaling = new ApplicationAutoScalingClient(settings);
  }

  region(): string { return this.settings.region; }

  async account(): Promise<string> { return (await this.sts.send(new GetCallerIdentityCommand({}))).Account ?? ""; }

  async stack(name: string): Promise<StackState | undefined> {
    try {
      const stack = (await this.offered(() => this.formation.send(new DescribeStacksCommand({ StackName: name })))).Stacks?.[0];
      if (!stack) return undefined;
      return {
        name, status: stack.StackStatus ?? "", reason: stack.StackStatusReason ?? "",
        outputs: Object.fromEntries((stack.Outputs ?? []).map((one) => [one.OutputKey ?? "", one.OutputValue ?? ""])),
      };
    } catch (error) {
      if (missingStack(error)) return undefined;
      throw error;
    }
  }

  async template(name: string): Promise<string | undefined> {
    try {
      return (await this.formation.send(new GetTemplateCommand({ StackName: name, TemplateStage: "Original" }))).TemplateBody;
    } catch (error) {
      if (missingStack(error)) return undefined;
      throw error;
    }
  }

  async prepare(name: string, body: string, adopt: boolean): Promise<{ changeSet: string; changes: Change[] }> {
    const there = await this.stack(name);
    const made = await this.formation.send(new CreateChangeSetCommand({
      StackName: name, ChangeSetName: `headroom-${Date.now()}`, TemplateBody: body,
      ChangeSetType: there && there.status !== "REVIEW_IN_PROGRESS" ? "UPDATE" : "CREATE",
      Capabilities: ["CAPABILITY_NAMED_IAM"],
      ImportExistingResources: adopt || undefined,
    }));
    const changeSet = made.Id ?? "";
    const until = Date.now() + CHANGE_SET_WAIT_MS;
    for (;;) {
      const state = await this.formation.send(new DescribeChangeSetCommand({ ChangeSetName: changeSet, StackName: name }));
      if (state.Status === "CREATE_COMPLETE") {
        return { changeSet, changes: (state.Changes ?? []).map(({ ResourceChange: change }) => ({
          action: change?.Action ?? "", resource: change?.LogicalResourceId ?? "", type: change?.ResourceType ?? "", replacement: change?.Replacement ?? "" })) };
      }
      if (state.Status === "FAILED") {
        await this.discard(name, changeSet);
        if (/didn't contain changes|No updates are to be performed/.test(state.StatusReason ?? "")) return { changeSet: "", changes: [] };
        throw new Problem(`CloudFormation refuses the template of ${name}: ${state.StatusReason}`, "correct what it names");
      }
      if (Date.now() > until) throw new Problem(`CloudFormation has not judged the change of ${name} within 5 minutes`, "run the command again");
      await pause(POLL_MS);
    }
  }

  async execute(name: string, changeSet: string): Promise<void> {
    await this.formation.send(new ExecuteChangeSetCommand({ StackName: name, ChangeSetName: changeSet }));
  }

  async discard(name: string, changeSet: string): Promise<void> {
    await this.formation.send(new DeleteChangeSetCommand({ StackName: name, ChangeSetName: changeSet }));
  }

  async deleteStack(name: string): Promise<void> { await this.formation.send(new DeleteStackCommand({ StackName: name })); }

  async events(name: string): Promise<StackEvent[]> {
    try {
      const page = await this.formation.send(new DescribeStackEventsCommand({ StackName: name }));
      return (page.StackEvents ?? []).map((event) => ({
        id: event.EventId ?? "", time: event.Timestamp?.getTime() ?? 0, resource: event.LogicalResourceId ?? "",
        type: event.ResourceType ?? "", status: event.ResourceStatus ?? "", reason: event.ResourceStatusReason ?? "",
      })).reverse();
    } catch (error) {
      if (missingStack(error)) return []; // it went since it was last looked at
      throw error;
    }
  }

  async bucketState(bucket: string): Promise<"absent" | "ours" | "foreign"> {
    try {
      await this.s3.send(new HeadBucketCommand({ Bucket: bucket, ExpectedBucketOwner: await this.account() }));
      return "ours";
    } catch (error) {
      if (httpStatus(error) === 404) return "absent";
      if (httpStatus(error) === 403) return "foreign";
      throw error;
    }
  }

  async hasObject(bucket: string, key: string): Promise<boolean> {
    try {
      await this.s3.send(new HeadObjectCommand({ Bucket: bucket, Key: key, ExpectedBucketOwner: await this.account() }));
      return true;
    } catch (error) {
      if (httpStatus(error) === 404) return false;
      throw error;
    }
  }

  async putObject(bucket: string, key: string, body: Uint8Array): Promise<void> {
    await this.s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ChecksumAlgorithm: "SHA256", ExpectedBucketOwner: await this.account() }));
  }

  async deleteBucket(bucket: string): Promise<void> {
    const owner = await this.account();
    for (;;) {
      const page = await this.s3.send(new ListObjectVersionsCommand({ Bucket: bucket, ExpectedBucketOwner: owner }));
      const objects = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].map(({ Key, VersionId }) => ({ Key: Key ?? "", VersionId }));
      if (objects.length === 0) break;
      const done = await this.s3.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true }, ExpectedBucketOwner: owner }));
      const failed = done.Errors?.[0];
      if (failed) throw new Problem(`${failed.Key} of ${bucket} cannot be deleted: ${failed.Message}`, "delete it by hand, then run destroy again");
    }
    await this.s3.send(new DeleteBucketCommand({ Bucket: bucket, ExpectedBucketOwner: owner }));
  }

  private codebuild(): CodeBuildClient { return new CodeBuildClient(this.settings); }

  async startBuild(project: string): Promise<string> {
    return (await this.codebuild().send(new StartBuildCommand({ projectName: project }))).build?.id ?? "";
  }

  async build(id: string): Promise<BuildState> {
    const build = (await this.codebuild().send(new BatchGetBuildsCommand({ ids: [id] }))).builds?.[0];
    const failed = build?.phases?.find((phase) => phase.phaseStatus === "FAILED")?.contexts?.[0]?.message;
    return { status: build?.buildStatus ?? "UNKNOWN", phase: failed ?? build?.currentPhase ?? "", done: build?.buildComplete ?? false, log: build?.logs?.deepLink ?? "" };
  }

  async endpoint(name: string): Promise<EndpointState | undefined> {
    try {
      const found = await this.sagemaker.send(new DescribeEndpointCommand({ EndpointName: name }));
      const variant = found.ProductionVariants?.[0];
      const config = found.EndpointConfigName === undefined ? undefined
        : await this.sagemaker.send(new DescribeEndpointConfigCommand({ EndpointConfigName: found.EndpointConfigName }));
      return { status: found.EndpointStatus ?? "", failureReason: found.FailureReason ?? "", desired: variant?.DesiredInstanceCount,
        current: variant?.CurrentInstanceCount, instanceType: config?.ProductionVariants?.[0]?.InstanceType };
    } catch (error) {
      if (named(error, "ValidationException") && /could not find|does not exist|not found/i.test((error as Error).message)) return undefined;
      throw error;
    }
  }

  async target(resource: string): Promise<{ min: number; max: number; suspended: boolean } | undefined> {
    const found = await this.scaling.send(new DescribeScalableTargetsCommand({ ServiceNamespace: "sagemaker", ResourceIds: [resource] }));
    const target = found.ScalableTargets?.[0];
    if (!target) return undefined;
    const flags = target.SuspendedState ?? {};
    return { min: target.MinCapacity ?? 0, max: target.MaxCapacity ?? 0, suspended: Object.values(flags).some((flag) => flag === true) };
  }

  async policies(resource: string): Promise<PolicyState[]> {
    const found = await this.scaling.send(new DescribeScalingPoliciesCommand({ ServiceNamespace: "sagemaker", ResourceId: resource }));
    return (found.ScalingPolicies ?? []).map((one) => ({ name: one.PolicyName ?? "", type: one.PolicyType ?? "", alarms: one.Alarms?.length ?? 0 }));
  }

  async alarms(prefix: string): Promise<AlarmState[]> {
    const found = await new CloudWatchClient(this.settings).send(new DescribeAlarmsCommand({ AlarmNamePrefix: prefix, AlarmTypes: ["MetricAlarm"] }));
    return (found.MetricAlarms ?? []).map((one) => ({ name: one.AlarmName ?? "", state: one.StateValue ?? "" }));
  }

  async quota(instanceType: string): Promise<Quota | undefined> {
    const client = new ServiceQuotasClient(this.settings);
    let token: string | undefined;
    do {
      const page = await client.send(new ListServiceQuotasCommand({ ServiceCode: "sagemaker", NextToken: token, MaxResults: 100 }));
      const row = page.Quotas?.find((one) => one.QuotaName === `${instanceType} for endpoint usage`);
      if (row?.Value !== undefined) return { value: row.Value, code: row.QuotaCode ?? "" };
      token = page.NextToken;
    } while (token !== undefined);
    return undefined;
  }

  // A local cloud answers every operation it does not have with one of these.
  private async offered<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      const foreign = error instanceof Error && /XML parse error/.test(error.message); // an answer in another protocol
      if (foreign || named(error, "InvalidAction", "UnknownOperationException", "UnknownOperation")) {
        throw new NotOffered(`${this.settings.endpoint ?? "the service"} does not offer CloudFormation`);
      }
      throw error;
    }
  }
}
