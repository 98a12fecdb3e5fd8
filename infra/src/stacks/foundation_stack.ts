// SpeechFoundationStack: what all models of an account and region share: the bucket of weights, the image repository, and the role
// that SageMaker's containers run under. Nothing here grants a container more than reading weights and image and writing its log.
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from "aws-cdk-lib";
import * as ecr from "aws-cdk-lib/aws-ecr";
import * as iam from "aws-cdk-lib/aws-iam";
import * as s3 from "aws-cdk-lib/aws-s3";
import type { Construct } from "constructs";
import { BUCKET_PATTERN, REPOSITORY } from "../names.ts";
import { acknowledgeWildcards, nagName } from "./nag.ts";
import { bucketArn, bucketName, repositoryArn, roleName } from "./refs.ts";

export class SpeechFoundationStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps) {
    super(scope, id, { ...props, description: "Headroom: bucket of weights, image repository and execution role, shared by all models" });
    const bucket = new s3.Bucket(this, "Weights", {
      bucketName: bucketName(),
      encryption: s3.BucketEncryption.S3_MANAGED,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      versioned: true,
      removalPolicy: RemovalPolicy.RETAIN, // minutes of work lie in it; destroy empties it only when told
      lifecycleRules: [{
        id: "old-versions",
        noncurrentVersionExpiration: Duration.days(30),
        abortIncompleteMultipartUploadAfter: Duration.days(1),
      }],
    });
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions::AwsSolutions-S1",
      reason: "The bucket holds published weights under their hashes, no personal data; CloudTrail data events show access where wanted.",
    });
    const repository = new ecr.Repository(this, "Images", {
      repositoryName: REPOSITORY,
      imageScanOnPush: true,
      imageTagMutability: ecr.TagMutability.IMMUTABLE,
      encryption: ecr.RepositoryEncryption.AES_256,
      removalPolicy: RemovalPolicy.RETAIN,
      lifecycleRules: [{ description: "untagged layers of replaced images", tagStatus: ecr.TagStatus.UNTAGGED, maxImageAge: Duration.days(14) }],
    });
    const role = new iam.Role(this, "Execution", {
      roleName: roleName(),
      description: "What SageMaker and the speech containers may do: read weights and image, write logs and metrics",
      assumedBy: new iam.ServicePrincipal("sagemaker.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": this.account } },
      }),
    });
    for (const statement of executionStatements(this)) role.addToPolicy(statement);
    acknowledgeWildcards(role, {
      "*": "ecr:GetAuthorizationToken and cloudwatch:PutMetricData take no resource; the latter is held to SageMaker's namespaces.",
      [`arn:<AWS::Partition>:s3:::${nagName(BUCKET_PATTERN)}/models/*`]:
        "Each model's weights lie under their hash, which is not known here; the role may only read them.",
      "arn:<AWS::Partition>:logs:<AWS::Region>:<AWS::AccountId>:log-group:/aws/sagemaker/Endpoints/*":
        "SageMaker names a log group after each endpoint; the prefix is SageMaker's own.",
    });
    new CfnOutput(this, "BucketName", { value: bucket.bucketName, description: "where the weights lie" });
    new CfnOutput(this, "RepositoryUri", { value: repository.repositoryUri, description: "where docker push puts the image" });
    new CfnOutput(this, "ExecutionRoleArn", { value: role.roleArn, description: "the role of the speech containers" });
  }
}

// https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html, section CreateModel, narrowed to what is ours.
function executionStatements(stack: Stack): iam.PolicyStatement[] {
  const logs = stack.formatArn({ service: "logs", resource: "log-group", resourceName: "/aws/sagemaker/Endpoints/*", arnFormat: undefined })
    .replace("log-group/", "log-group:");
  return [
    new iam.PolicyStatement({ sid: "ListWeights", actions: ["s3:ListBucket"], resources: [bucketArn()],
      conditions: { StringLike: { "s3:prefix": "models/*" } } }),
    new iam.PolicyStatement({ sid: "ReadWeights", actions: ["s3:GetObject"], resources: [`${bucketArn()}/models/*`] }),
    new iam.PolicyStatement({ sid: "PullImage", resources: [repositoryArn()],
      actions: ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"] }),
    new iam.PolicyStatement({ sid: "SignInToRegistry", actions: ["ecr:GetAuthorizationToken"], resources: ["*"] }),
    new iam.PolicyStatement({ sid: "WriteLogs", resources: [logs],
      actions: ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"] }),
    new iam.PolicyStatement({ sid: "WriteMetrics", actions: ["cloudwatch:PutMetricData"], resources: ["*"],
      conditions: { StringEquals: { "cloudwatch:namespace": ["AWS/SageMaker", "/aws/sagemaker/Endpoints", "Headroom"] } } }),
  ];
}
