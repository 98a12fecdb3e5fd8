"""Alarms that are evaluated, their history, metric math and percentiles, in all three protocols, through boto3."""

import datetime
import time

import botocore.exceptions
import pytest
from local_cloud import LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

PROTOCOLS = ["json", "query", "smithy-rpc-v2-cbor"]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    local = LocalCloud(tmp_path_factory.mktemp("alarms") / "state", "--fast", "60")
    yield local
    assert local.stop() == 0


def metric(name, stat="Sum", period=60, namespace="Math"):
    return {"Metric": {"Namespace": namespace, "MetricName": name}, "Period": period, "Stat": stat}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_metric_math_over_what_was_put(cloud, protocol):
    cloudwatch = cloud.cloudwatch(protocol)
    start = datetime.datetime.now(datetime.UTC).replace(second=0, microsecond=0) - datetime.timedelta(minutes=3)
    minutes = [start + datetime.timedelta(minutes=i) for i in range(3)]
    space = f"Math/{protocol}"
    cloudwatch.put_metric_data(Namespace=space, MetricData=[
        {"MetricName": "a", "Timestamp": t, "Value": v} for t, v in zip(minutes, (1.0, 4.0, 10.0), strict=True)] + [
        {"MetricName": "b", "Timestamp": minutes[0], "Value": 2.0}, {"MetricName": "b", "Timestamp": minutes[2], "Value": 5.0}])
    queries = [{"Id": "a", "MetricStat": metric("a", namespace=space)},
               {"Id": "b", "MetricStat": metric("b", namespace=space), "ReturnData": False}]
    for i, (expression, expected) in enumerate([
            ("a + b", [3.0, 15.0]), ("SUM([a, b])", [3.0, 4.0, 15.0]), ("FILL(b, 0) / PERIOD(b)", [2 / 60, 0.0, 5 / 60]),
            ("IF(a > 3, a, 0)", [0.0, 4.0, 10.0]), ("RATE(a)", [0.05, 0.1]), ("MAX(METRICS()) * 2", [4.0, 8.0, 20.0]),
            ("TIME_SERIES(7)", [7.0, 7.0, 7.0]), ("AVG(METRICS())", [1.5, 4.0, 7.5]), ("MIN([a, FILL(b, REPEAT)])", [1.0, 2.0, 5.0])]):
        answer = cloudwatch.get_metric_data(StartTime=start, EndTime=start + datetime.timedelta(minutes=3), ScanBy="TimestampAscending",
                                            MetricDataQueries=[*queries, {"Id": f"e{i}", "Expression": expression, "Label": "sum"}])
        results = {r["Id"]: r for r in answer["MetricDataResults"]}
        assert set(results) == {"a", f"e{i}"} and results["a"]["Values"] == [1.0, 4.0, 10.0]
        assert results[f"e{i}"]["Values"] == pytest.approx(expected), expression
        assert results[f"e{i}"]["Label"] == "sum"
    for expression in ("SEARCH('x', 'Sum')", "a +", "nothing * 2", "SUM(a)"):
        with pytest.raises(botocore.exceptions.ClientError, match="(?i)expression"):
            cloudwatch.get_metric_data(StartTime=start, EndTime=start + datetime.timedelta(minutes=3),
                                       MetricDataQueries=[*queries, {"Id": "e", "Expression": expression}])


def test_an_alarm_rings_and_its_history_says_so(cloud):
    cloudwatch, name, space = cloud.client("cloudwatch"), "high", "Ring"
    cloudwatch.put_metric_alarm(AlarmName=name, Namespace=space, MetricName="m", ExtendedStatistic="p90", Period=60, EvaluationPeriods=3,
                                DatapointsToAlarm=2, Threshold=5.0, ComparisonOperator="GreaterThanThreshold")

    def state(value):
        cloudwatch.put_metric_data(Namespace=space, MetricData=[{"MetricName": "m", "Values": [1.0, value], "Counts": [1.0, 9.0]}])
        return cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"][0]["StateValue"]

    wait_for(lambda: state(9.0) == "ALARM", 20, every=0.2)
    reason = cloudwatch.describe_alarms(AlarmNames=[name], StateValue="ALARM")["MetricAlarms"][0]["StateReason"]
    assert reason.startswith("Threshold Crossed: ") and "greater than the threshold (5)" in reason
    wait_for(lambda: state(2.0) == "OK", 20, every=0.2)
    wait_for(lambda: cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"][0]["StateValue"] == "INSUFFICIENT_DATA", 30)
    for protocol in PROTOCOLS:
        pages = cloud.cloudwatch(protocol).get_paginator("describe_alarm_history").paginate(
            AlarmName=name, ScanBy="TimestampAscending", PaginationConfig={"PageSize": 2})
        items = pages.build_full_result()["AlarmHistoryItems"]
        assert items[0]["HistoryItemType"] == "ConfigurationUpdate" and items[0]["HistorySummary"] == f'Alarm "{name}" created'
        changes = [i["HistorySummary"] for i in items if i["HistoryItemType"] == "StateUpdate"]
        assert any(c.endswith("to ALARM") for c in changes) and "Alarm updated from ALARM to OK" in changes
        assert changes[-1].endswith("to INSUFFICIENT_DATA")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_state_can_be_set_by_hand(cloud, protocol):
    cloudwatch, name = cloud.cloudwatch(protocol), f"hand-{protocol}"
    cloudwatch.put_metric_alarm(AlarmName=name, Namespace="None", MetricName="m", Statistic="Sum", Period=86400, EvaluationPeriods=1,
                                Threshold=1.0, ComparisonOperator="LessThanThreshold", TreatMissingData="ignore",
                                AlarmActions=["arn:aws:sns:us-east-1:000000000000:topic"])
    cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="a trial", StateReasonData='{"why": 1}')
    alarm = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"][0]
    assert (alarm["StateValue"], alarm["StateReason"]) == ("ALARM", "a trial")
    action = cloudwatch.describe_alarm_history(AlarmName=name, HistoryItemType="Action")["AlarmHistoryItems"]
    assert "not carried out" in action[0]["HistorySummary"]
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        cloudwatch.set_alarm_state(AlarmName="absent", StateValue="OK", StateReason="r")
    assert caught.value.response["Error"]["Code"] in ("ResourceNotFound", "ResourceNotFoundException")
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="OK", StateReason="r", StateReasonData="{")
    assert "InvalidFormat" in caught.value.response["Error"]["Code"]


def test_metrics_alarms_policies_and_activities_survive_a_restart(tmp_path):
    cloud = LocalCloud(tmp_path / "state")
    make_endpoint(cloud)
    scaling, cloudwatch = cloud.client("application-autoscaling"), cloud.client("cloudwatch")
    target = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
              "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
    scaling.register_scalable_target(**target, MinCapacity=2, MaxCapacity=3)
    scaling.put_scaling_policy(**target, PolicyName="out", PolicyType="TargetTrackingScaling", TargetTrackingScalingPolicyConfiguration={
        "TargetValue": 5.0, "PredefinedMetricSpecification": {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"}})
    wait_for(lambda: scaling.describe_scaling_activities(**target)["ScalingActivities"], 20)
    cloudwatch.put_metric_data(Namespace="N", MetricData=[{"MetricName": "m", "Values": [1.0, 7.0]}])
    now = datetime.datetime.now(datetime.UTC)

    def seen(local):
        watch, auto = local.client("cloudwatch"), local.client("application-autoscaling")
        points = watch.get_metric_statistics(Namespace="N", MetricName="m", Period=60, StartTime=now - datetime.timedelta(minutes=2),
                                             EndTime=now + datetime.timedelta(minutes=2), ExtendedStatistics=["p50"], Statistics=["Sum"])
        return (points["Datapoints"], sorted(a["AlarmName"] for a in watch.describe_alarms()["MetricAlarms"]),
                auto.describe_scaling_policies(**{k: target[k] for k in ("ServiceNamespace",)})["ScalingPolicies"],
                [(a["ActivityId"], a["Cause"]) for a in auto.describe_scaling_activities(**target)["ScalingActivities"]])

    before = seen(cloud)
    assert before[0][0]["Sum"] == 8.0 and len(before[1]) == 2
    assert cloud.stop() == 0
    again = LocalCloud(tmp_path / "state")
    assert seen(again) == before
    time.sleep(0.2)
    assert again.stop() == 0
