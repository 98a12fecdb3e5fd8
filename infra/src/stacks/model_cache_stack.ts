// SpeechModelCacheStack: a CodeBuild project that prepares one model's weights as ./dev setup does, checks every file's SHA-256 and
// copies them into the bucket, under the hash of their manifest. Deploying the stack builds nothing: `speech-infra deploy` starts it.
import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import * as codebuild from "aws-cdk-lib/aws-codebuild";
import * as iam from "aws-cdk-lib/aws-iam";
import * as kms from "aws-cdk-lib/aws-kms";
import * as logs from "aws-cdk-lib/aws-logs";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import type { Deployment } from "../deployment.ts";
import { BUCKET_PATTERN, cacheProject, sourceKey, weightsPrefix } from "../names.ts";
import { acknowledgeWildcards, nagName } from "./nag.ts";
import { bucketArn, bucketName } from "./refs.ts";

const HOUR = 60;

export class SpeechModelCacheStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { deployment: Deployment }) {
    const { model, huggingFace, source } = props.deployment;
    super(scope, id, { ...props, description: `Headroom: prepares the weights of ${model.name} into the bucket` });
    const prefix = weightsPrefix(model.name, model.manifestSha256);
    const key = sourceKey(source.sha256);
    const bucket = s3.Bucket.fromBucketAttributes(this, "Bucket", { bucketName: bucketName(), bucketArn: bucketArn() });
    const log = new logs.LogGroup(this, "Log", {
      logGroupName: `/headroom/${cacheProject(model.name)}`,
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new iam.Role(this, "BuildRole", {
      assumedBy: new iam.ServicePrincipal("codebuild.amazonaws.com", { conditions: { StringEquals: { "aws:SourceAccount": this.account } } }),
    }).withoutPolicyUpdates();
    const project = new codebuild.Project(this, "Build", {
      projectName: cacheProject(model.name),
      description: `Prepares the pinned weights of ${model.name} and checks each file's SHA-256`,
      role,
      source: codebuild.Source.s3({ bucket, path: key }),
      buildSpec: buildSpec(),
      environment: {
        buildImage: codebuild.LinuxBuildImage.STANDARD_7_0,
        computeType: codebuild.ComputeType.MEDIUM,
        privileged: false,
        environmentVariables: environment(props.deployment, prefix),
      },
      encryptionKey: kms.Alias.fromAliasName(this, "Key", "alias/aws/s3"),
      timeout: Duration.minutes(HOUR),
      queuedTimeout: Duration.minutes(HOUR),
      concurrentBuildLimit: 1,
      logging: { cloudWatch: { logGroup: log } },
    });
    const policy = new iam.Policy(this, "BuildPolicy", { statements: buildStatements(this, log, prefix, key, huggingFace?.tokenSecret) });
    policy.attachToRole(this.node.findChild("BuildRole") as iam.Role);
    project.node.addDependency(policy);
    acknowledgeWildcards(policy, {
      [`arn:<AWS::Partition>:s3:::${nagName(BUCKET_PATTERN)}/${prefix}*`]:
        "One model's files under one manifest hash; their names are the manifest's.",
      ...(huggingFace && !huggingFace.tokenSecret.startsWith("arn:") ? {
        [`arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:${huggingFace.tokenSecret}-??????`]:
          "Secrets Manager ends each secret's ARN in six characters of its own.",
      } : {}),
    });
    new CfnOutput(this, "Project", { value: project.projectName, description: "the build that fills the bucket" });
    new CfnOutput(this, "WeightsUri", { value: Fn.join("", ["s3://", bucketName(), "/", prefix]), description: "where the weights lie" });
  }
}

function environment(deployment: Deployment, prefix: string): Record<string, codebuild.BuildEnvironmentVariable> {
  const { model, huggingFace } = deployment;
  const plain: Record<string, codebuild.BuildEnvironmentVariable> = {
    HEADROOM_TARGET: { value: Fn.join("", ["s3://", bucketName(), "/", prefix]) },
    HEADROOM_MANIFEST_SHA256: { value: model.manifestSha256 },
  };
  if (!huggingFace) return plain;
  return {
    ...plain,
    HF_REPOSITORY: { value: huggingFace.repository },
    HF_REVISION: { value: huggingFace.revision },
    HF_FILES: { value: Object.entries(huggingFace.files).map(([file, sha256]) => `${sha256}  ${file}`).join("\n") },
    HF_TOKEN: { type: codebuild.BuildEnvironmentVariableType.SECRETS_MANAGER, value: huggingFace.tokenSecret },
  };
}

function buildSpec(): codebuild.BuildSpec {
  return codebuild.BuildSpec.fromObject({
    version: "0.2",
    env: { shell: "bash" },
    phases: {
      install: { "runtime-versions": { python: "3.11", nodejs: "20" } },
      build: { commands: ["bash infra/assets/prepare-model.sh \"$HEADROOM_TARGET\" \"$HEADROOM_MANIFEST_SHA256\""] },
    },
  });
}

function buildStatements(stack: Stack, log: logs.LogGroup, prefix: string, key: string, secret: string | undefined): iam.PolicyStatement[] {
  const statements = [
    new iam.PolicyStatement({ sid: "ReadScripts", actions: ["s3:GetObject", "s3:GetObjectVersion"], resources: [`${bucketArn()}/${key}`] }),
    new iam.PolicyStatement({ sid: "FindBucket", actions: ["s3:GetBucketAcl", "s3:GetBucketLocation", "s3:ListBucket"], resources: [bucketArn()] }),
    new iam.PolicyStatement({ sid: "WriteWeights", actions: ["s3:GetObject", "s3:PutObject"], resources: [`${bucketArn()}/${prefix}*`] }),
    new iam.PolicyStatement({ sid: "WriteLog", actions: ["logs:CreateLogStream", "logs:PutLogEvents"], resources: [log.logGroupArn] }),
  ];
  if (secret !== undefined) {
    const arn = secret.startsWith("arn:") ? secret
      : stack.formatArn({ service: "secretsmanager", resource: "secret", resourceName: `${secret}-??????` }).replace("secret/", "secret:");
    statements.push(new iam.PolicyStatement({ sid: "ReadToken", actions: ["secretsmanager:GetSecretValue"], resources: [arn] }));
  }
  return statements;
}
