"""tts-local through boto3: the life of an endpoint, invocations, faults, and a restart. Answers fit botocore's models."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import botocore.exceptions
import pytest
from local_cloud import BIN, LocalCloud, alive, children, make_endpoint, wait_for, wait_status


@pytest.fixture
def cloud(tmp_path):
    local = LocalCloud(tmp_path / "state")
    yield local
    assert local.stop() == 0


@pytest.fixture
def paced(tmp_path):
    local = LocalCloud(tmp_path / "state", serve=BIN / "tts-serve")
    yield local
    assert local.stop() == 0


def invoke(runtime, body, name="e", **more):
    return runtime.invoke_endpoint(EndpointName=name, ContentType="application/json", Body=json.dumps(body), **more)


def stream(runtime, body, name="e", **more):
    reply = runtime.invoke_endpoint_with_response_stream(EndpointName=name, ContentType="application/json",
                                                         Body=json.dumps(body), **more)
    return reply, [event["PayloadPart"]["Bytes"] for event in reply["Body"]]


def scale(sagemaker, count, name="e"):
    sagemaker.update_endpoint_weights_and_capacities(
        EndpointName=name, DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": count}])


def variant(sagemaker, name="e"):
    return sagemaker.describe_endpoint(EndpointName=name)["ProductionVariants"][0]


def test_real_instances_are_created_invoked_both_ways_scaled_and_removed(paced):
    sagemaker = make_endpoint(paced, environment={"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "5", "TTS_OVERHEAD_MS": "1"})
    runtime = paced.client("sagemaker-runtime")
    reply = invoke(runtime, {"text": "Hello."})
    assert reply["Body"].read()[:4] == b"RIFF" and reply["InvokedProductionVariant"] == "AllTraffic"
    reply, parts = stream(runtime, {"text": "Hello there.", "format": "pcm", "stream": True})
    assert reply["ContentType"].startswith("audio/") and sum(map(len, parts)) > 10_000
    scale(sagemaker, 2)
    with pytest.raises(botocore.exceptions.ClientError, match="Cannot update in-progress endpoint"):
        scale(sagemaker, 3)
    assert wait_status(sagemaker)["ProductionVariants"][0]["CurrentInstanceCount"] == 2
    assert len(children(paced)) == 2
    scale(sagemaker, 1)
    assert wait_status(sagemaker)["ProductionVariants"][0]["CurrentInstanceCount"] == 1
    assert len(children(paced)) == 1
    sagemaker.describe_model(ModelName="e")
    sagemaker.describe_endpoint_config(EndpointConfigName="e")
    assert [row["EndpointName"] for row in sagemaker.list_endpoints()["Endpoints"]] == ["e"]
    sagemaker.delete_endpoint(EndpointName="e")
    wait_for(lambda: not sagemaker.list_endpoints()["Endpoints"])
    assert not children(paced)
    sagemaker.delete_endpoint_config(EndpointConfigName="e")
    sagemaker.delete_model(ModelName="e")


def test_logs_hold_the_stage_lines_of_each_instance(paced):
    make_endpoint(paced, count=2, environment={"TTS_ENGINE": "paced"})
    logs = paced.client("logs")
    group = "/aws/sagemaker/Endpoints/e"
    assert logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"][0]["logGroupName"] == group
    streams = logs.describe_log_streams(logGroupName=group)["logStreams"]
    assert len(streams) == 2 and all(s["logStreamName"].startswith("AllTraffic/i-") for s in streams)
    events = logs.get_log_events(logGroupName=group, logStreamName=streams[0]["logStreamName"], startFromHead=True)["events"]
    assert "STAGE container_start" in events[0]["message"]
    found = logs.filter_log_events(logGroupName=group, filterPattern='"STAGE ready"')["events"]
    assert sorted(e["logStreamName"] for e in found) == sorted(s["logStreamName"] for s in streams)


def test_concurrency_is_what_a_closed_loop_holds(paced):
    # A quarter of a second each: the client's own time between two requests must not matter, however busy the machine is.
    make_endpoint(paced, environment={"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "250", "TTS_OVERHEAD_MS": "1"})
    stop = time.monotonic() + 21

    def load():
        runtime = paced.client("sagemaker-runtime", check=False)
        while time.monotonic() < stop:
            stream(runtime, {"text": "Hello.", "format": "pcm", "stream": True})

    threads = [threading.Thread(target=load) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    cloudwatch = paced.client("cloudwatch")
    now = time.time()

    def ask(name, stat, period=10):
        query = {"Id": "q", "MetricStat": {"Metric": {"Namespace": "AWS/SageMaker", "MetricName": name, "Dimensions": [
            {"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]}, "Period": period, "Stat": stat}}
        return cloudwatch.get_metric_data(StartTime=now - 120, EndTime=now + 30, MetricDataQueries=[query],
                                          ScanBy="TimestampAscending")["MetricDataResults"][0]["Values"]

    assert max(ask("ConcurrentRequestsPerModel", "Maximum")) == 4.0
    assert 3.0 < max(ask("ConcurrentRequestsPerModel", "Average")) <= 4.0
    time.sleep(10)
    assert ask("FirstChunkLatency", "p50", 60)[-1] > 240_000
    assert sum(ask("InvocationModelErrors", "Sum")) == 0
    assert sum(ask("Invocations", "Sum")) > 30


def test_routing_prefers_the_idle_instance(cloud):
    make_endpoint(cloud, count=2)
    runtime = cloud.client("sagemaker-runtime", max_pool_connections=10)
    pids = {json.loads(invoke(runtime, {})["Body"].read())["pid"] for _ in range(40)}
    assert len(pids) == 2  # ties are broken at random
    busy = threading.Thread(target=lambda: invoke(runtime, {"do": "slow", "s": 2}))
    busy.start()
    time.sleep(0.5)
    assert len({json.loads(invoke(runtime, {})["Body"].read())["pid"] for _ in range(20)}) == 1
    busy.join()


def test_scaling_out_and_in_under_load_fails_no_request(cloud):
    sagemaker = make_endpoint(cloud)
    stop, errors, done = threading.Event(), [], []

    def load():
        runtime = cloud.client("sagemaker-runtime", check=False)
        while not stop.is_set():
            try:
                stream(runtime, {"do": "stream", "n": 5})
                done.append(1)
            except Exception as error:  # noqa: BLE001 - every kind counts
                errors.append(error)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for t in threads:
        t.start()
    for count in (3, 1, 2):
        scale(sagemaker, count)
        wait_status(sagemaker)
    stop.set()
    for t in threads:
        t.join()
    assert not errors and len(done) > 10


def test_headers_reach_the_container_and_the_client(cloud):
    make_endpoint(cloud)
    runtime = cloud.client("sagemaker-runtime")
    reply = invoke(runtime, {}, Accept="audio/wav", CustomAttributes="c1", InferenceId="i1")
    headers = json.loads(reply["Body"].read())["headers"]
    assert headers["accept"] == "audio/wav" and headers["content-type"] == "application/json"
    assert headers["x-amzn-sagemaker-custom-attributes"] == "c1" and headers["x-amzn-sagemaker-inference-id"] == "i1"
    assert headers["x-request-id"] == reply["ResponseMetadata"]["RequestId"]


def test_instances_see_only_the_allowed_environment(tmp_path):
    local = LocalCloud(tmp_path / "state", env={"SECRET_OF_TEST": "x", "LD_LIBRARY_PATH": "/x", "AWS_SECRET_ACCESS_KEY": "x"})
    try:
        make_endpoint(local, environment={"TTS_SLO_MS": "1000", "MAX_QUEUE_DEPTH": "50", "TTS_PORT": "1", "TTS_HOST": "0.0.0.0"})
        env = json.loads(invoke(local.client("sagemaker-runtime"), {})["Body"].read())["env"]
    finally:
        assert local.stop() == 0
    assert env["MAX_QUEUE_DEPTH"] == "50" and env["TTS_HOST"] == "127.0.0.1" and "TTS_PORT" not in env
    assert not {"SECRET_OF_TEST", "LD_LIBRARY_PATH", "AWS_SECRET_ACCESS_KEY"} & set(env)


@pytest.mark.parametrize("code", [400, 413, 500, 503])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_containers_refusal_is_a_model_error_with_its_status(cloud, code, streaming):
    make_endpoint(cloud)
    runtime = cloud.client("sagemaker-runtime")
    with pytest.raises(runtime.exceptions.ModelError) as caught:
        (stream if streaming else invoke)(runtime, {"do": "status", "code": code})
    answer = caught.value.response
    assert answer["OriginalStatusCode"] == code and "chosen" in answer["OriginalMessage"]
    assert "AllTraffic/i-" in answer["LogStreamArn"] and answer["ResponseMetadata"]["HTTPStatusCode"] == 424


@pytest.mark.parametrize("how", ["cut", "die-in-stream"])
def test_a_stream_that_breaks_off_raises(cloud, how):
    make_endpoint(cloud)
    with pytest.raises(botocore.exceptions.EventStreamError, match="ModelStreamError"):
        stream(cloud.client("sagemaker-runtime"), {"do": how})


def test_a_killed_instance_ends_its_requests_with_errors_and_is_replaced(paced):
    sagemaker = make_endpoint(paced, environment={"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "3000"})
    runtime = paced.client("sagemaker-runtime")
    outcomes = []

    def one(function, body):
        try:
            function(runtime, body)
            outcomes.append("ok")
        except botocore.exceptions.ClientError as error:
            outcomes.append(error.response["Error"]["Code"])

    threads = [threading.Thread(target=one, args=(f, {"text": "Hello.", "stream": f is stream})) for f in (invoke, stream)]
    for t in threads:
        t.start()
    time.sleep(0.5)
    first = children(paced)
    os.kill(first[0], signal.SIGKILL)
    for t in threads:
        t.join(20)
        assert not t.is_alive()
    assert outcomes == ["ModelError", "ModelError"]
    wait_for(lambda: children(paced) and children(paced) != first and variant(sagemaker)["CurrentInstanceCount"] == 1)
    stream(runtime, {"text": "Again.", "stream": True})


def test_instances_are_missed_also_where_ended_children_were_to_be_ignored(tmp_path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # handed down by whoever starts tts-local
    try:
        local = LocalCloud(tmp_path / "state")
    finally:
        signal.signal(signal.SIGCHLD, before)
    try:
        make_endpoint(local)
        first = children(local)
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: children(local) and children(local) != first)
        assert "signal 9" in local.log()
    finally:
        assert local.stop() == 0


def test_a_container_that_dies_while_it_answers_is_a_model_error(cloud):
    make_endpoint(cloud)
    runtime = cloud.client("sagemaker-runtime")
    with pytest.raises(runtime.exceptions.ModelError) as caught:
        invoke(runtime, {"do": "die"})
    assert caught.value.response["OriginalStatusCode"] == 0


def test_an_endpoint_whose_container_cannot_start_fails_and_says_why(cloud):
    sagemaker = make_endpoint(cloud, environment={"TTS_FAKE_START": "fail"}, wait=False)
    described = wait_status(sagemaker, status="Failed")
    assert "no model in /nowhere" in described["FailureReason"]
    with pytest.raises(botocore.exceptions.ClientError, match="ValidationError"):
        invoke(cloud.client("sagemaker-runtime"), {})


def test_a_new_instance_takes_no_request_before_it_is_ready(cloud):
    sagemaker = make_endpoint(cloud, environment={"TTS_FAKE_START": "hang"}, wait=False)
    wait_for(lambda: children(cloud))
    time.sleep(1)
    described = sagemaker.describe_endpoint(EndpointName="e")
    assert described["EndpointStatus"] == "Creating" and described["ProductionVariants"][0]["CurrentInstanceCount"] == 0
    with pytest.raises(botocore.exceptions.ClientError, match="ValidationError"):
        invoke(cloud.client("sagemaker-runtime"), {})


def test_the_quota_stops_a_fifth_instance(cloud):
    sagemaker = make_endpoint(cloud, count=2)
    with pytest.raises(sagemaker.exceptions.ResourceLimitExceeded, match="ml.g5.xlarge for endpoint usage"):
        scale(sagemaker, 5)
    assert variant(sagemaker)["DesiredInstanceCount"] == 2
    quota = cloud.client("service-quotas").get_service_quota(ServiceCode="sagemaker", QuotaCode="L-1928E07B")["Quota"]
    assert quota["Value"] == 4.0


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "a b", "%2e%2e", "-x", "x" * 64, "e\u0000", "é"])
def test_hostile_names_are_refused(cloud, name):
    for target, member in [("CreateModel", "ModelName"), ("CreateEndpoint", "EndpointName"), ("DescribeEndpoint", "EndpointName")]:
        status, body = post(cloud, {member: name, "EndpointConfigName": "c", "PrimaryContainer": {}}, f"SageMaker.{target}")
        assert status == 400 and body["__type"] == "ValidationException" and member in body["message"]
    path = urllib.parse.quote(name, safe="")
    status, body = post(cloud, {}, path=f"/endpoints/{path}/invocations")
    assert status in (400, 404)


def test_ld_preload_is_refused_by_name(cloud):
    with pytest.raises(botocore.exceptions.ClientError, match="'LD_PRELOAD' is not allowed") as caught:
        make_endpoint(cloud, environment={"LD_PRELOAD": "/tmp/x.so"})
    assert caught.value.response["Error"]["Code"] == "ValidationException"


def post(cloud, body, target="", path="/", headers=None, raw=None):
    request = urllib.request.Request(cloud.url + path, raw if raw is not None else json.dumps(body).encode(), {
        "Content-Type": "application/x-amz-json-1.1", **({"X-Amz-Target": target} if target else {}), **(headers or {})})
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.status, json.loads(reply.read() or b"{}")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}")


def test_unknown_operations_and_broken_bodies_have_the_proper_shape(cloud):
    assert post(cloud, {}, "SageMaker.MakeCoffee") == (400, {"__type": "UnknownOperationException", "message": (
        "operation 'MakeCoffee' of sagemaker is not offered by this cloud")})
    assert post(cloud, {}, "Nothing.X")[1]["__type"] == "UnknownOperationException"
    assert post(cloud, {}, path="/v1/x")[0] == 404
    for raw in (b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"EndpointName": 5}', b'{"EndpointName": {"a": 1}}'):
        status, body = post(cloud, None, "SageMaker.DescribeEndpoint", raw=raw)
        assert status == 400 and body["__type"] in ("SerializationException", "ValidationException"), raw[:20]


def test_a_form_whose_version_is_no_text_is_answered(cloud):
    status, _ = post(cloud, {}, raw=b"Version.a=1", headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert status == 400


def test_other_hosts_and_origins_are_not_answered(cloud):
    assert post(cloud, {}, "SageMaker.ListEndpoints", headers={"Host": "evil.example:4599"})[0] == 403
    assert post(cloud, {}, "SageMaker.ListEndpoints", headers={"Origin": "https://evil.example"})[0] == 403
    assert post(cloud, {}, "SageMaker.ListEndpoints", headers={"Host": "LOCALHOST"})[0] == 200


def test_signatures_are_checked_when_credentials_are_configured(tmp_path):
    local = LocalCloud(tmp_path / "state", "--credentials", "AKID:right")
    try:
        assert "signatures are checked" in local.first_line
        for service, call in [("sagemaker", "list_endpoints"), ("cloudwatch", "describe_alarms"), ("sts", "get_caller_identity")]:
            getattr(local.client(service, "AKID", "right"), call)()
            for key, secret in [("AKID", "wrong"), ("OTHER", "right")]:
                with pytest.raises(botocore.exceptions.ClientError) as caught:
                    getattr(local.client(service, key, secret), call)()
                assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
        with pytest.raises(botocore.exceptions.ClientError, match="ValidationError"):
            invoke(local.client("sagemaker-runtime", "AKID", "right"), {})
        with pytest.raises(botocore.exceptions.ClientError, match="InvalidSignatureException"):
            invoke(local.client("sagemaker-runtime", "AKID", "wrong"), {})
        make = local.client("cloudwatch", "AKID", "right").put_metric_data  # compressed
        make(Namespace="N", MetricData=[{"MetricName": f"m{i}", "Value": i} for i in range(500)])
        assert post(local, {}, "SageMaker.ListEndpoints")[1]["__type"] == "MissingAuthenticationTokenException"
    finally:
        assert local.stop() == 0


def test_another_address_needs_credentials(tmp_path):
    done = subprocess.run([BIN / "tts-local", "--host", "0.0.0.0", "--port", "0", "--state", tmp_path / "s"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--credentials" in done.stderr


def test_a_port_in_use_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([BIN / "tts-local", "--port", str(port), "--state", tmp_path / "s"],
                              capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and str(port) in done.stderr


def test_a_second_server_on_the_same_state_is_refused(cloud, tmp_path):
    done = subprocess.run([BIN / "tts-local", "--port", "0", "--state", tmp_path / "state"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f"pid {cloud.process.pid}" in done.stderr


def test_state_survives_kill_9_and_no_process_is_left(tmp_path):
    first = LocalCloud(tmp_path / "state")
    sagemaker = make_endpoint(first, count=2)
    arn = sagemaker.describe_endpoint(EndpointName="e")["EndpointArn"]
    sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "headroom:freeze", "Value": "v1 run=x desired=2 flags=000 t=1"}])
    target = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
              "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
    first.client("application-autoscaling").register_scalable_target(
        **target, MinCapacity=1, MaxCapacity=3, SuspendedState={"DynamicScalingInSuspended": True})
    pids = children(first)
    assert len(pids) == 2
    first.stop(signal.SIGKILL)
    second = LocalCloud(tmp_path / "state")
    try:
        assert not any(alive(p) for p in pids)
        sagemaker = second.client("sagemaker")
        assert wait_status(sagemaker)["ProductionVariants"][0]["CurrentInstanceCount"] == 2
        assert sagemaker.list_tags(ResourceArn=arn)["Tags"][0]["Value"].startswith("v1 run=x")
        saved = second.client("application-autoscaling").describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
        assert saved[0]["SuspendedState"]["DynamicScalingInSuspended"] is True
        assert (tmp_path / "state" / "state.json").stat().st_mode & 0o777 == 0o600
    finally:
        assert second.stop() == 0
    assert not any(alive(p) for p in pids)


def test_sigterm_lets_running_requests_finish(tmp_path):
    local = LocalCloud(tmp_path / "state")
    make_endpoint(local)
    runtime = local.client("sagemaker-runtime")
    got = []
    thread = threading.Thread(target=lambda: got.append(stream(runtime, {"do": "stream", "n": 20, "s": 0.1})[1]))
    thread.start()
    time.sleep(0.5)
    pids = children(local)
    assert local.stop() == 0
    thread.join()
    assert len(b"".join(got[0]).split(b"part-")) == 21
    assert not any(alive(p) for p in pids)


def test_up_ends_when_its_endpoint_is_deleted_meanwhile(tmp_path):
    model = tmp_path / "m.toml"
    model.write_text('endpoint = "speech"\n[instance]\nmin = 1\n[container]\nenvironment = { TTS_FAKE_START = "hang" }\n')
    local = LocalCloud(tmp_path / "state", command=("up", str(model)))
    try:
        sagemaker = local.client("sagemaker")
        wait_for(lambda: sagemaker.list_endpoints()["Endpoints"])
        sagemaker.delete_endpoint(EndpointName="speech")
        assert local.process.wait(60) != 0
        assert "Could not find endpoint" in local.log(), local.log()
    finally:
        local.stop()


def test_up_makes_the_endpoint_of_a_model_file(tmp_path):
    model = tmp_path / "m.toml"
    model.write_text('endpoint = "speech"\n[instance]\nmin = 1\n[container]\nenvironment = { TTS_ENGINE = "paced" }\n')
    for _ in range(2):  # the second time it is there already
        local = LocalCloud(tmp_path / "state", serve=BIN / "tts-serve", command=("up", str(model)))
        try:
            assert "endpoint speech is InService" in local.read_line(60)
            assert wait_status(local.client("sagemaker"), "speech")["ProductionVariants"][0]["CurrentInstanceCount"] == 1
            stream(local.client("sagemaker-runtime"), {"text": "Hello.", "stream": True}, "speech")
        finally:
            assert local.stop() == 0
    bad = subprocess.run([BIN / "tts-local", "up", "../x", "--port", "0", "--state", tmp_path / "t"], capture_output=True,
                         text=True, timeout=60)
    assert bad.returncode != 0 and "../x" in bad.stderr
