"""Starts tts-local for a test and makes boto3 clients that reach it and check every answer against botocore's models."""

import json
import os
import pathlib
import select
import signal
import subprocess
import time
import urllib.request

import boto3
import botocore.config
import botocore_check

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("HEADROOM_BIN", ROOT / "build" / "release" / "bin"))
CACHE = pathlib.Path(os.environ.get("HEADROOM_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "headroom")
FAKE = ROOT / "tests" / "system" / "fake_instance.py"
SLOW = 4 if "asan" in str(BIN) or "tsan" in str(BIN) else 1  # sanitizers


class LocalCloud:
    """One tts-local process on a free port."""

    def __init__(self, state, *options, serve=FAKE, command=("serve",), env=None):
        self.log_path = pathlib.Path(str(state) + ".log")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [BIN / "tts-local", *command, "--port", "0", "--state", str(state), "--serve-binary", str(serve), *options],
                stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **(env or {})})
        self.first_line = self.read_line()
        assert "listening on" in self.first_line, self.first_line + self.log()
        self.url = self.first_line.split("listening on ")[1].split(",")[0]
        self.bidi_port = int(self.first_line.rsplit(":", 1)[1])
        self.ca = pathlib.Path(state) / "tls" / "ca.pem"

    def read_line(self, timeout=20):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout * SLOW)
        return self.process.stdout.readline() if ready else ""

    def log(self):
        return self.log_path.read_text(errors="replace")

    def client(self, service, key="local", secret="local", check=True, **config):
        client = boto3.client(service, endpoint_url=self.url, region_name="us-east-1", aws_access_key_id=key,
                              aws_secret_access_key=secret,
                              config=botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=90, **config))
        if check:
            botocore_check.install(client)
        return client

    def cloudwatch(self, protocol):
        """A CloudWatch client that speaks json, query or smithy-rpc-v2-cbor, whatever boto3 would choose."""
        session = boto3.Session()
        loader = session._session.get_component("data_loader")
        load = loader.load_service_model

        def with_protocol(service, kind, *rest, **more):
            model = load(service, kind, *rest, **more)
            if service == "cloudwatch" and kind == "service-2":
                model = {**model, "metadata": {**model["metadata"], "protocol": protocol, "protocols": [protocol]}}
            return model

        loader.load_service_model = with_protocol
        client = session.client("cloudwatch", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id="local",
                                aws_secret_access_key="local", config=botocore.config.Config(retries={"total_max_attempts": 1}))
        botocore_check.install(client)
        return client

    def control(self, faults=None, token="t"):
        """The control route: applies faults, answers what is in force."""
        body = None if faults is None else json.dumps(faults).encode()
        request = urllib.request.Request(self.url + "/_local/faults", body, {"x-tts-local-token": token})
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.loads(reply.read())

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(60 * SLOW)
        self.process.stdout.close()
        return code


def make_endpoint(cloud, name="e", count=1, environment=None, wait=True, key="local", secret="local", **variant):
    sagemaker = cloud.client("sagemaker", key, secret)
    sagemaker.create_model(ModelName=name, PrimaryContainer={"Image": "image:1", "Environment": environment or {}})
    sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[{
        "VariantName": "AllTraffic", "ModelName": name, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": count,
        "RoutingConfig": {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"}, **variant}])
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)
    if wait:
        wait_status(sagemaker, name)
    return sagemaker


def wait_status(sagemaker, name="e", status="InService", timeout=30):
    deadline = time.monotonic() + timeout * SLOW
    while time.monotonic() < deadline:
        described = sagemaker.describe_endpoint(EndpointName=name)
        if described["EndpointStatus"] == status:
            return described
        time.sleep(0.05)
    raise AssertionError(f"{name} is {described['EndpointStatus']}, not {status}: {described.get('FailureReason')}")


def wait_for(what, timeout=30, every=0.05):
    deadline = time.monotonic() + timeout * SLOW
    while time.monotonic() < deadline:
        got = what()
        if got:
            return got
        time.sleep(every)
    raise AssertionError(f"waited {timeout} s in vain")


def children(cloud):
    """Pids of the processes that tts-local runs."""
    path = f"/proc/{cloud.process.pid}/task"
    return [int(p) for t in os.listdir(path) for p in pathlib.Path(f"{path}/{t}/children").read_text().split()]


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False
