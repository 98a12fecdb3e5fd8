"""The IAM policy files hold exactly the actions that the clients' code calls: derived from the code, so that neither can drift."""

import json
import re

import pytest
from local_cloud import ROOT

IAM = ROOT / "infra" / "iam"
SERVICES = {"kSageMaker": "sagemaker", "kAutoScaling": "application-autoscaling", "kCloudWatch": "cloudwatch", "kLogs": "logs",
            "kQuotas": "servicequotas"}
CLIENTS = {"sagemaker": "sagemaker", "autoscaling": "autoscaling", "cloudwatch": "cloudwatch", "logs": "logs", "quotas": "quotas"}
# Which files of src/bench a command that only reads, or that applies, may reach; all the others are of measuring.
READ = {"drift", "drift_gate", "deployed", "live", "journal", "quota_room", "validate", "session"}
APPLY = READ | {"apply"}
MEASURE = {path.stem for path in (ROOT / "src" / "bench").glob("*.cpp") if not path.stem.endswith("_test")} - {"apply"}
BENCH = {"tts-bench-read": READ, "tts-bench-measure": MEASURE, "tts-bench-apply": APPLY}
# What AWS checks of the caller besides the action itself: the first scalable target of an account makes a service-linked role.
IMPLIED = {"application-autoscaling:RegisterScalableTarget": {"iam:CreateServiceLinkedRole"}}
S3_ACTIONS = {"HeadBucket": {"s3:ListBucket"}, "HeadObject": {"s3:GetObject"}, "PutObject": {"s3:PutObject"},
              "ListObjectVersions": {"s3:ListBucketVersions"}, "DeleteObjects": {"s3:DeleteObject", "s3:DeleteObjectVersion"},
              "DeleteBucket": {"s3:DeleteBucket"}}
SDK = {"cloudformation": "cloudformation", "application-auto-scaling": "application-autoscaling", "cloudwatch": "cloudwatch",
       "codebuild": "codebuild", "sagemaker": "sagemaker", "service-quotas": "servicequotas", "sts": "sts"}
# Files of infra/src/cli by command, besides the client itself.
INFRA = {"speech-infra-status": ["status"], "speech-infra-diff": ["synth", "images"],
         "speech-infra-deploy": ["deploy", "checks", "images", "stack_runner", "weights"],
         "speech-infra-destroy": ["destroy", "stack_runner"]}
# What stack_runner has for both, and each command does not reach.
UNREACHED = {"speech-infra-deploy": {"deleteStack"}, "speech-infra-destroy": {"prepare", "execute", "discard", "template"}}
NOTHING = set()


def actions(name: str) -> set[str]:
    document = json.loads((IAM / f"{name}.json").read_text())
    assert document["Version"] == "2012-10-17"
    found = [action for statement in document["Statement"] for action in statement["Action"]]
    assert all(statement["Effect"] == "Allow" and statement["Resource"] for statement in document["Statement"])
    assert not any("*" in action for action in found), "an action with a wildcard grants what nobody calls"
    return set(found)


def cxx_methods() -> dict[tuple[str, str], set[str]]:
    """(client, method) of src/aws: the actions it calls, those of its own helpers included."""
    bodies: dict[tuple[str, str], str] = {}
    for client in CLIENTS:
        text = (ROOT / "src" / "aws" / f"{client}.cpp").read_text()
        for match in re.finditer(r"^\S[^\n]*?(?:(\w+)::)?(\w+)\([^;{}]*?\)(?: const)? \{\n(.*?)^\}", text, re.M | re.S):
            bodies[client, match[2]] = match[3]
    service = {"sagemaker": "kSageMaker", "autoscaling": "kAutoScaling", "cloudwatch": "kCloudWatch", "logs": "kLogs", "quotas": "kQuotas"}

    def of(client: str, method: str, seen: frozenset) -> set[str]:
        body = bodies[client, method]
        found = {f"{SERVICES[service[client]]}:{one}" for one in re.findall(r"\bsagemaker\(transport_, \"(\w+)\"", body)}
        found |= {f"{SERVICES[kind]}:{one}" for kind, one in re.findall(r"Service::(k\w+), \"(\w+)\"", body)}
        for other_client, other in bodies:
            if other_client == client and other not in seen and re.search(rf"\b{other}\(", body):
                found |= of(client, other, seen | {other})
        return found

    return {(client, method): of(client, method, frozenset({method})) for client, method in bodies}


def invocations() -> set[str]:
    text = "".join(path.read_text() for path in (ROOT / "src" / "aws").glob("*.cpp") if "_test" not in path.name)
    names = {"/invocations\"": "InvokeEndpoint", "/invocations-response-stream\"": "InvokeEndpointWithResponseStream",
             "/invocations-bidirectional-stream\"": "InvokeEndpointWithBidirectionalStream"}
    return {f"sagemaker:{action}" for path, action in names.items() if path in text}


def bench_actions(files: set[str]) -> set[str]:
    methods = cxx_methods()
    found = {"sts:GetCallerIdentity"}
    for path in sorted((ROOT / "src" / "bench").glob("*.cpp")):
        for client, method in re.findall(r"\b(sagemaker|autoscaling|cloudwatch|logs|quotas)\(\)\s*\.(\w+)\(", path.read_text()):
            if path.stem in files:
                assert methods[client, method], f"no action was found in {client}.{method}"
                found |= methods[client, method]
    if "rig" in files:
        found |= invocations()
    return found | {one for action in found for one in IMPLIED.get(action, NOTHING)}


@pytest.mark.parametrize("policy", sorted(BENCH))
def test_tts_bench_policies_hold_what_its_code_calls(policy):
    called, granted = bench_actions(BENCH[policy]), actions(policy)
    assert called - granted == set(), "called but not granted"
    assert granted - called == set(), "granted but never called"


def sdk_methods() -> dict[str, set[str]]:
    """Method of AwsCloud: the actions of the commands that it sends."""
    text = (ROOT / "infra" / "src" / "cli" / "aws_cloud.ts").read_text()
    where = {}
    for names, package in re.findall(r"import \{([^}]*)\} from \"@aws-sdk/client-([\w-]+)\"", text):
        where.update({name.strip(): package for name in names.split(",") if name.strip().endswith("Command")})
    bodies = dict(re.findall(r"^  (?:private )?(?:async )?(\w+)\([^\n]*?\{(.*?)(?=^  (?:private |async |\w+\()|^\})", text, re.M | re.S))

    def of(method: str, seen: frozenset) -> set[str]:
        found: set[str] = set()
        for command in re.findall(r"new (\w+)Command\(", bodies[method]):
            package = where[f"{command}Command"]
            found |= S3_ACTIONS[command] if package == "s3" else {f"{SDK[package]}:{command}"}
        for other in re.findall(r"this\.(\w+)\(", bodies[method]):
            if other in bodies and other not in seen:
                found |= of(other, seen | {other})
        return found

    return {method: of(method, frozenset({method})) for method in bodies}


@pytest.mark.parametrize("policy", sorted(INFRA))
def test_speech_infra_policies_hold_what_its_code_calls(policy):
    methods = sdk_methods()
    called: set[str] = set()
    for name in INFRA[policy]:
        text = (ROOT / "infra" / "src" / "cli" / f"{name}.ts").read_text()
        used = set(re.findall(r"\bcloud\.(\w+)\(", text)) - UNREACHED.get(policy, NOTHING) - {"region"}
        if "deployedTemplate(cloud" in text:  # of stack_runner.ts: whether there is a stack, then its template
            used |= {"stack", "template"} - UNREACHED.get(policy, NOTHING)
        assert used, name
        for method in used:
            called |= methods[method]
    assert called - actions(policy) == set(), "called but not granted"
    assert actions(policy) - called == set(), "granted but never called"


def test_every_command_of_the_client_is_in_some_policy():
    everything = set().union(*sdk_methods().values())
    assert everything == set().union(*(actions(policy) for policy in INFRA))


# What CloudFormation does with the caller's rights, for each type of resource (the handlers' permissions of its registry).
RESOURCES = {
    "AWS::S3::Bucket": ["s3:CreateBucket", "s3:DeleteBucket", "s3:GetBucketTagging", "s3:PutBucketTagging", "s3:PutBucketVersioning",
        "s3:PutBucketPublicAccessBlock", "s3:PutBucketOwnershipControls", "s3:PutEncryptionConfiguration",
        "s3:PutLifecycleConfiguration"],
    "AWS::S3::BucketPolicy": ["s3:GetBucketPolicy", "s3:PutBucketPolicy", "s3:DeleteBucketPolicy"],
    "AWS::ECR::Repository": ["ecr:CreateRepository", "ecr:DescribeRepositories", "ecr:PutImageScanningConfiguration",
        "ecr:PutImageTagMutability", "ecr:PutLifecyclePolicy", "ecr:GetLifecyclePolicy", "ecr:GetRepositoryPolicy",
        "ecr:ListTagsForResource", "ecr:TagResource", "ecr:UntagResource"],
    "AWS::IAM::Role": ["iam:CreateRole", "iam:DeleteRole", "iam:GetRole", "iam:UpdateRole", "iam:UpdateAssumeRolePolicy", "iam:TagRole",
        "iam:UntagRole", "iam:PassRole"],
    "AWS::IAM::Policy": ["iam:PutRolePolicy", "iam:DeleteRolePolicy", "iam:GetRolePolicy"],
    "AWS::IAM::RolePolicy": ["iam:PutRolePolicy", "iam:DeleteRolePolicy", "iam:GetRolePolicy"],
    "AWS::Logs::LogGroup": ["logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:DescribeLogGroups", "logs:PutRetentionPolicy",
        "logs:TagResource", "logs:UntagResource", "logs:ListTagsForResource"],
    "AWS::CodeBuild::Project": ["codebuild:CreateProject", "codebuild:UpdateProject", "codebuild:DeleteProject",
        "codebuild:BatchGetProjects"],
    "AWS::SageMaker::Model": ["sagemaker:CreateModel", "sagemaker:DeleteModel", "sagemaker:DescribeModel", "sagemaker:AddTags",
        "sagemaker:DeleteTags", "sagemaker:ListTags"],
    "AWS::SageMaker::EndpointConfig": ["sagemaker:CreateEndpointConfig", "sagemaker:DeleteEndpointConfig",
        "sagemaker:DescribeEndpointConfig", "sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"],
    "AWS::SageMaker::Endpoint": ["sagemaker:CreateEndpoint", "sagemaker:UpdateEndpoint", "sagemaker:DeleteEndpoint",
        "sagemaker:DescribeEndpoint", "sagemaker:AddTags", "sagemaker:DeleteTags", "sagemaker:ListTags"],
    "AWS::ApplicationAutoScaling::ScalableTarget": ["application-autoscaling:RegisterScalableTarget",
        "application-autoscaling:DeregisterScalableTarget", "application-autoscaling:DescribeScalableTargets",
        "application-autoscaling:TagResource", "application-autoscaling:UntagResource", "application-autoscaling:ListTagsForResource",
        "sagemaker:UpdateEndpointWeightsAndCapacities", "iam:CreateServiceLinkedRole"],
    "AWS::ApplicationAutoScaling::ScalingPolicy": ["application-autoscaling:PutScalingPolicy",
        "application-autoscaling:DeleteScalingPolicy", "application-autoscaling:DescribeScalingPolicies"],
    "AWS::CloudWatch::Alarm": ["cloudwatch:PutMetricAlarm", "cloudwatch:DeleteAlarms", "cloudwatch:DescribeAlarms",
        "cloudwatch:TagResource", "cloudwatch:UntagResource", "cloudwatch:ListTagsForResource"],
    "AWS::CloudWatch::Dashboard": ["cloudwatch:PutDashboard", "cloudwatch:DeleteDashboards", "cloudwatch:GetDashboard"],
}


def test_the_policy_for_cloudformation_covers_the_types_of_the_templates():
    types = set()
    for path in (ROOT / "infra" / "test" / "snapshots").glob("*.json"):
        types |= {resource["Type"] for resource in json.loads(path.read_text())["Resources"].values()}
    types |= {"AWS::IAM::RolePolicy"}  # only with an image of another repository
    assert types == set(RESOURCES)
    assert actions("speech-infra-cloudformation") == {action for kind in types for action in RESOURCES[kind]}


def test_policies_are_small_enough_to_attach():
    for path in IAM.glob("*.json"):
        assert len(re.sub(r"\s", "", path.read_text())) <= 6144, f"{path.name} is too long for a managed policy"
