"""The life of endpoints in tts-local: updates with two fleets, variants, lists, and what AWS refuses."""

import json
import threading
import time

import botocore.exceptions
import pytest
from local_cloud import LocalCloud, children, make_endpoint, wait_for, wait_status


@pytest.fixture
def cloud(tmp_path):
    local = LocalCloud(tmp_path / "state", "--quota", "8")
    yield local
    assert local.stop() == 0


def add_config(sagemaker, name, *variants, environment=None):
    sagemaker.create_model(ModelName=name, PrimaryContainer={"Image": f"image:{name}", "Environment": environment or {}})
    sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[
        {"VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1, **v}
        for v in (variants or ({},))])


def answer(runtime, name="e", **more):
    reply = runtime.invoke_endpoint(EndpointName=name, ContentType="application/json", Body=b"{}", **more)
    return json.loads(reply["Body"].read()), reply["InvokedProductionVariant"]


def test_an_update_changes_the_fleet_without_failing_a_request(cloud):
    sagemaker = make_endpoint(cloud, count=2, environment={"TTS_SLO_MS": "1"})
    add_config(sagemaker, "new", environment={"TTS_SLO_MS": "2"})
    stop, errors, seen = threading.Event(), [], []

    def load():
        runtime = cloud.client("sagemaker-runtime", check=False)
        while not stop.is_set():
            try:
                seen.append(answer(runtime)[0]["env"]["TTS_SLO_MS"])
            except Exception as error:  # noqa: BLE001 - every kind counts
                errors.append(error)

    threads = [threading.Thread(target=load) for _ in range(3)]
    for t in threads:
        t.start()
    sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="new")
    with pytest.raises(botocore.exceptions.ClientError, match="Cannot update in-progress endpoint"):
        sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="e")
    described = wait_status(sagemaker)
    stop.set()
    for t in threads:
        t.join()
    assert not errors and described["EndpointConfigName"] == "new"
    assert described["ProductionVariants"][0]["CurrentInstanceCount"] == 1 and len(children(cloud)) == 1
    turn = seen.index("2")
    assert turn > 0 and answer(cloud.client("sagemaker-runtime"))[0]["env"]["TTS_SLO_MS"] == "2"


def test_an_update_that_cannot_start_is_rolled_back(cloud):
    sagemaker = make_endpoint(cloud, environment={"TTS_SLO_MS": "1"})
    pids = children(cloud)
    add_config(sagemaker, "bad", environment={"TTS_FAKE_START": "fail"})
    sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="bad")
    during = sagemaker.describe_endpoint(EndpointName="e")
    assert during["EndpointStatus"] == "Updating" and during["EndpointConfigName"] == "e"
    assert during["PendingDeploymentSummary"]["EndpointConfigName"] == "bad"
    described = wait_status(sagemaker)
    assert "no model in /nowhere" in described["FailureReason"] and "rolled back" in described["FailureReason"]
    assert described["EndpointConfigName"] == "e" and children(cloud) == pids
    assert answer(cloud.client("sagemaker-runtime"))[0]["env"]["TTS_SLO_MS"] == "1"


def test_an_update_keeps_the_count_that_scaling_chose_when_asked(cloud):
    sagemaker = make_endpoint(cloud)
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="e", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 2}])
    wait_status(sagemaker)
    add_config(sagemaker, "new")
    sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="new", RetainAllVariantProperties=True)
    assert wait_status(sagemaker)["ProductionVariants"][0]["DesiredInstanceCount"] == 2


def test_variants_share_traffic_by_weight_and_can_be_named(cloud):
    sagemaker = cloud.client("sagemaker")
    add_config(sagemaker, "two", {"VariantName": "a", "InitialVariantWeight": 1}, {"VariantName": "b", "InitialVariantWeight": 3})
    sagemaker.create_endpoint(EndpointName="e", EndpointConfigName="two")
    wait_status(sagemaker)
    runtime = cloud.client("sagemaker-runtime")
    names = [answer(runtime)[1] for _ in range(60)]
    assert 28 < names.count("b") < 59  # 45 of 60 expected
    assert {answer(runtime, TargetVariant="a")[1] for _ in range(5)} == {"a"}
    sagemaker.update_endpoint_weights_and_capacities(EndpointName="e", DesiredWeightsAndCapacities=[
        {"VariantName": "a", "DesiredWeight": 0.0}, {"VariantName": "b", "DesiredWeight": 1.0}])
    described = wait_status(sagemaker)
    assert {v["VariantName"]: v["CurrentWeight"] for v in described["ProductionVariants"]} == {"a": 0.0, "b": 1.0}
    assert {answer(runtime)[1] for _ in range(30)} == {"b"}
    with pytest.raises(botocore.exceptions.ClientError, match="Variant c of endpoint e not found"):
        answer(runtime, TargetVariant="c")


def test_lists_are_paged_filtered_and_sorted(cloud):
    sagemaker = cloud.client("sagemaker")
    for i in range(23):
        sagemaker.create_model(ModelName=f"m{i:02}", PrimaryContainer={"Image": "i"})
    assert len(sagemaker.list_models()["Models"]) == 10
    pages = list(sagemaker.get_paginator("list_models").paginate(SortBy="Name", SortOrder="Ascending"))
    assert [m["ModelName"] for p in pages for m in p["Models"]] == [f"m{i:02}" for i in range(23)]
    found = sagemaker.list_models(NameContains="m2", MaxResults=100, SortBy="Name")["Models"]
    assert [m["ModelName"] for m in found] == ["m22", "m21", "m20"]
    assert sagemaker.list_models(CreationTimeBefore=0)["Models"] == []
    add_config(sagemaker, "c")
    assert [c["EndpointConfigName"] for c in sagemaker.list_endpoint_configs()["EndpointConfigs"]] == ["c"]
    sagemaker.create_endpoint(EndpointName="e", EndpointConfigName="c")
    wait_status(sagemaker)
    assert sagemaker.list_endpoints(StatusEquals="Failed")["Endpoints"] == []
    assert sagemaker.list_endpoints(StatusEquals="InService")["Endpoints"][0]["EndpointName"] == "e"


def test_names_taken_and_names_missing_are_refused_in_aws_words(cloud):
    sagemaker = make_endpoint(cloud)
    refused = {
        "Cannot create already existing model": lambda: sagemaker.create_model(ModelName="e", PrimaryContainer={"Image": "i"}),
        "Cannot create already existing endpoint configuration": lambda: sagemaker.create_endpoint_config(
            EndpointConfigName="e", ProductionVariants=[{"VariantName": "v", "ModelName": "e", "InstanceType": "ml.m5.large",
                                                         "InitialInstanceCount": 1}]),
        "Cannot create already existing endpoint \"": lambda: sagemaker.create_endpoint(EndpointName="e", EndpointConfigName="e"),
        "Could not find endpoint \"": lambda: sagemaker.describe_endpoint(EndpointName="x"),
        "Could not find endpoint configuration": lambda: sagemaker.create_endpoint(EndpointName="x", EndpointConfigName="x"),
        "Could not find model": lambda: sagemaker.delete_model(ModelName="x"),
    }
    for words, call in refused.items():
        with pytest.raises(botocore.exceptions.ClientError, match=words) as caught:
            call()
        assert caught.value.response["Error"]["Code"] == "ValidationException"


def test_case_25_load_stops_and_the_fleet_returns_to_the_minimum_although_metrics_go_missing(tmp_path):
    """cases.md 25, as far as the fleet goes: the scaling tests add the alarm. A target's bounds bring the count back."""
    local = LocalCloud(tmp_path / "state", "--control-token", "t")
    try:
        sagemaker = make_endpoint(local, count=3)
        local.control({"drop_metrics": True})
        target = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
                  "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
        local.client("application-autoscaling").register_scalable_target(**target, MinCapacity=1, MaxCapacity=1)
        wait_for(lambda: len(children(local)) == 1)
        assert wait_status(sagemaker)["ProductionVariants"][0]["CurrentInstanceCount"] == 1
    finally:
        assert local.stop() == 0


def test_a_deleted_endpoint_is_gone_while_it_is_updated(cloud):
    sagemaker = make_endpoint(cloud)
    add_config(sagemaker, "slow", environment={"TTS_FAKE_START": "hang"})
    sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="slow")
    wait_for(lambda: len(children(cloud)) == 2)
    time.sleep(0.2)
    sagemaker.delete_endpoint(EndpointName="e")
    wait_for(lambda: not sagemaker.list_endpoints()["Endpoints"] and not children(cloud))


@pytest.mark.soak
def test_a_container_that_never_answers_has_its_whole_time_and_not_more(cloud):
    """60 s for the download and 60 s for the health check, the least that SageMaker takes, in real time."""
    begun = time.monotonic()
    times = {"ContainerStartupHealthCheckTimeoutInSeconds": 60, "ModelDataDownloadTimeoutInSeconds": 60}
    sagemaker = make_endpoint(cloud, environment={"TTS_FAKE_START": "hang"}, wait=False, **times)
    described = wait_status(sagemaker, status="Failed", timeout=240)
    assert time.monotonic() - begun >= 120
    assert "did not pass the ping health check" in described["FailureReason"]
    wait_for(lambda: not children(cloud))
