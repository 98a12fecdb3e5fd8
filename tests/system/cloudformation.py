"""A small CloudFormation: reads a template and makes its resources through the real APIs, in the order their references ask for."""

import re

import botocore.validate

PSEUDO = {"AWS::Partition": "aws", "AWS::AccountId": "000000000000", "AWS::Region": "us-east-1", "AWS::URLSuffix": "amazonaws.com"}
# What CloudFormation handles itself, or what a local cloud does not offer; their properties are still resolved.
SKIPPED = {"AWS::CloudWatch::Dashboard", "AWS::IAM::RolePolicy"}


class Stack:
    """The resources of one template, applied to a cloud."""

    def __init__(self, cloud, template: dict, parameters: dict | None = None):
        self.cloud = cloud
        self.resources = template["Resources"]
        self.parameters = parameters or {}
        self.physical: dict[str, str] = {}  # what Ref gives
        self.attributes: dict[tuple[str, str], str] = {}
        self.skipped: dict[str, dict] = {}

    def create(self) -> None:
        for name in self.order():
            self.make(name)

    def order(self) -> list[str]:
        done: list[str] = []

        def visit(name: str) -> None:
            if name in done:
                return
            for other in self.references(self.resources[name]):
                visit(other)
            done.append(name)

        for name in self.resources:
            visit(name)
        return done

    def references(self, resource: dict) -> list[str]:
        found = resource.get("DependsOn", [])
        found = [found] if isinstance(found, str) else list(found)

        def look(value) -> None:
            if isinstance(value, dict):
                if set(value) == {"Ref"}:
                    found.append(value["Ref"])
                elif set(value) == {"Fn::GetAtt"}:
                    found.append(value["Fn::GetAtt"][0])
                for one in value.values():
                    look(one)
            elif isinstance(value, list):
                for one in value:
                    look(one)

        look(resource.get("Properties", {}))
        return [name for name in found if name in self.resources]

    def resolve(self, value):
        if isinstance(value, list):
            return [self.resolve(one) for one in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"Ref"}:
            return {**PSEUDO, **self.parameters, **self.physical}[value["Ref"]]
        if set(value) == {"Fn::GetAtt"}:
            return self.attributes[tuple(value["Fn::GetAtt"])]
        if set(value) == {"Fn::Join"}:
            separator, parts = value["Fn::Join"]
            return separator.join(self.resolve(part) for part in parts)
        if set(value) == {"Fn::Sub"}:
            return re.sub(r"\$\{([^}]+)\}", lambda match: {**PSEUDO, **self.parameters, **self.physical}[match[1]], value["Fn::Sub"])
        return {key: self.resolve(one) for key, one in value.items()}

    def make(self, name: str) -> None:
        resource = self.resources[name]
        properties = self.resolve(resource.get("Properties", {}))
        kind = resource["Type"]
        if kind in SKIPPED:
            self.skipped[name] = properties
            return
        {"AWS::SageMaker::Model": self.model, "AWS::SageMaker::EndpointConfig": self.endpoint_config,
         "AWS::SageMaker::Endpoint": self.endpoint, "AWS::ApplicationAutoScaling::ScalableTarget": self.target,
         "AWS::ApplicationAutoScaling::ScalingPolicy": self.policy, "AWS::CloudWatch::Alarm": self.alarm}[kind](name, properties)

    def call(self, service: str, operation: str, **parameters):
        """The call, after its whole input was held against AWS's own model: the local cloud takes less than AWS."""
        client = self.cloud.client(service)
        method = client.meta.method_to_api_mapping[operation]
        shape = client.meta.service_model.operation_model(method).input_shape
        report = botocore.validate.ParamValidator().validate(parameters, shape)
        assert not report.has_errors(), f"{method}: {report.generate_report()}"
        return getattr(client, operation)(**parameters)

    def model(self, name: str, properties: dict) -> None:
        container = dict(properties["PrimaryContainer"])
        source = container.pop("ModelDataSource", None)  # the weights of a local cloud are a folder
        if source:
            assert source["S3DataSource"]["S3Uri"].endswith("/"), "a prefix ends in a slash"
        self.call("sagemaker", "create_model", **{**properties, "ModelName": f"stack-{name}", "PrimaryContainer": container})
        self.physical[name] = self.attributes[name, "ModelName"] = f"stack-{name}"

    def endpoint_config(self, name: str, properties: dict) -> None:
        self.call("sagemaker", "create_endpoint_config", EndpointConfigName=f"stack-{name}", **properties)
        self.physical[name] = self.attributes[name, "EndpointConfigName"] = f"stack-{name}"

    def endpoint(self, name: str, properties: dict) -> None:
        properties.pop("RetainAllVariantProperties")  # of UpdateEndpoint
        self.call("sagemaker", "create_endpoint", **properties)
        self.physical[name] = properties["EndpointName"]

    def target(self, name: str, properties: dict) -> None:
        tags = {tag["Key"]: tag["Value"] for tag in properties.pop("Tags", [])}
        self.call("application-autoscaling", "register_scalable_target", Tags=tags, **properties)
        self.physical[name] = "|".join(properties[key] for key in ("ResourceId", "ScalableDimension", "ServiceNamespace"))

    def policy(self, name: str, properties: dict) -> None:
        resource, dimension, namespace = properties.pop("ScalingTargetId").split("|")
        put = self.call("application-autoscaling", "put_scaling_policy", ResourceId=resource, ScalableDimension=dimension,
                        ServiceNamespace=namespace, **properties)
        self.physical[name] = put["PolicyARN"]

    def alarm(self, name: str, properties: dict) -> None:
        self.call("cloudwatch", "put_metric_alarm", **properties)
        self.physical[name] = properties["AlarmName"]
