"""tts-local's CloudWatch in all three protocols, Application Auto Scaling, quotas and STS, through boto3."""

import datetime

import botocore.exceptions
import pytest
from local_cloud import LocalCloud, make_endpoint, wait_for, wait_status

pytestmark = pytest.mark.alone

PROTOCOLS = ["json", "query", "smithy-rpc-v2-cbor"]
TARGET = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
          "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
DIMENSIONS = [{"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]
ALARM = {"AlarmName": "low", "Namespace": "AWS/SageMaker", "MetricName": "ConcurrentRequestsPerModel", "Dimensions": DIMENSIONS,
         "Period": 60, "Statistic": "Average", "EvaluationPeriods": 3, "DatapointsToAlarm": 3, "Threshold": 25.5,
         "ComparisonOperator": "LessThanThreshold", "TreatMissingData": "missing", "AlarmDescription": "a < b & c"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    local = LocalCloud(tmp_path_factory.mktemp("scaling") / "state")
    make_endpoint(local)
    yield local
    assert local.stop() == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_metric_data_go_in_and_come_out(cloud, protocol):
    cloudwatch = cloud.cloudwatch(protocol)
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    namespace = f"Test/{protocol}"
    cloudwatch.put_metric_data(Namespace=namespace, MetricData=[
        {"MetricName": "m", "Dimensions": DIMENSIONS, "Timestamp": now, "Value": 4.5, "Unit": "Count", "StorageResolution": 1},
        {"MetricName": "m", "Dimensions": DIMENSIONS, "Timestamp": now, "Values": [1.0, 2.0], "Counts": [3.0, 1.0], "Unit": "Count"},
        {"MetricName": "set", "Timestamp": now, "StatisticValues": {"SampleCount": 4, "Sum": 10, "Minimum": 1, "Maximum": 4}}])
    window = {"StartTime": now - datetime.timedelta(minutes=5), "EndTime": now + datetime.timedelta(minutes=5)}
    query = {"Id": "a", "MetricStat": {"Metric": {"Namespace": namespace, "MetricName": "m", "Dimensions": DIMENSIONS},
                                       "Period": 60, "Stat": "Average"}}
    result = cloudwatch.get_metric_data(**window, MetricDataQueries=[query])["MetricDataResults"][0]
    assert result["Values"] == [pytest.approx(9.5 / 5)] and result["StatusCode"] == "Complete"
    assert result["Timestamps"][0] == now.replace(second=0)
    points = cloudwatch.get_metric_statistics(**window, Namespace=namespace, MetricName="m", Dimensions=DIMENSIONS, Period=60,
                                              Statistics=["Maximum", "SampleCount", "Sum"])["Datapoints"]
    assert [(p["Maximum"], p["SampleCount"], p["Sum"], p["Unit"]) for p in points] == [(4.5, 5.0, 9.5, "Count")]
    points = cloudwatch.get_metric_statistics(**window, Namespace=namespace, MetricName="m", Dimensions=DIMENSIONS, Period=60,
                                              ExtendedStatistics=["p50", "p95"])["Datapoints"]
    assert points[0]["ExtendedStatistics"] == {"p50": 1.0, "p95": 4.5}
    listed = cloudwatch.list_metrics(Namespace=namespace)["Metrics"]
    assert sorted(m["MetricName"] for m in listed) == ["m", "set"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_large_put_comes_compressed(cloud, protocol):
    data = [{"MetricName": f"m{i}", "Value": float(i), "Dimensions": DIMENSIONS} for i in range(300)]
    cloud.cloudwatch(protocol).put_metric_data(Namespace=f"Large/{protocol}", MetricData=data)
    pages = cloud.cloudwatch("json").get_paginator("list_metrics").paginate(Namespace=f"Large/{protocol}")
    assert sum(len(page["Metrics"]) for page in pages) == 300


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_alarms_are_kept_field_by_field(cloud, protocol):
    cloudwatch = cloud.cloudwatch(protocol)
    cloudwatch.put_metric_alarm(**ALARM)
    alarm = cloudwatch.describe_alarms(AlarmNames=["low"])["MetricAlarms"][0]
    assert {k: alarm[k] for k in ALARM} == ALARM
    assert alarm["StateValue"] == "INSUFFICIENT_DATA" and alarm["ActionsEnabled"] is True
    math = {"AlarmName": "math", "EvaluationPeriods": 3, "Threshold": 0.0, "ComparisonOperator": "GreaterThanThreshold",
            "Metrics": [{"Id": "e1", "Expression": "m1 * 2", "ReturnData": True},
                        {"Id": "m1", "ReturnData": False, "MetricStat": {"Period": 10, "Stat": "Maximum", "Metric": {
                            "Namespace": "N", "MetricName": "m", "Dimensions": DIMENSIONS}}}]}
    cloudwatch.put_metric_alarm(**math)
    assert cloudwatch.describe_alarms(AlarmNamePrefix="mat")["MetricAlarms"][0]["Metrics"] == math["Metrics"]
    cloudwatch.delete_alarms(AlarmNames=["low", "math"])
    assert cloudwatch.describe_alarms()["MetricAlarms"] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_errors_carry_the_modelled_code(cloud, protocol):
    cloudwatch = cloud.cloudwatch(protocol)
    with pytest.raises(cloudwatch.exceptions.ResourceNotFound) as caught:
        cloudwatch.delete_alarms(AlarmNames=["absent"])
    assert caught.value.response["Error"]["Code"] == "ResourceNotFound"
    with pytest.raises(cloudwatch.exceptions.InvalidParameterValueException) as caught:
        cloudwatch.put_metric_data(Namespace="AWS/X", MetricData=[{"MetricName": "m", "Value": 1.0}])
    assert caught.value.response["Error"]["Code"] == "InvalidParameterValue"
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        cloudwatch.list_dashboards()
    assert caught.value.response["Error"]["Code"] == "InvalidAction"


def test_targets_policies_and_their_alarms(cloud):
    scaling, cloudwatch = cloud.client("application-autoscaling"), cloud.client("cloudwatch")
    with pytest.raises(scaling.exceptions.ObjectNotFoundException):
        scaling.put_scaling_policy(**TARGET, PolicyName="p", PolicyType="StepScaling", StepScalingPolicyConfiguration={
            "AdjustmentType": "ChangeInCapacity", "StepAdjustments": [{"MetricIntervalUpperBound": 0, "ScalingAdjustment": -1}]})
    with pytest.raises(scaling.exceptions.ValidationException):
        scaling.register_scalable_target(**{**TARGET, "ResourceId": "endpoint/none/variant/AllTraffic"}, MinCapacity=1, MaxCapacity=2)
    scaling.register_scalable_target(**TARGET, MinCapacity=1, MaxCapacity=3)
    flags = {"DynamicScalingInSuspended": True, "DynamicScalingOutSuspended": True, "ScheduledScalingSuspended": True}
    scaling.register_scalable_target(**TARGET, SuspendedState=flags)
    target = scaling.describe_scalable_targets(ServiceNamespace="sagemaker", ResourceIds=[TARGET["ResourceId"]])["ScalableTargets"][0]
    assert target["SuspendedState"] == flags and (target["MinCapacity"], target["MaxCapacity"]) == (1, 3)
    tracking = {"TargetValue": 37.5, "ScaleOutCooldown": 30, "DisableScaleIn": True, "PredefinedMetricSpecification": {
        "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}}
    put = scaling.put_scaling_policy(**TARGET, PolicyName="out", PolicyType="TargetTrackingScaling",
                                     TargetTrackingScalingPolicyConfiguration=tracking)
    assert [a["AlarmName"].split("-")[0] for a in put["Alarms"]] == ["TargetTracking"]
    high = cloudwatch.describe_alarms(AlarmNames=[put["Alarms"][0]["AlarmName"]])["MetricAlarms"][0]
    assert (high["Threshold"], high["Period"], high["EvaluationPeriods"]) == (37.5, 10, 3) and high["AlarmActions"] == [put["PolicyARN"]]
    steps = {"AdjustmentType": "ChangeInCapacity", "Cooldown": 960, "MetricAggregationType": "Average",
             "StepAdjustments": [{"MetricIntervalUpperBound": 0.0, "ScalingAdjustment": -1}]}
    arn = scaling.put_scaling_policy(**TARGET, PolicyName="in", PolicyType="StepScaling", StepScalingPolicyConfiguration=steps)["PolicyARN"]
    cloudwatch.put_metric_alarm(**{**ALARM, "AlarmActions": [arn]})
    policies = {p["PolicyName"]: p for p in scaling.describe_scaling_policies(ServiceNamespace="sagemaker")["ScalingPolicies"]}
    assert policies["out"]["TargetTrackingScalingPolicyConfiguration"] == tracking
    assert policies["in"]["StepScalingPolicyConfiguration"] == steps and policies["in"]["Alarms"][0]["AlarmName"] == "low"
    scaling.delete_scaling_policy(**TARGET, PolicyName="out")
    assert [a["AlarmName"] for a in cloudwatch.describe_alarms()["MetricAlarms"]] == ["low"]
    scaling.deregister_scalable_target(**TARGET)
    with pytest.raises(scaling.exceptions.ObjectNotFoundException):
        scaling.deregister_scalable_target(**TARGET)
    cloudwatch.delete_alarms(AlarmNames=["low"])


def test_a_higher_minimum_starts_instances_and_is_written_down(cloud):
    scaling, sagemaker = cloud.client("application-autoscaling"), cloud.client("sagemaker")
    scaling.register_scalable_target(**TARGET, MinCapacity=2, MaxCapacity=3)
    wait_for(lambda: sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"][0]["DesiredInstanceCount"] == 2)
    assert wait_status(sagemaker)["ProductionVariants"][0]["CurrentInstanceCount"] == 2
    activity = scaling.describe_scaling_activities(ServiceNamespace="sagemaker")["ScalingActivities"][0]
    assert activity["Cause"] == "minimum capacity was set to 2" and activity["StatusCode"] == "Successful"
    scaling.deregister_scalable_target(**TARGET)


def test_account_and_quota(cloud):
    assert cloud.client("sts").get_caller_identity()["Account"] == "000000000000"
    quotas = cloud.client("service-quotas")
    listed = quotas.get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker").build_full_result()["Quotas"]
    mine = next(q for q in listed if q["QuotaName"] == "ml.g5.xlarge for endpoint usage")
    assert quotas.get_service_quota(ServiceCode="sagemaker", QuotaCode=mine["QuotaCode"])["Quota"]["Value"] == 4.0
    with pytest.raises(quotas.exceptions.NoSuchResourceException):
        quotas.get_service_quota(ServiceCode="sagemaker", QuotaCode="L-00000000")


def test_tags_follow_sagemakers_rules(cloud):
    sagemaker = cloud.client("sagemaker")
    arn = sagemaker.describe_endpoint(EndpointName="e")["EndpointArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "headroom:freeze", "Value": "v1 run=ab desired=3 flags=010 t=1"}])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "headroom:freeze", "Value": "v1 run=ab desired=3 flags=010 t=1"}]
    with pytest.raises(botocore.exceptions.ClientError, match="ValidationException"):
        sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "k", "Value": '{"json": 1}'}])
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["headroom:freeze"])
    assert sagemaker.list_tags(ResourceArn=arn)["Tags"] == []
