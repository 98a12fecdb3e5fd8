// SpeechEndpointStack: model, endpoint configuration and endpoint of one model file; autoscaling and observability only when the
// judgement says that a plan may be deployed. The queue limit of the container is the plan's.
import { CfnOutput, CfnParameter, Fn, Stack, type StackProps } from "aws-cdk-lib";
import * as iam from "aws-cdk-lib/aws-iam";
import * as sagemaker from "aws-cdk-lib/aws-sagemaker";
import type { Construct } from "constructs";
import { bringsWeights, type Deployment, onGpu } from "../deployment.ts";
import { REPOSITORY, weightsPrefix } from "../names.ts";
import { variantOf } from "../plan/plan_file.ts";
import { EndpointAutoscaling } from "./endpoint_autoscaling.ts";
import { EndpointObservability } from "./endpoint_observability.ts";
import { bucketName, roleArn, roleName } from "./refs.ts";

const DOWNLOAD_TIMEOUT_S = 600;
const HEALTH_TIMEOUT_S = 600;
// NVIDIA driver 580, for the CUDA 13 that ONNX Runtime's GPU build is linked with. SageMaker's own choice for ml.g5 is driver 470, under
// which the container would never become ready (SageMaker API reference, ProductionVariant; Developer Guide, "GPU driver upgrades").
const GPU_AMI = "al2023-ami-sagemaker-inference-gpu-4-1";
// ECR addresses; another registry needs no permission here.
const ECR = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/([a-z0-9._/-]+)/;

export class SpeechEndpointStack extends Stack {
  constructor(scope: Construct, id: string, props: StackProps & { deployment: Deployment }) {
    const { model, judgement, image, alarmTopic } = props.deployment;
    super(scope, id, { ...props, description: `Headroom: speech endpoint ${model.endpoint}` });
    const variant = judgement.scaling ? variantOf(judgement.plan) : "AllTraffic";
    const resource = new sagemaker.CfnModel(this, "Model", {
      executionRoleArn: roleArn(),
      enableNetworkIsolation: true, // everything it needs is in the image and in the weights
      primaryContainer: {
        image: image === "" ? this.imageParameter() : image,
        environment: this.containerEnvironment(props.deployment, variant),
        modelDataSource: bringsWeights(props.deployment) ? {
          s3DataSource: {
            s3Uri: Fn.join("", ["s3://", bucketName(), "/", weightsPrefix(model.name, model.manifestSha256)]),
            s3DataType: "S3Prefix",
            compressionType: "None",
          },
        } : undefined,
      },
    });
    const pull = this.pullPolicy(image);
    if (pull) resource.node.addDependency(pull);
    const config = new sagemaker.CfnEndpointConfig(this, "EndpointConfig", {
      productionVariants: [{
        variantName: variant,
        modelName: resource.attrModelName,
        instanceType: model.instanceType,
        initialInstanceCount: judgement.scaling ? judgement.plan.min_instances : model.minInstances,
        initialVariantWeight: 1,
        containerStartupHealthCheckTimeoutInSeconds: HEALTH_TIMEOUT_S,
        modelDataDownloadTimeoutInSeconds: DOWNLOAD_TIMEOUT_S,
        inferenceAmiVersion: onGpu(model) ? GPU_AMI : undefined,
        routingConfig: { routingStrategy: "LEAST_OUTSTANDING_REQUESTS" },
      }],
    });
    const endpoint = new sagemaker.CfnEndpoint(this, "Endpoint", {
      endpointName: model.endpoint,
      endpointConfigName: config.attrEndpointConfigName,
      retainAllVariantProperties: true, // an update must not undo what the policy scaled to
    });
    if (judgement.scaling) {
      const autoscaling = new EndpointAutoscaling(this, "Autoscaling", { plan: judgement.plan, endpointName: model.endpoint, alarmTopic });
      autoscaling.node.addDependency(endpoint);
      new EndpointObservability(this, "Observability", { plan: judgement.plan, endpointName: model.endpoint, sloMs: model.sloMs, alarmTopic });
    }
    new CfnOutput(this, "EndpointName", { value: model.endpoint });
    new CfnOutput(this, "Scaling", { value: judgement.scaling ? `${judgement.plan.rule}, ${judgement.plan.policy.carrier}` : "none" });
  }

  // Without an image the template can still be made and read; CloudFormation then asks for it.
  private imageParameter(): string {
    return new CfnParameter(this, "ImageUri", {
      type: "String",
      description: "The container image in ECR, best by digest (REPOSITORY@sha256:DIGEST)",
      allowedPattern: "[a-zA-Z0-9][\\w.:/@-]{0,511}",
    }).valueAsString;
  }

  private containerEnvironment(deployment: Deployment, variant: string): Record<string, string> {
    const { model, judgement } = deployment;
    const own: Record<string, string> = { TTS_ENDPOINT_NAME: model.endpoint, TTS_VARIANT_NAME: variant };
    if (judgement.scaling) {
      own["MAX_QUEUE_DEPTH"] = String(judgement.plan.queue_limit);
      if (judgement.plan.policy.carrier === "offered-rate") own["TTS_EMF"] = "1"; // the policy's metric comes from the container
    }
    return { ...model.environment, ...own };
  }

  // The shared role may pull from the shared repository; an image elsewhere in ECR brings its own permission.
  private pullPolicy(image: string): iam.CfnRolePolicy | undefined {
    const found = ECR.exec(image);
    if (!found || found[3] === REPOSITORY) return undefined;
    return new iam.CfnRolePolicy(this, "PullImage", {
      policyName: `pull-${this.stackName}`,
      roleName: roleName(),
      policyDocument: {
        Version: "2012-10-17",
        Statement: [{
          Effect: "Allow",
          Action: ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
          Resource: Fn.sub(`arn:\${AWS::Partition}:ecr:${found[2]}:${found[1]}:repository/${found[3]}`),
        }],
      },
    });
  }
}
