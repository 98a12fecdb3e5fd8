"""The load that instances tell of themselves (--emf) where tts-local's time runs faster: alarms see the rate of real time."""

import time

import pytest
from closed_loop import ClosedLoop
from local_cloud import BIN, LocalCloud, make_endpoint, wait_for

DIMENSIONS = [{"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]


@pytest.mark.soak
def test_offered_requests_have_their_rate_and_their_instances_in_fast_time(tmp_path):
    cloud = LocalCloud(tmp_path / "state", "--fast", "30", "--quota", "2", serve=BIN / "tts-serve")
    make_endpoint(cloud, count=2, environment={"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "100", "TTS_EMF": "true"})
    load = ClosedLoop(cloud.url, n=2)
    wait_for(lambda: load.ok >= 10)
    began, before = time.monotonic(), load.ok
    time.sleep(5)
    rate = (load.ok - before) / (time.monotonic() - began)
    cloudwatch = cloud.client("cloudwatch")

    def watch(name, statistic, threshold):
        cloudwatch.put_metric_alarm(
            AlarmName=name, Namespace="Headroom", MetricName="OfferedRequests", Dimensions=DIMENSIONS, Statistic=statistic, Period=60,
            EvaluationPeriods=3, DatapointsToAlarm=3, ComparisonOperator="GreaterThanThreshold", Threshold=threshold)

    # A minute lasts 2 s. Two instances write six lines each in it, whose counts add up to 60 times the rate.
    for name, statistic, threshold in (("some", "Sum", 0.6 * rate * 60), ("too many", "Sum", 1.6 * rate * 60),
                                       ("lines", "SampleCount", 9), ("too many lines", "SampleCount", 14)):
        watch(name, statistic, threshold)

    def states():
        return {a["AlarmName"]: a["StateValue"] for a in cloudwatch.describe_alarms()["MetricAlarms"]}

    wait_for(lambda: states() == {"some": "ALARM", "too many": "OK", "lines": "ALARM", "too many lines": "OK"}, timeout=40)
    load.stop()
    assert load.broken == 0 and cloud.stop() == 0
