"""A script of more than 150 calls, refused ones included: answers against botocore's models, codes against their error lists."""

import datetime
import time

import botocore.exceptions
import pytest
from local_cloud import LocalCloud, wait_status

# What AWS answers to any operation besides the errors that its model lists.
COMMON = {"ValidationException", "ValidationError", "SerializationException", "UnknownOperationException", "AccessDeniedException",
          "ThrottlingException", "MissingParameter", "InvalidParameterValue", "InvalidParameterCombination"}
ARN = "arn:aws:sagemaker:us-east-1:000000000000:"
LONG, BAD = "x" * 64, "a b/../c"
V = {"VariantName": "AllTraffic", "ModelName": "m", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}
DIM = "sagemaker:variant:DesiredInstanceCount"
T = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic", "ScalableDimension": DIM}
ALARM = {"AlarmName": "a", "Namespace": "AWS/SageMaker", "MetricName": "ConcurrentRequestsPerModel", "Period": 10, "Statistic": "Maximum",
         "EvaluationPeriods": 3, "Threshold": 5.0, "ComparisonOperator": "GreaterThanThreshold"}
NOW = datetime.datetime.now(datetime.UTC)
HOUR = {"StartTime": NOW - datetime.timedelta(hours=1), "EndTime": NOW}
METRIC = {"Namespace": "AWS/SageMaker", "MetricName": "Invocations",
          "Dimensions": [{"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]}
TRACK = {"TargetValue": 5.0, "PredefinedMetricSpecification": {
    "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}, "ScaleInCooldown": 300, "ScaleOutCooldown": 30}
STEP = {"AdjustmentType": "ChangeInCapacity", "StepAdjustments": [{"MetricIntervalUpperBound": 0.0, "ScalingAdjustment": -1}],
        "Cooldown": 300}
GROUP = "/aws/sagemaker/Endpoints/e"


def query(**more):
    return {"Id": "q", "MetricStat": {"Metric": METRIC, "Period": 60, "Stat": "Sum"}, **more}


# (service, operation, parameters, "" for an answer or a word that the refusal holds)
SETUP = [
    ("sagemaker", "create_model", {"ModelName": "m", "PrimaryContainer": {"Image": "i:1", "Environment": {"TTS_SLO_MS": "1"}},
                                   "Tags": [{"Key": "k", "Value": "v"}]}, ""),
    ("sagemaker", "create_model", {"ModelName": "m2", "Containers": [{"Image": "i:2"}]}, ""),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "c", "ProductionVariants": [V], "Tags": [{"Key": "k", "Value": ""}]},
     ""),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "c2", "ProductionVariants": [
        {**V, "VariantName": "a"}, {**V, "VariantName": "b", "ModelName": "m2", "InitialVariantWeight": 0.5}]}, ""),
    ("sagemaker", "create_endpoint", {"EndpointName": "e", "EndpointConfigName": "c", "Tags": [{"Key": "k", "Value": "v"}]}, ""),
]
CALLS = [
    # models
    ("sagemaker", "create_model", {"ModelName": "m", "PrimaryContainer": {"Image": "i"}}, "already existing"),
    ("sagemaker", "create_model", {"ModelName": BAD, "PrimaryContainer": {"Image": "i"}}, "regular expression"),
    ("sagemaker", "create_model", {"ModelName": LONG, "PrimaryContainer": {"Image": "i"}}, "odelName"),
    ("sagemaker", "create_model", {"ModelName": "", "PrimaryContainer": {"Image": "i"}}, "length"),
    ("sagemaker", "create_model", {"ModelName": "x"}, "PrimaryContainer"),
    ("sagemaker", "create_model", {"ModelName": "x", "Containers": [{"Image": "i"}, {"Image": "i"}]}, "one container"),
    ("sagemaker", "create_model", {"ModelName": "x", "PrimaryContainer": {"Image": "i", "Environment": {"PATH": "x"}}}, "PATH"),
    ("sagemaker", "create_model", {"ModelName": "x", "PrimaryContainer": {"Image": "i", "ModelDataUrl": "ftp://x"}}, "file://"),
    ("sagemaker", "create_model", {"ModelName": "x", "PrimaryContainer": {"Image": "i" * 300}}, "255"),
    ("sagemaker", "create_model", {"ModelName": "x", "PrimaryContainer": {"Image": "i"}, "Tags": [{"Key": "a\u0001", "Value": "v"}]},
     "tags"),
    ("sagemaker", "create_model", {"ModelName": "x", "PrimaryContainer": {"Image": "i"}, "Tags": [{"Key": "aws:x", "Value": "v"}]}, "aws:"),
    ("sagemaker", "describe_model", {"ModelName": "m"}, ""),
    ("sagemaker", "describe_model", {"ModelName": "m2"}, ""),
    ("sagemaker", "describe_model", {"ModelName": "none"}, "Could not find model"),
    ("sagemaker", "delete_model", {"ModelName": "none"}, "Could not find model"),
    ("sagemaker", "list_models", {}, ""),
    ("sagemaker", "list_models", {"MaxResults": 1, "SortBy": "Name", "SortOrder": "Ascending"}, ""),
    ("sagemaker", "list_models", {"NameContains": "2"}, ""),
    ("sagemaker", "list_models", {"CreationTimeAfter": NOW - datetime.timedelta(days=1)}, ""),
    ("sagemaker", "list_models", {"MaxResults": 0}, "axResults"),
    ("sagemaker", "list_models", {"MaxResults": 101}, "axResults"),
    ("sagemaker", "list_models", {"SortBy": "Size"}, "enum"),
    ("sagemaker", "list_models", {"NextToken": "nonsense"}, "oken"),
    # endpoint configs
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "c", "ProductionVariants": [V]}, "already existing"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": BAD, "ProductionVariants": [V]}, "regular expression"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": []}, "elements"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [V] * 11}, "elements"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [V, V]}, "same VariantName"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [{**V, "ModelName": "none"}]},
     "Could not find"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [{**V, "InstanceType": "huge"}]},
     "nstanceType"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [{**V, "InitialInstanceCount": 0}]}, "Count"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [{**V, "InitialVariantWeight": -1.0}]},
     "Weight"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [
        {**V, "ContainerStartupHealthCheckTimeoutInSeconds": 59}]}, "Timeout"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [
        {**V, "ModelDataDownloadTimeoutInSeconds": 3601}]}, "Timeout"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [
        {**V, "RoutingConfig": {"RoutingStrategy": "BEST"}}]}, "enum"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "x", "ProductionVariants": [
        {**V, "ServerlessConfig": {"MemorySizeInMB": 1024, "MaxConcurrency": 1}}]}, "Serverless"),
    ("sagemaker", "create_endpoint_config", {"EndpointConfigName": "c3", "ProductionVariants": [
        {**V, "ContainerStartupHealthCheckTimeoutInSeconds": 600, "ModelDataDownloadTimeoutInSeconds": 600, "EnableSSMAccess": True,
         "RoutingConfig": {"RoutingStrategy": "RANDOM"}, "InferenceAmiVersion": "al2-ami-sagemaker-inference-gpu-2"}]}, ""),
    ("sagemaker", "describe_endpoint_config", {"EndpointConfigName": "c3"}, ""),
    ("sagemaker", "describe_endpoint_config", {"EndpointConfigName": "c2"}, ""),
    ("sagemaker", "describe_endpoint_config", {"EndpointConfigName": "none"}, "Could not find endpoint configuration"),
    ("sagemaker", "list_endpoint_configs", {}, ""),
    ("sagemaker", "list_endpoint_configs", {"NameContains": "3", "SortBy": "CreationTime"}, ""),
    ("sagemaker", "list_endpoint_configs", {"SortOrder": "Sideways"}, "enum"),
    ("sagemaker", "delete_endpoint_config", {"EndpointConfigName": "c3"}, ""),
    ("sagemaker", "delete_endpoint_config", {"EndpointConfigName": "c3"}, "Could not find"),
    # endpoints
    ("sagemaker", "create_endpoint", {"EndpointName": "e", "EndpointConfigName": "c"}, "already existing"),
    ("sagemaker", "create_endpoint", {"EndpointName": "-e", "EndpointConfigName": "c"}, "regular expression"),
    ("sagemaker", "create_endpoint", {"EndpointName": "x", "EndpointConfigName": "none"}, "Could not find endpoint configuration"),
    ("sagemaker", "create_endpoint", {"EndpointName": "x"}, "EndpointConfigName"),
    ("sagemaker", "describe_endpoint", {"EndpointName": "e"}, ""),
    ("sagemaker", "describe_endpoint", {"EndpointName": "none"}, "Could not find endpoint"),
    ("sagemaker", "describe_endpoint", {}, "ndpointName"),
    ("sagemaker", "describe_endpoint", {"EndpointName": 5}, "string"),
    ("sagemaker", "list_endpoints", {}, ""),
    ("sagemaker", "list_endpoints", {"StatusEquals": "InService", "NameContains": "e", "LastModifiedTimeAfter": 0}, ""),
    ("sagemaker", "list_endpoints", {"StatusEquals": "Sleeping"}, "enum"),
    ("sagemaker", "list_endpoints", {"CreationTimeBefore": 0, "SortBy": "Status"}, ""),
    ("sagemaker", "update_endpoint", {"EndpointName": "none", "EndpointConfigName": "c"}, "Could not find endpoint"),
    ("sagemaker", "update_endpoint", {"EndpointName": "e", "EndpointConfigName": "none"}, "Could not find endpoint configuration"),
    ("sagemaker", "update_endpoint", {"EndpointName": "e", "EndpointConfigName": "c2", "DeploymentConfig": {
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": {"Type": "LINEAR", "WaitIntervalInSeconds": 1}}}}, "not offered"),
    ("sagemaker", "update_endpoint", {"EndpointName": "e", "EndpointConfigName": "c2", "DeploymentConfig": {
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": {"Type": "X", "WaitIntervalInSeconds": 1}}}}, "enum"),
    ("sagemaker", "update_endpoint", {"EndpointName": "e", "EndpointConfigName": "c2", "ExcludeRetainedVariantProperties": [
        {"VariantPropertyType": "X"}]}, "enum"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "e", "DesiredWeightsAndCapacities": []}, "element"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "e", "DesiredWeightsAndCapacities": [
        {"VariantName": "none", "DesiredInstanceCount": 1}]}, "not present"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "e", "DesiredWeightsAndCapacities": [
        {"VariantName": "AllTraffic", "DesiredInstanceCount": 0}]}, "at least 1"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "e", "DesiredWeightsAndCapacities": [
        {"VariantName": "AllTraffic", "DesiredInstanceCount": 99}]}, "service limit"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "e", "DesiredWeightsAndCapacities": [
        {"VariantName": "AllTraffic", "DesiredWeight": -1.0}]}, "DesiredWeight"),
    ("sagemaker", "update_endpoint_weights_and_capacities", {"EndpointName": "none", "DesiredWeightsAndCapacities": [
        {"VariantName": "AllTraffic", "DesiredInstanceCount": 1}]}, "Could not find"),
    ("sagemaker", "delete_endpoint", {"EndpointName": "none"}, "Could not find"),
    # tags
    ("sagemaker", "list_tags", {"ResourceArn": ARN + "endpoint/e"}, ""),
    ("sagemaker", "list_tags", {"ResourceArn": ARN + "model/m"}, ""),
    ("sagemaker", "list_tags", {"ResourceArn": ARN + "endpoint-config/c", "MaxResults": 50}, ""),
    ("sagemaker", "list_tags", {"ResourceArn": ARN + "endpoint/none"}, "Could not find"),
    ("sagemaker", "list_tags", {"ResourceArn": "x"}, "Could not find"),
    ("sagemaker", "add_tags", {"ResourceArn": ARN + "endpoint/e", "Tags": [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": ""}]}, ""),
    ("sagemaker", "add_tags", {"ResourceArn": ARN + "endpoint/e", "Tags": [{"Key": "aws:a", "Value": "b"}]}, "aws:"),
    ("sagemaker", "add_tags", {"ResourceArn": ARN + "endpoint/e", "Tags": [{"Key": "x" * 129, "Value": "b"}]}, "128"),
    ("sagemaker", "add_tags", {"ResourceArn": ARN + "endpoint/e", "Tags": [{"Key": "a", "Value": "<b>"}]}, "letters"),
    ("sagemaker", "add_tags", {"ResourceArn": ARN + "endpoint/e", "Tags": [{"Key": f"k{i}", "Value": ""} for i in range(51)]}, "50"),
    ("sagemaker", "delete_tags", {"ResourceArn": ARN + "endpoint/e", "TagKeys": ["a", "unknown"]}, ""),
    ("sagemaker", "delete_tags", {"ResourceArn": ARN + "endpoint/none", "TagKeys": ["a"]}, "Could not find"),
    # what is not offered
    ("sagemaker", "list_training_jobs", {}, "not offered"),
    ("sagemaker", "create_inference_component", {"InferenceComponentName": "x", "EndpointName": "e"}, "not offered"),
    ("sts", "get_session_token", {}, "not offered"),
    ("logs", "create_log_group", {"logGroupName": "x"}, "not offered"),
    ("service-quotas", "list_services", {}, "not offered"),
    ("application-autoscaling", "get_predictive_scaling_forecast", {**T, "PolicyName": "p", **HOUR}, "not offered"),
    ("cloudwatch", "list_dashboards", {}, "not offered"),
    # runtime
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b"{}"}, ""),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b"{}", "TargetVariant": "AllTraffic", "InferenceId": "i"}, ""),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b"{}", "TargetVariant": "none"}, "not found"),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "none", "Body": b"{}"}, "not found"),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b"{}", "TargetModel": "m"}, "multi-model"),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b'{"do": "status", "code": 503}'}, "chosen"),
    ("sagemaker-runtime", "invoke_endpoint", {"EndpointName": "e", "Body": b"no json"}, "invalid_json"),
    ("sagemaker-runtime", "invoke_endpoint_with_response_stream", {"EndpointName": "none", "Body": b"{}"}, "not found"),
    ("sagemaker-runtime", "invoke_endpoint_with_response_stream", {"EndpointName": "e", "Body": b'{"do": "status", "code": 400}'},
     "chosen"),
    ("sagemaker-runtime", "invoke_endpoint_async", {"EndpointName": "e", "InputLocation": "s3://b/k"}, ""),
    # scaling
    ("application-autoscaling", "register_scalable_target", {**T, "MinCapacity": 1, "MaxCapacity": 3}, ""),
    ("application-autoscaling", "register_scalable_target", {**T, "MaxCapacity": 2}, ""),
    ("application-autoscaling", "register_scalable_target", {**T, "MinCapacity": 3, "MaxCapacity": 1}, "apacity"),
    ("application-autoscaling", "register_scalable_target", {**T, "ServiceNamespace": "x", "MinCapacity": 1, "MaxCapacity": 1}, "amespace"),
    ("application-autoscaling", "register_scalable_target", {**T, "ResourceId": "x", "MinCapacity": 1, "MaxCapacity": 1}, "esource"),
    ("application-autoscaling", "register_scalable_target", {**T, "SuspendedState": {"DynamicScalingInSuspended": True}}, ""),
    ("application-autoscaling", "describe_scalable_targets", {"ServiceNamespace": "sagemaker"}, ""),
    ("application-autoscaling", "describe_scalable_targets", {"ServiceNamespace": "sagemaker", "ResourceIds": ["endpoint/x/variant/v"]},
     ""),
    ("application-autoscaling", "describe_scalable_targets", {}, "amespace"),
    ("application-autoscaling", "describe_scalable_targets", {"ServiceNamespace": "sagemaker", "NextToken": "nonsense"}, "oken"),
    ("application-autoscaling", "put_scaling_policy", {**T, "PolicyName": "p", "PolicyType": "TargetTrackingScaling",
                                                       "TargetTrackingScalingPolicyConfiguration": TRACK}, ""),
    ("application-autoscaling", "put_scaling_policy", {**T, "PolicyName": "s", "PolicyType": "StepScaling",
                                                       "StepScalingPolicyConfiguration": STEP}, ""),
    ("application-autoscaling", "put_scaling_policy", {**T, "PolicyName": "p", "PolicyType": "Wish"}, "olicyType"),
    ("application-autoscaling", "put_scaling_policy", {**T, "PolicyName": "y", "PolicyType": "TargetTrackingScaling"}, "onfiguration"),
    ("application-autoscaling", "put_scaling_policy", {**T, "ResourceId": "endpoint/x/variant/v", "PolicyName": "p",
                                                       "PolicyType": "TargetTrackingScaling",
                                                       "TargetTrackingScalingPolicyConfiguration": TRACK}, "arget"),
    ("application-autoscaling", "describe_scaling_policies", {"ServiceNamespace": "sagemaker"}, ""),
    ("application-autoscaling", "describe_scaling_policies", {"ServiceNamespace": "sagemaker", "PolicyNames": ["p"], "MaxResults": 1}, ""),
    ("application-autoscaling", "describe_scaling_activities", {"ServiceNamespace": "sagemaker"}, ""),
    ("application-autoscaling", "describe_scaling_activities", {"ServiceNamespace": "sagemaker", "ResourceId": T["ResourceId"]}, ""),
    ("application-autoscaling", "delete_scaling_policy", {**T, "PolicyName": "none"}, "olic"),
    ("application-autoscaling", "delete_scaling_policy", {**T, "PolicyName": "s"}, ""),
    ("application-autoscaling", "deregister_scalable_target", {**T, "ResourceId": "endpoint/x/variant/v"}, "arget"),
    # CloudWatch
    ("cloudwatch", "get_metric_data", {**HOUR, "MetricDataQueries": [query()]}, ""),
    ("cloudwatch", "get_metric_data", {**HOUR, "MetricDataQueries": [query(Label="l")], "ScanBy": "TimestampAscending"}, ""),
    ("cloudwatch", "get_metric_data", {**HOUR, "MetricDataQueries": [
        query(MetricStat={"Metric": METRIC, "Period": 60, "Stat": "p95"}), query(Id="q2")]}, ""),
    ("cloudwatch", "get_metric_data", {**HOUR, "MetricDataQueries": [query(), query()]}, "q"),
    ("cloudwatch", "get_metric_data", {**HOUR, "MetricDataQueries": [
        query(MetricStat={"Metric": METRIC, "Period": 60, "Stat": "Loudest"})]}, "oudest"),
    ("cloudwatch", "get_metric_data", {"StartTime": NOW, "EndTime": HOUR["StartTime"], "MetricDataQueries": [query()]}, "Time"),
    ("cloudwatch", "get_metric_statistics", {**HOUR, **METRIC, "Period": 60, "Statistics": ["Sum", "Average"]}, ""),
    ("cloudwatch", "get_metric_statistics", {**HOUR, **METRIC, "Period": 60, "ExtendedStatistics": ["p95"]}, ""),
    ("cloudwatch", "get_metric_statistics", {**HOUR, **METRIC, "Period": 60}, "tatistics"),
    ("cloudwatch", "list_metrics", {}, ""),
    ("cloudwatch", "list_metrics", {"Namespace": "AWS/SageMaker", "MetricName": "Invocations"}, ""),
    ("cloudwatch", "list_metrics", {"Namespace": "none"}, ""),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Value": 1.0, "StorageResolution": 1}]}, ""),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [
        {"MetricName": "m", "StatisticValues": {"SampleCount": 2.0, "Sum": 3.0, "Minimum": 1.0, "Maximum": 2.0}}]}, ""),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Values": [1.0, 2.0], "Counts": [1.0, 3.0]}]},
     ""),
    ("cloudwatch", "put_metric_data", {"Namespace": "AWS/x", "MetricData": [{"MetricName": "m", "Value": 1.0}]}, "AWS/"),
    ("cloudwatch", "put_metric_data", {"Namespace": "n", "MetricData": [{"MetricName": "m", "Values": [1.0], "Counts": [1.0, 2.0]}]},
     "ount"),
    ("cloudwatch", "put_metric_alarm", ALARM, ""),
    ("cloudwatch", "put_metric_alarm", {**ALARM, "AlarmName": "b", "TreatMissingData": "notBreaching", "DatapointsToAlarm": 2}, ""),
    ("cloudwatch", "put_metric_alarm", {**ALARM, "ComparisonOperator": "Odd"}, "omparison"),
    ("cloudwatch", "put_metric_alarm", {**ALARM, "DatapointsToAlarm": 4}, "atapoints"),
    ("cloudwatch", "put_metric_alarm", {**ALARM, "TreatMissingData": "hope"}, "issing"),
    ("cloudwatch", "describe_alarms", {}, ""),
    ("cloudwatch", "describe_alarms", {"AlarmNames": ["a"], "MaxRecords": 1}, ""),
    ("cloudwatch", "describe_alarms", {"AlarmNamePrefix": "a", "StateValue": "OK"}, ""),
    ("cloudwatch", "describe_alarms", {"StateValue": "LOUD"}, "tate"),
    ("cloudwatch", "delete_alarms", {"AlarmNames": ["b"]}, ""),
    # logs
    ("logs", "describe_log_groups", {}, ""),
    ("logs", "describe_log_groups", {"logGroupNamePrefix": GROUP, "limit": 1}, ""),
    ("logs", "describe_log_groups", {"limit": 0}, "limit"),
    ("logs", "describe_log_streams", {"logGroupName": GROUP}, ""),
    ("logs", "describe_log_streams", {"logGroupName": GROUP, "orderBy": "LastEventTime", "descending": True, "limit": 1}, ""),
    ("logs", "describe_log_streams", {"logGroupName": "none"}, "group"),
    ("logs", "describe_log_streams", {"logGroupName": GROUP, "orderBy": "Mood"}, "enum"),
    ("logs", "get_log_events", {"logGroupName": GROUP, "logStreamName": "none"}, "stream"),
    ("logs", "filter_log_events", {"logGroupName": GROUP}, ""),
    ("logs", "filter_log_events", {"logGroupName": GROUP, "filterPattern": '"STAGE"', "limit": 5}, ""),
    ("logs", "filter_log_events", {"logGroupName": "none"}, "group"),
    ("logs", "filter_log_events", {"logGroupName": GROUP, "limit": 0}, "limit"),
    # quotas, identity
    ("service-quotas", "get_service_quota", {"ServiceCode": "sagemaker", "QuotaCode": "L-1928E07B"}, ""),
    ("service-quotas", "get_service_quota", {"ServiceCode": "sagemaker", "QuotaCode": "L-00000000"}, "does not exist"),
    ("service-quotas", "get_service_quota", {"ServiceCode": "none", "QuotaCode": "L-1928E07B"}, "does not exist"),
    ("service-quotas", "list_service_quotas", {"ServiceCode": "sagemaker"}, ""),
    ("service-quotas", "list_service_quotas", {"ServiceCode": "sagemaker", "MaxResults": 3}, ""),
    ("service-quotas", "list_service_quotas", {"ServiceCode": "none"}, "does not exist"),
    ("service-quotas", "list_service_quotas", {"ServiceCode": "sagemaker", "NextToken": "nonsense"}, "oken"),
    ("sts", "get_caller_identity", {}, ""),
    # the end
    ("application-autoscaling", "deregister_scalable_target", T, ""),
    ("sagemaker", "delete_endpoint", {"EndpointName": "e"}, ""),
    ("sagemaker", "delete_endpoint_config", {"EndpointConfigName": "c"}, ""),
    ("sagemaker", "delete_model", {"ModelName": "m"}, ""),
]
NOT_OFFERED = {"invoke_endpoint_async"}  # a path of its own: refused with 404


def modelled(client, method):
    model = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    codes = {s.name for s in model.error_shapes}
    return codes | {s.metadata.get("error", {}).get("code", s.name) for s in model.error_shapes}


def call(client, method, parameters, word):
    """Makes one call; what was wrong with its answer, or nothing. The answer's shape is checked by the client itself."""
    try:
        reply = getattr(client, method)(**parameters)
    except botocore.exceptions.ClientError as error:
        code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if word == "":
            return f"refused: {code}: {message}"
        if word not in message:
            return f"the refusal does not say '{word}': {code}: {message}"
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        known = modelled(client, method) | COMMON | ({"InvalidAction"} if word == "not offered" else set())
        return None if code in known and 400 <= status < 500 else f"{code} ({status}) is none of {sorted(known)}"
    if "Body" in reply:
        reply["Body"].read()
    return None if word == "" else f"was answered instead of refused ({word})"


def test_more_than_150_calls_are_answered_as_the_models_say(tmp_path):
    assert len(SETUP) + len(CALLS) >= 150
    cloud = LocalCloud(tmp_path / "state", "--quota", "8")
    faults, clients = [], {}
    try:
        for rows in (SETUP, CALLS):
            for service, method, parameters, word in rows:
                if service not in clients:
                    clients[service] = cloud.client(service, parameter_validation=False)
                if method in NOT_OFFERED:
                    with pytest.raises(botocore.exceptions.ClientError):
                        getattr(clients[service], method)(**parameters)
                    continue
                fault = call(clients[service], method, parameters, word)
                if fault:
                    faults.append(f"{service}.{method} {str(parameters)[:150]}: {fault}")
            if rows is SETUP:
                wait_status(clients["sagemaker"])
                time.sleep(0.1)
    finally:
        assert cloud.stop() == 0
    assert not faults, "\n".join(faults)
