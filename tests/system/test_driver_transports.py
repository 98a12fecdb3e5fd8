"""Every transport of the load driver against the local cloud and a bare server: the same audio, the same counts."""

import csv
import io
import json

import pytest
from bench_tools import FAST_PACE, Bench, paced_cloud
from local_cloud import BIN, LocalCloud, make_endpoint
from serve_tools import Serve
from test_driver import bench as run_bench
from test_driver import load

pytestmark = pytest.mark.alone

PACE = ["--engine", "paced", "--service-ms", "5", "--overhead-ms", "1"]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    cloud = paced_cloud(tmp_path_factory.mktemp("transports"), FAST_PACE)
    yield cloud
    cloud.stop()


def loaded(bench: Bench, *words: str) -> dict:
    bench.environment["SSL_CERT_FILE"] = str(bench.cloud.ca)
    bench.environment["AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2"] = f"https://localhost:{bench.cloud.bidi_port}"
    done = bench.run("load", "--yes", *words)
    assert done.returncode in (0, 4), done.stdout
    return bench.artifact("load")


@pytest.mark.parametrize("transport", ["response-stream", "buffered", "bidirectional"])
def test_each_transport_of_an_endpoint(cloud, tmp_path, transport):
    out = loaded(Bench(cloud, tmp_path), "--transport", transport, "--n", "4", "--duration", "2")
    assert out["ok"] > 20 and out["ok"] == out["started"], out["errors"]
    assert out["in_flight"]["over_limit"] == 0
    assert out["audio_s"] / out["ok"] > 0.5 and out["first_audible_ms"] is not None


def test_a_refused_bidirectional_request_is_rejected_and_a_wrong_endpoint_failed(tmp_path):
    cloud = paced_cloud(tmp_path, {**FAST_PACE, "TTS_SERVICE_MS": "100", "MAX_QUEUE_DEPTH": "2"})
    try:
        out = loaded(Bench(cloud, tmp_path), "--transport", "bidirectional", "--n", "6", "--duration", "2")
        assert out["rejected"] > 0 and out["ok"] > 0 and out["failed"] == 0, out["errors"]
        missing = Bench(cloud, tmp_path, endpoint="missing")
        missing.environment["SSL_CERT_FILE"] = str(cloud.ca)
        missing.environment["AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2"] = f"https://localhost:{cloud.bidi_port}"
        done = missing.run("load", "--yes", "--transport", "bidirectional", "--n", "1", "--duration", "1")
        assert done.returncode == 1 and "no successful request" in done.stdout, done.stdout
        assert missing.artifact("load")["failed"] > 0
    finally:
        cloud.stop()


def test_connections_of_bidirectional_streams_are_opened_before_anything_is_measured(cloud, tmp_path):
    bench = Bench(cloud, tmp_path)
    bench.environment["SSL_CERT_FILE"] = str(cloud.ca)
    bench.environment["AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2"] = "https://localhost:1"
    done = bench.run("load", "--yes", "--transport", "bidirectional", "--n", "4", "--duration", "1")
    assert done.returncode == 1, done.stdout
    assert "cannot connect to https://localhost:1; is it running" in done.stdout, done.stdout


def test_bidirectional_streams_of_a_cloud_on_another_loopback_address(tmp_path):
    cloud = LocalCloud(tmp_path / "state", "--host", "::1", serve=BIN / "tts-serve")
    try:
        assert cloud.url.startswith("http://[::1]:")
        make_endpoint(cloud, environment={"TTS_ENGINE": "paced", **FAST_PACE})
        bench = Bench(cloud, tmp_path)
        bench.environment["SSL_CERT_FILE"] = str(cloud.ca)
        bench.environment["AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2"] = f"https://[::1]:{cloud.bidi_port}"
        done = bench.run("load", "--yes", "--transport", "bidirectional", "--n", "2", "--duration", "1")
        assert done.returncode in (0, 4), done.stdout
        assert bench.artifact("load")["ok"] > 2
    finally:
        assert cloud.stop() == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("bare"), *PACE)
    yield server
    server.stop()


def test_web_socket_sessions(server, tmp_path):
    out = load(tmp_path, "--http", server.url.replace("http", "ws"), "--n", "4", "--duration", "2")
    assert out["ok"] > 20 and out["ok"] == out["started"], out["errors"]
    assert out["audio_s"] / out["ok"] > 0.5


@pytest.mark.parametrize("api", ["sagemaker", "openai"])
@pytest.mark.parametrize("audio", ["pcm", "wav", "mp3", "opus"])
def test_every_format_is_heard_as_it_streams(server, tmp_path, api, audio):
    done = run_bench(tmp_path, "latency", "--json", "--http", server.url, "--api", api, "--format", audio, "--count", "3")
    assert done.returncode in (0, 4), done.stdout + done.stderr
    out = json.loads(done.stdout)
    assert out["ok"] == 3 and out["first_audible_ms"] is not None, out
    rows = list(csv.DictReader(io.StringIO(run_bench(tmp_path, "export", out["requests"]).stdout)))
    heard = [float(row["audio_s"]) for row in rows if row["outcome"] == "ok"]  # others were sent before the count was seen
    assert len(heard) >= 3 and all(0.5 < seconds < 10 for seconds in heard)
