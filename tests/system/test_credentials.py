"""tts-bench with signature checks on: credentials from each provider in turn, throttling, and a clock that is off."""

import contextlib
import datetime
import http.server
import itertools
import json
import stat
import sys
import threading

import pytest
from bench_tools import FAST_PACE, Bench
from local_cloud import BIN, LocalCloud, make_endpoint

KEY, SECRET = "AKIAHEADROOMTEST0001", "the/right+secret"


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strict")
    cloud = LocalCloud(folder / "cloud", "--credentials", f"{KEY}:{SECRET}", "--control-token", "t", serve=BIN / "tts-serve")
    make_endpoint(cloud, "e", environment=FAST_PACE, key=KEY, secret=SECRET)
    yield cloud
    cloud.stop()


@pytest.fixture
def bench(strict, tmp_path):
    """tts-bench without any credentials at all."""
    bench = Bench(strict, tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        del bench.environment[name]
    bench.environment["HOME"] = str(tmp_path)
    return bench


def speaks(bench: Bench) -> None:
    """Signed API calls and a signed stream, with the credentials that this environment leads to."""
    out = bench.measured("latency", "--count", "3", "--yes", "--records", "none")
    assert "3 started, 3 ok" in out and "account 000000000000" in out, out


def provider_answer() -> dict:
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    return {"Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "session-token",
            "Expiration": later.strftime("%Y-%m-%dT%H:%M:%SZ")}


@contextlib.contextmanager
def fake(routes: dict):
    """An HTTP server that knows these (method, path) and notes what it was asked, with its headers."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append((self.command, self.path, dict(self.headers)))
            body = routes.get((self.command, self.path))
            self.send_response(404 if body is None else 200)
            text = (body or "").encode()
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = answer

        def log_message(self, *_) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def from_environment(bench: Bench, folder):
    bench.environment.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    yield []


@contextlib.contextmanager
def from_profile(bench: Bench, folder):
    shared = folder / "credentials"
    shared.write_text(f"[work]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n")
    bench.environment.update(AWS_SHARED_CREDENTIALS_FILE=str(shared), AWS_PROFILE="work")
    yield []


@contextlib.contextmanager
def from_process(bench: Bench, folder):
    helper = folder / "helper"
    answer = {"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET}
    helper.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(answer))})\n")
    helper.chmod(helper.stat().st_mode | stat.S_IXUSR)
    config = folder / "config"
    config.write_text(f"[profile outside]\nregion=us-east-1\ncredential_process={helper}\n")
    bench.environment.update(AWS_CONFIG_FILE=str(config), AWS_PROFILE="outside")
    yield []


@contextlib.contextmanager
def from_container(bench: Bench, folder):
    with fake({("GET", "/creds"): json.dumps(provider_answer())}) as (url, asked):
        bench.environment.update(AWS_CONTAINER_CREDENTIALS_FULL_URI=url + "/creds", AWS_CONTAINER_AUTHORIZATION_TOKEN="Basic abc")
        yield asked


@contextlib.contextmanager
def from_instance_metadata(bench: Bench, folder):
    role = "/latest/meta-data/iam/security-credentials/"
    routes = {("PUT", "/latest/api/token"): "token-of-session", ("GET", role): "the-role",
              ("GET", role + "the-role"): json.dumps(provider_answer())}
    with fake(routes) as (url, asked):
        del bench.environment["AWS_EC2_METADATA_DISABLED"]
        bench.environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = url
        yield asked


def test_environment(bench, tmp_path):
    with from_environment(bench, tmp_path):
        speaks(bench)


def test_profile_by_option_and_by_variable(bench, tmp_path):
    shared = tmp_path / "credentials"
    shared.write_text(f"[default]\naws_access_key_id=AKIAOTHER00000000000\naws_secret_access_key=x\n"
                      f"[work]\naws_access_key_id={KEY}\naws_secret_access_key={SECRET}\n")
    bench.environment["AWS_SHARED_CREDENTIALS_FILE"] = str(shared)
    done = bench.run("drift")
    assert done.returncode == 1 and "UnrecognizedClient" in done.stdout, done.stdout
    bench.environment["AWS_PROFILE"] = "work"
    speaks(bench)
    del bench.environment["AWS_PROFILE"]
    bench.environment.update(AWS_ACCESS_KEY_ID="AKIAOTHER00000000000", AWS_SECRET_ACCESS_KEY="x")  # --profile wins over keys
    out = bench.measured("latency", "--count", "2", "--yes", "--profile", "work", "--records", "none")
    assert "2 ok" in out


def test_credential_process(bench, tmp_path):
    with from_process(bench, tmp_path):
        speaks(bench)


def test_container(bench, tmp_path):
    with from_container(bench, tmp_path) as asked:
        speaks(bench)
        assert asked and asked[0][2]["Authorization"] == "Basic abc"


def test_instance_metadata(bench, tmp_path):
    with from_instance_metadata(bench, tmp_path) as asked:
        speaks(bench)
        reads = [headers for method, _, headers in asked if method == "GET"]
        assert reads and all({k.lower(): v for k, v in h.items()}["x-aws-ec2-metadata-token"] == "token-of-session" for h in reads)


@contextlib.contextmanager
def throttled(cloud: LocalCloud):
    """Every 0.3 s one more control-plane operation refuses its next call; yields how many were told to."""
    ended, told = threading.Event(), []
    operations = itertools.cycle((
        "DescribeEndpoint ListTags DescribeScalableTargets UpdateEndpointWeightsAndCapacities AddTags DescribeScalingPolicies "
        "PutScalingPolicy PutMetricAlarm DescribeAlarms GetMetricData DescribeLogStreams RegisterScalableTarget DeleteTags "
        "GetCallerIdentity").split())

    def disturb() -> None:
        while not ended.wait(0.3):
            told.append(next(operations))
            cloud.control({"throttle": {"operation": told[-1], "count": 1}})

    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        yield told
    finally:
        ended.set()
        disturber.join()
        for operation in set(told):  # what nobody called since would meet the test's own questions
            cloud.control({"throttle": {"operation": operation, "count": 0}})


@pytest.mark.parametrize("provider", [from_instance_metadata, *(pytest.param(p, marks=pytest.mark.soak) for p in (
    from_environment, from_profile, from_process, from_container))])
def test_the_whole_chain_with_signatures_throttling_and_a_skewed_clock(tmp_path, provider):
    cloud = LocalCloud(tmp_path / "cloud", "--credentials", f"{KEY}:{SECRET}", "--control-token", "t", serve=BIN / "tts-serve")
    try:
        make_endpoint(cloud, "e", environment=FAST_PACE, key=KEY, secret=SECRET)
        cloud.control({"skew_s": 200})  # within the 5 minutes that signatures may be off
        chain = Bench(cloud, tmp_path)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            del chain.environment[name]
        chain.environment["HOME"] = str(tmp_path)
        with provider(chain, tmp_path) as asked, throttled(cloud) as told:
            chain.ok("drift")
            chain.measured("qmax", "--yes", "--method", "ladder", "--rungs", "1,2,4", "--hold", "3", "--judge", "2", "--idle", "0s")
            chain.measured("ttotal", "--yes", "--hold", "2", "--settle", "1", "--recover-factor", "3")
            chain.ok("plan", "--peak-rps", "250", "--trough-rps", "50", "--assume-ratio", "1")
            chain.ok("apply", "--yes")
            chain.ok("validate")
            chain.ok("drift")
            assert len(told) > 20 and (asked or provider in (from_environment, from_profile, from_process))
        sagemaker = cloud.client("sagemaker", KEY, SECRET)
        described = sagemaker.describe_endpoint(EndpointName="e")
        assert described["ProductionVariants"][0]["DesiredInstanceCount"] == chain.artifact("plan")["min_instances"]
        assert sagemaker.list_tags(ResourceArn=described["EndpointArn"])["Tags"] == [] and chain.journals() == []
        assert SECRET not in "".join(path.read_text(errors="replace") for path in chain.out.glob("*.json"))
    finally:
        cloud.stop()


def test_none_at_all_says_what_to_do(bench):
    done = bench.run("drift")
    assert done.returncode == 1 and "no AWS credentials" in done.stdout and "AWS_ACCESS_KEY_ID" in done.stdout
    assert SECRET not in done.stdout


def test_a_wrong_secret_is_named_and_not_retried(bench):
    bench.environment.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY="wrong")
    done = bench.run("drift")
    assert done.returncode == 1 and "InvalidSignatureException" in done.stdout, done.stdout


def test_throttling_is_waited_out(bench, strict):
    bench.environment.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    strict.control({"throttle": {"operation": "DescribeEndpoint", "count": 2}})
    done = bench.run("drift")
    assert done.returncode in (0, 3), done.stdout  # both attempts in vain were repeated
    strict.control({"throttle": {"operation": "DescribeEndpoint", "count": 1000}})
    try:
        done = bench.run("drift")
        assert done.returncode == 1 and "Throttl" in done.stdout and "DescribeEndpoint" in done.stdout, done.stdout
    finally:
        strict.control({"throttle": {"operation": "DescribeEndpoint", "count": 0}})


def test_a_clock_that_is_off_is_named(bench, strict):
    bench.environment.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    strict.control({"skew_s": 3600})
    try:
        done = bench.run("drift")
        assert done.returncode == 1, done.stdout
        assert "clock" in done.stdout, done.stdout
    finally:
        strict.control({"skew_s": 0})
    speaks(bench)


def test_real_keys_never_leave_over_plain_http(bench):
    bench.environment.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
    bench.cloud = type("Elsewhere", (), {"url": "http://192.0.2.1:4599"})
    done = bench.run("drift", timeout=30)
    assert done.returncode == 3 and "plain http" in done.stdout, done.stdout
