"""The life of an endpoint through boto3, whatever its version: life.py URL NAME. Prints a line per step."""

import datetime
import json
import sys
import time

import boto3
import botocore.config
import botocore.exceptions

url, name = sys.argv[1:3]
quiet = botocore.config.Config(retries={"total_max_attempts": 1})


def client(service):
    return boto3.client(service, endpoint_url=url, region_name="us-east-1", aws_access_key_id="AKID", aws_secret_access_key="right",
                        config=quiet)


def step(text):
    print("ok " + text, flush=True)


def refused(code, call, **parameters):
    try:
        call(**parameters)
    except botocore.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        return
    raise AssertionError(f"not refused with {code}")


def wait_in_service(count=None):
    for _ in range(600):
        described = sagemaker.describe_endpoint(EndpointName=name)
        assert described["EndpointStatus"] != "Failed", described
        if described["EndpointStatus"] == "InService" and count in (None, described["ProductionVariants"][0]["CurrentInstanceCount"]):
            return
        time.sleep(0.1)
    raise AssertionError("never InService")


sagemaker, runtime, scaling = client("sagemaker"), client("sagemaker-runtime"), client("application-autoscaling")
cloudwatch = client("cloudwatch")
sagemaker.create_model(ModelName=name, PrimaryContainer={"Image": "image:1", "Environment": {
    "TTS_ENGINE": "paced", "TTS_SERVICE_MS": "20", "TTS_OVERHEAD_MS": "1"}})
sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[{
    "VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}])
sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
wait_in_service()
refused("ValidationException", sagemaker.create_endpoint, EndpointName=name, EndpointConfigName=name)
step("create")
body = {"text": "Hello there.", "format": "pcm", "stream": True}
assert len(runtime.invoke_endpoint(EndpointName=name, ContentType="application/json", Body=json.dumps(body))["Body"].read()) > 1000
refused("ModelError", runtime.invoke_endpoint, EndpointName=name, ContentType="application/json", Body="{}")
step("invoke")
reply = runtime.invoke_endpoint_with_response_stream(EndpointName=name, ContentType="application/json", Body=json.dumps(body))
assert sum(len(e["PayloadPart"]["Bytes"]) for e in reply["Body"]) > 1000
step("stream")
target = {"ServiceNamespace": "sagemaker", "ResourceId": f"endpoint/{name}/variant/AllTraffic",
          "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
scaling.register_scalable_target(**target, MinCapacity=2, MaxCapacity=3)
scaling.put_scaling_policy(**target, PolicyName="p", PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
    "TargetValue": 5.0, "CustomizedMetricSpecification": {"Namespace": "n", "MetricName": "m", "Statistic": "Average"}})
wait_in_service(2)
assert "minimum capacity" in scaling.describe_scaling_activities(ServiceNamespace="sagemaker")["ScalingActivities"][0]["Cause"]
refused("ObjectNotFoundException", scaling.delete_scaling_policy, **target, PolicyName="none")
step("scale")
arn = scaling.put_scaling_policy(**target, PolicyName="up", PolicyType="StepScaling", StepScalingPolicyConfiguration={
    "AdjustmentType": "ChangeInCapacity", "StepAdjustments": [{"MetricIntervalLowerBound": 0.0, "ScalingAdjustment": 1}]})["PolicyARN"]
cloudwatch.put_metric_alarm(AlarmName="up", Namespace="n", MetricName="load", Statistic="Average", Period=60, EvaluationPeriods=1,
                            Threshold=1.0, ComparisonOperator="GreaterThanThreshold", AlarmActions=[arn])
cloudwatch.set_alarm_state(AlarmName="up", StateValue="ALARM", StateReason="a trial")
wait_in_service(3)
causes = [a["Cause"] for a in scaling.describe_scaling_activities(**target)["ScalingActivities"]]
assert "monitor alarm up in state ALARM triggered policy up" in causes, causes
assert any("to ALARM" in item["HistorySummary"] for item in cloudwatch.describe_alarm_history(AlarmName="up")["AlarmHistoryItems"])
cloudwatch.delete_alarms(AlarmNames=["up"])
step("alarm")
assert cloudwatch.describe_alarms()["MetricAlarms"]
cloudwatch.put_metric_data(Namespace="n", MetricData=[{"MetricName": "m", "Value": float(i)} for i in range(500)])
now = datetime.datetime.now(datetime.timezone.utc)  # noqa: UP017 - also of Python 3.10
minute = datetime.timedelta(minutes=1)
data = cloudwatch.get_metric_data(StartTime=now - 10 * minute, EndTime=now + minute, MetricDataQueries=[
    {"Id": "q", "MetricStat": {"Metric": {"Namespace": "n", "MetricName": "m"}, "Period": 60, "Stat": "SampleCount"}}])
assert sum(data["MetricDataResults"][0]["Values"]) == 500
step("metrics")
assert client("logs").filter_log_events(logGroupName=f"/aws/sagemaker/Endpoints/{name}", filterPattern='"STAGE ready"')["events"]
assert client("service-quotas").get_service_quota(ServiceCode="sagemaker", QuotaCode="L-1928E07B")["Quota"]["Value"] >= 4
step("logs and quotas")
scaling.deregister_scalable_target(**target)
sagemaker.delete_endpoint(EndpointName=name)
while sagemaker.list_endpoints(NameContains=name)["Endpoints"]:
    time.sleep(0.1)
sagemaker.delete_endpoint_config(EndpointConfigName=name)
sagemaker.delete_model(ModelName=name)
refused("ValidationException", sagemaker.describe_endpoint, EndpointName=name)
step("delete")
