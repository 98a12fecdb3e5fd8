// References between stacks by name, as CloudFormation writes them.
import { Fn } from "aws-cdk-lib";
import { BUCKET_PATTERN, REPOSITORY, ROLE_PATTERN } from "../names.ts";

export const bucketName = (): string => Fn.sub(BUCKET_PATTERN);
export const bucketArn = (): string => Fn.sub(`arn:\${AWS::Partition}:s3:::${BUCKET_PATTERN}`);
export const roleName = (): string => Fn.sub(ROLE_PATTERN);
export const roleArn = (): string => Fn.sub(`arn:\${AWS::Partition}:iam::\${AWS::AccountId}:role/${ROLE_PATTERN}`);
export const repositoryArn = (): string =>
  Fn.sub(`arn:\${AWS::Partition}:ecr:\${AWS::Region}:\${AWS::AccountId}:repository/${REPOSITORY}`);
