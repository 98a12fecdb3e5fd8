"""InvokeEndpointWithBidirectionalStream in tts-local: HTTP/2 over TLS, signed events, bridged to the container's WebSocket."""

import json
import os
import random
import socket
import ssl
import subprocess
import time

import pytest
from bidi_client import BidiStream
from local_cloud import BIN, FAKE, LocalCloud, alive, children, make_endpoint, wait_for

PACED = {"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "20", "TTS_OVERHEAD_MS": "1"}


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    local = LocalCloud(tmp_path_factory.mktemp("bidi") / "state", "--credentials", "AKID:right", "--control-token", "t",
                       serve=BIN / "tts-serve")
    make_endpoint(local, environment=PACED, key="AKID", secret="right")
    yield local
    assert local.stop() == 0


@pytest.fixture
def connect(cloud):
    streams = []

    def make(**more):
        streams.append(BidiStream(cloud.bidi_port, cloud.ca, **{"key": "AKID", "secret": "right", **more}))
        return streams[-1]

    yield make
    for stream in streams:
        stream.close()


def texts(stream):
    return [json.loads(payload) for headers, payload in stream.events() if headers.get("DataType") == "UTF8"]


def audio(stream):
    return b"".join(payload for headers, payload in stream.events() if headers.get("DataType") == "BINARY")


def spoken(count):
    return lambda s: sum(t.get("type") == "synthesis_complete" for t in texts_so_far(s)) >= count


def texts_so_far(stream):
    whole, data = 0, stream.data
    while len(data) - whole >= 4 and len(data) - whole >= (size := int.from_bytes(data[whole:whole + 4], "big")):
        whole += size
    kept, stream.data = stream.data, data[:whole]
    try:
        return texts(stream)
    finally:
        stream.data = kept


@pytest.mark.parametrize("seed", ["events", "empty"])
def test_text_goes_in_and_audio_comes_out_while_the_stream_is_open(connect, seed):
    stream = connect(seed=seed)
    for i in range(2):  # a second request on the same stream, after the first was answered
        stream.send(json.dumps({"text": "Hello there.", "request_id": f"r{i}"}).encode())
        stream.wait(spoken(i + 1))
    assert stream.status == 200 and stream.headers["content-type"] == "application/vnd.amazon.eventstream"
    assert stream.headers["x-amzn-invoked-production-variant"] == "AllTraffic"
    stream.send(b'{"type": "close"}')
    stream.end()
    stream.finish()
    assert [t["type"] for t in texts(stream)].count("synthesis_start") == 2
    assert len(audio(stream)) > 10_000 and len(audio(stream)) % 2 == 0
    for headers, _ in stream.events():
        assert headers[":message-type"] == "event" and headers[":event-type"] == "PayloadPart"
        assert headers["CompletionState"] == "COMPLETE"


def test_a_client_that_ends_its_input_still_hears_the_rest(connect):
    stream = connect()
    stream.send(json.dumps({"text": "Hello there. " * 5}).encode())
    stream.end()
    stream.finish()
    assert texts(stream)[-1]["type"] == "synthesis_complete" and stream.reset is None


def test_partial_events_are_one_message_and_events_may_straddle_data_frames(connect):
    stream = connect()
    whole = json.dumps({"text": "Cut in the middle."}).encode()
    stream.send(whole[:7], state="PARTIAL", piece=11)
    stream.send(whole[7:], data_type=None, piece=5)
    stream.wait(spoken(1))


def test_a_wrong_event_signature_ends_the_stream_with_an_error(connect):
    stream = connect()
    stream.send(json.dumps({"text": "Good."}).encode())
    stream.wait(spoken(1))
    stream.send(json.dumps({"text": "Bad."}).encode(), spoil=True)
    stream.finish()
    headers, _ = stream.events()[-1]
    assert headers[":message-type"] == "error" and headers[":error-code"] == "InvalidSignatureException"


@pytest.mark.parametrize(("more", "status", "code"), [
    ({"secret": "wrong"}, 403, "InvalidSignatureException"),
    ({"key": "OTHER"}, 403, "UnrecognizedClientException"),
    ({"region": "eu-west-1"}, 403, "InvalidSignatureException"),
    ({"skew_s": -600.0}, 403, "InvalidSignatureException"),
    ({"endpoint": "none"}, 400, "InputValidationError"),
    ({"path": "/other"}, 404, "UnknownOperationException"),
    ({"headers": {"x-amzn-sagemaker-target-variant": "none"}}, 400, "InputValidationError"),
    ({"headers": {"x-amzn-sagemaker-model-invocation-path": "../../x"}}, 400, "InputValidationError"),
    ({"headers": {"x-amzn-sagemaker-model-invocation-path": "no-such-route"}}, 424, "ModelError"),
])
def test_refusals_before_the_stream_are_a_status_with_a_type(connect, more, status, code):
    stream = connect(**more).finish()
    assert (stream.status, stream.headers["x-amzn-errortype"]) == (status, code), stream.data
    assert json.loads(stream.data)["Message"]


def test_a_broken_frame_is_an_exception_event(connect):
    stream = connect()
    stream.send(json.dumps({"text": "Good."}).encode())
    stream.wait(spoken(1))
    stream.send_raw(b"\x00\x00\x00\x10nonsense" * 3)
    stream.finish()
    headers, payload = stream.events()[-1]
    assert headers[":exception-type"] == "InputValidationError" and json.loads(payload)["Message"]


def test_input_that_ends_inside_an_event_is_an_exception_event(connect):
    stream = connect()
    stream.send(json.dumps({"text": "Good."}).encode())
    stream.wait(spoken(1))
    stream.send_raw(stream.event(b"x")[:40])
    stream.end(signed=False)
    stream.finish()
    assert stream.events()[-1][0][":exception-type"] == "InputValidationError"


def test_an_instance_killed_in_mid_stream_is_a_model_stream_error(cloud, connect):
    stream = connect()
    stream.send(json.dumps({"text": "One sentence here. " * 100}).encode())
    stream.wait(lambda s: len(s.data) > 2000)
    cloud.control({"kill": {"endpoint": "e"}})
    stream.finish()
    headers, payload = stream.events()[-1]
    assert headers[":exception-type"] == "ModelStreamError" and json.loads(payload)["ErrorCode"] == "StreamBroken"
    sagemaker = cloud.client("sagemaker", "AKID", "right")

    def serving():
        return sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"][0]["CurrentInstanceCount"]

    wait_for(lambda: not serving())  # the dead one counts until its end has been seen
    wait_for(serving)


def test_a_client_that_leaves_frees_its_place(cloud, connect):
    stream = connect()
    stream.send(json.dumps({"text": "One sentence here. " * 200}).encode())
    stream.wait(lambda s: len(s.data) > 2000)
    stream.close()
    cloudwatch = cloud.client("cloudwatch", "AKID", "right")

    def level():
        now = time.time()
        metric = {"Namespace": "AWS/SageMaker", "MetricName": "ConcurrentRequestsPerModel", "Dimensions": [
            {"Name": "EndpointName", "Value": "e"}, {"Name": "VariantName", "Value": "AllTraffic"}]}
        query = {"Id": "q", "MetricStat": {"Metric": metric, "Period": 10, "Stat": "Minimum"}}
        found = cloudwatch.get_metric_data(StartTime=now - 60, EndTime=now + 10, MetricDataQueries=[query], ScanBy="TimestampDescending")
        return found["MetricDataResults"][0]["Values"]

    wait_for(lambda: level()[:1] == [0.0])


def listener_with_a_free_port_before_it():
    for _ in range(50):
        port = random.randrange(20_001, 32_000)  # below the ports that the kernel gives to others meanwhile
        try:
            socket.create_server(("127.0.0.1", port - 1)).close()
            return socket.create_server(("127.0.0.1", port))
        except OSError:
            continue
    raise AssertionError("no two free ports beside each other")


def test_a_taken_neighbour_port_is_no_obstacle_unless_it_was_asked_for(tmp_path):
    command = [BIN / "tts-local", "--serve-binary", FAKE]
    for attempt in range(5):
        taken = listener_with_a_free_port_before_it()
        port = taken.getsockname()[1]
        with open(tmp_path / "log", "w+") as log:
            process = subprocess.Popen([*command, "--port", str(port - 1), "--state", tmp_path / f"s{attempt}"],
                                       stdout=subprocess.PIPE, stderr=log, text=True)
            first = process.stdout.readline()
            log.seek(0)
            said = log.read()
        if first:
            break
        process.stdout.close()
        taken.close()
        # Someone was faster; a refusal because of the neighbour would not name this port.
        assert process.wait(60) == 1 and f":{port - 1}: " in said, said
    with taken:
        process.terminate()
        assert process.wait(60) == 0 and f"http://127.0.0.1:{port - 1}," in first and not first.strip().endswith(f":{port}")
        process.stdout.close()
        asked = subprocess.run([*command, "--port", "0", "--bidi-port", str(port), "--state", tmp_path / "t"], capture_output=True,
                               text=True, timeout=60)
        assert asked.returncode == 1 and str(port) in asked.stderr and "--bidi-port" in asked.stderr


def test_tts_local_stops_although_a_session_is_open(tmp_path):
    local = LocalCloud(tmp_path / "state", serve=BIN / "tts-serve")
    make_endpoint(local, environment=PACED)
    stream = BidiStream(local.bidi_port, local.ca)
    stream.send(json.dumps({"text": "Hello there."}).encode())
    stream.wait(spoken(1))
    pids = children(local)
    assert local.stop() == 0 and not any(alive(p) for p in pids)
    stream.close()


def test_the_certificate_is_a_ca_and_a_leaf_that_others_do_not_accept(cloud, tmp_path):
    with pytest.raises(ssl.SSLCertVerificationError):
        BidiStream(cloud.bidi_port, ssl.get_default_verify_paths().cafile or os.devnull)
    keys = [f.name for f in cloud.ca.parent.iterdir() if b"PRIVATE" in f.read_bytes()]
    assert keys == ["server-key.pem"] and (cloud.ca.parent / "server-key.pem").stat().st_mode & 0o777 == 0o600
    said = subprocess.run([BIN / "tts-local", "trust", "--state", cloud.ca.parent.parent], capture_output=True, text=True, timeout=30)
    assert f"SSL_CERT_FILE={cloud.ca}" in said.stdout
    assert "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2=https://localhost:4600" in said.stdout


def test_other_hosts_and_http_1_are_not_answered(cloud, connect):
    context = ssl.create_default_context(cafile=cloud.ca)
    with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
        BidiStream(cloud.bidi_port, cloud.ca, host="evil.example")
    with socket.create_connection(("127.0.0.1", cloud.bidi_port), timeout=10) as raw:
        wrapped = context.wrap_socket(raw, server_hostname="localhost")
        wrapped.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wrapped.recv(100) == b""
