"""Policies at work on tts-local: real instances on the paced engine, load up and down, and what the APIs tell of it."""

import datetime
import time

import pytest
from closed_loop import ClosedLoop
from local_cloud import BIN, SLOW, LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

TARGET = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
          "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
DIMENSIONS = [{"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]


def start(tmp_path, fast, quota, environment, *options):
    cloud = LocalCloud(tmp_path / "state", "--fast", str(fast), "--quota", str(quota), *options, serve=BIN / "tts-serve")
    make_endpoint(cloud, environment={"TTS_ENGINE": "paced", **environment})
    return cloud


def scale_out_policy(cloud, target, cooldown):
    return cloud.client("application-autoscaling").put_scaling_policy(
        **TARGET, PolicyName="out", PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
            "TargetValue": target, "ScaleOutCooldown": cooldown, "DisableScaleIn": True, "PredefinedMetricSpecification": {
                "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}})


def scale_in_policy(cloud, cooldown, **alarm):
    arn = cloud.client("application-autoscaling").put_scaling_policy(
        **TARGET, PolicyName="in", PolicyType="StepScaling", StepScalingPolicyConfiguration={
            "AdjustmentType": "ChangeInCapacity", "Cooldown": cooldown, "MetricAggregationType": "Average",
            "StepAdjustments": [{"MetricIntervalUpperBound": 0.0, "ScalingAdjustment": -1}]})["PolicyARN"]
    cloud.client("cloudwatch").put_metric_alarm(
        AlarmName="low", Namespace="AWS/SageMaker", Dimensions=DIMENSIONS, Period=60, EvaluationPeriods=3, DatapointsToAlarm=3,
        ComparisonOperator="LessThanThreshold", TreatMissingData="breaching", AlarmActions=[arn], **alarm)


class Watch:
    def __init__(self, cloud):
        self.sagemaker, self.scaling = cloud.client("sagemaker"), cloud.client("application-autoscaling")

    def counts(self):
        variant = self.sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"][0]
        return variant["DesiredInstanceCount"], variant["CurrentInstanceCount"]

    def causes(self):
        pages = self.scaling.get_paginator("describe_scaling_activities").paginate(ServiceNamespace="sagemaker")
        return [a["Cause"] for a in pages.build_full_result()["ScalingActivities"]]


def test_case_25_load_brings_capacity_and_its_end_takes_it_away_although_metrics_go_missing(tmp_path):
    cloud = start(tmp_path, 40, 3, {"TTS_SERVICE_MS": "100", "TTS_EMF": "true"}, "--provision-delay", "20s", "--control-token", "t")
    watch, cloudwatch = Watch(cloud), cloud.client("cloudwatch")
    cloud.client("application-autoscaling").register_scalable_target(**TARGET, MinCapacity=1, MaxCapacity=3)
    high = scale_out_policy(cloud, 4.0, 30)["Alarms"][0]["AlarmName"]
    # Requests alone count here: without load the metric has no datapoint at all, and from its end on nothing else arrives either.
    scale_in_policy(cloud, 60, MetricName="Invocations", Statistic="Sum", Threshold=60.0)
    load = ClosedLoop(cloud.url, n=12)
    wait_for(lambda: watch.counts() == (3, 3), 60)
    assert f"monitor alarm {high} in state ALARM triggered policy out" in watch.causes()
    history = cloudwatch.describe_alarm_history(AlarmName=high, HistoryItemType="StateUpdate")["AlarmHistoryItems"]
    assert any(item["HistorySummary"].endswith("to ALARM") for item in history)
    load.stop()
    cloud.control({"drop_metrics": True})
    stopped = datetime.datetime.now(datetime.UTC)
    assert load.ok > 0 and load.broken == 0
    wait_for(lambda: watch.counts() == (1, 1), 60)
    assert "monitor alarm low in state ALARM triggered policy in" in watch.causes()
    reason = cloudwatch.describe_alarms(AlarmNames=["low"])["MetricAlarms"][0]["StateReason"]
    assert "treated as [Breaching]" in reason, reason
    activities = cloud.client("application-autoscaling").describe_scaling_activities(**TARGET)["ScalingActivities"]
    # Planned: the last period with a datapoint, five without, an evaluation; then for the second instance a cooldown and another one.
    planned_s = (60 + 5 * 60 + 60 + 60 + 60) / 40
    assert (activities[0]["StartTime"] - stopped).total_seconds() < 2 * SLOW * planned_s, activities[0]
    ended = [a for a in activities if a["StatusCode"] == "Successful"]
    assert ended and all(a["EndTime"] >= a["StartTime"] for a in ended)
    # What the instances wrote into their logs, and what /proc says of them.
    wait_for(lambda: cloudwatch.list_metrics(Namespace="Headroom", MetricName="OfferedRequests", Dimensions=DIMENSIONS)["Metrics"], 30)
    used = cloudwatch.list_metrics(Namespace="/aws/sagemaker/Endpoints", Dimensions=DIMENSIONS)["Metrics"]
    assert sorted(m["MetricName"] for m in used) == ["CPUUtilization", "MemoryUtilization"]
    # What is left when the endpoint goes.
    watch.sagemaker.delete_endpoint(EndpointName="e")
    wait_for(lambda: not watch.sagemaker.list_endpoints()["Endpoints"], 30)
    assert len(watch.scaling.describe_scaling_policies(ServiceNamespace="sagemaker")["ScalingPolicies"]) == 2
    assert len(cloudwatch.describe_alarms()["MetricAlarms"]) == 2
    assert watch.scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    assert cloud.stop() == 0


def test_scheduled_actions_move_the_bounds(tmp_path):
    cloud = LocalCloud(tmp_path / "state", "--quota", "3")
    make_endpoint(cloud)
    watch = Watch(cloud)
    watch.scaling.register_scalable_target(**TARGET, MinCapacity=1, MaxCapacity=1)
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=8)  # a time that has passed is never carried out
    watch.scaling.put_scheduled_action(**TARGET, ScheduledActionName="noon", Schedule=f"at({soon:%Y-%m-%dT%H:%M:%S})",
                                       ScalableTargetAction={"MinCapacity": 2, "MaxCapacity": 3})
    watch.scaling.put_scheduled_action(**TARGET, ScheduledActionName="nightly", Schedule="cron(0 3 ? * MON-FRI *)", Timezone="UTC",
                                       ScalableTargetAction={"MaxCapacity": 1})
    with pytest.raises(watch.scaling.exceptions.ValidationException):
        watch.scaling.put_scheduled_action(**TARGET, ScheduledActionName="bad", Schedule="cron(* * * * * *)",
                                           ScalableTargetAction={"MaxCapacity": 1})
    listed = watch.scaling.describe_scheduled_actions(ServiceNamespace="sagemaker")["ScheduledActions"]
    assert [a["ScheduledActionName"] for a in listed] == ["noon", "nightly"]
    wait_for(lambda: watch.counts() == (2, 2), 60)
    causes = watch.causes()
    assert "scheduled action name noon was triggered" in causes and "minimum capacity was set to 2" in causes
    watch.scaling.delete_scheduled_action(**TARGET, ScheduledActionName="nightly")
    with pytest.raises(watch.scaling.exceptions.ObjectNotFoundException):
        watch.scaling.delete_scheduled_action(**TARGET, ScheduledActionName="nightly")
    assert cloud.stop() == 0


@pytest.mark.soak
def test_the_published_policy_rides_a_surge_and_comes_back(tmp_path):
    """37.5/25/30/960, one to nine, thirty times faster: through a surge within two minutes, back to one within six."""
    cloud = start(tmp_path, 30, 9, {"TTS_SERVICE_MS": "400", "MAX_QUEUE_DEPTH": "50"}, "--provision-delay", "180s")
    watch = Watch(cloud)
    watch.scaling.register_scalable_target(**TARGET, MinCapacity=1, MaxCapacity=9)
    scale_out_policy(cloud, 37.5, 30)
    scale_in_policy(cloud, 960, MetricName="ConcurrentRequestsPerModel", Statistic="Average", Threshold=25.0)
    load = ClosedLoop(cloud.url, n=5, backoff_s=1)
    time.sleep(4)
    assert watch.counts()[0] == 1
    surged = time.monotonic()
    load.hold(440)
    wait_for(lambda: watch.counts()[0] > 1, 30)
    lag = time.monotonic() - surged
    wait_for(lambda: watch.counts() == (9, 9), 120)
    out = time.monotonic() - surged
    load.hold(0)
    calm = time.monotonic()
    wait_for(lambda: watch.counts() == (1, 1), 360)
    back = time.monotonic() - calm
    load.stop()
    print(f"first reaction {lag:.1f} s ({30 * lag:.0f} s of cloud time), nine in {out:.0f} s, one in {back:.0f} s")
    # 60 s bound: three periods of 10 s and a cooldown of 30 s, here in a thirtieth, with a second for the machine.
    assert lag <= 60 / 30 + 1.0
    assert cloud.stop() == 0
