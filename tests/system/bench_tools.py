"""Runs tts-bench against a local cloud: its environment, a paced endpoint, and its artifacts."""

import json
import os
import pathlib
import signal
import subprocess
import time

from local_cloud import BIN, SLOW, LocalCloud, make_endpoint

PUBLISHED_PACE = {"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "55.9", "TTS_OVERHEAD_MS": "4.1", "TTS_JITTER": "0.01"}
FAST_PACE = {"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "5", "TTS_OVERHEAD_MS": "1", "TTS_JITTER": "0.01"}


class Bench:
    """tts-bench for one endpoint, with its own artifact and state folders."""

    def __init__(self, cloud: LocalCloud, folder: pathlib.Path, endpoint: str = "e"):
        self.cloud = cloud
        self.endpoint = endpoint
        self.out = folder / "artifacts"
        self.state = folder / "state"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        self.environment.update(AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local", AWS_REGION="us-east-1",
                                AWS_EC2_METADATA_DISABLED="true", XDG_STATE_HOME=str(self.state),
                                AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)

    def command(self, *words: str) -> list:
        return [BIN / "tts-bench", words[0], "--endpoint", self.endpoint, "--endpoint-url", self.cloud.url, "--out", self.out, *words[1:]]

    def start(self, *words: str) -> subprocess.Popen:
        return subprocess.Popen(self.command(*words), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, text=True)

    def run(self, *words: str, timeout: float = 120) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(*words), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, timeout=timeout * SLOW)

    def ok(self, *words: str, timeout: float = 120) -> str:
        done = self.run(*words, timeout=timeout)
        assert done.returncode == 0, f"{words}: exit {done.returncode}\n{done.stdout}"
        return done.stdout

    def measured(self, *words: str, timeout: float = 120) -> str:
        """A measurement that ended by itself; short holds on a busy machine may be inconclusive (4)."""
        done = self.run(*words, timeout=timeout)
        assert done.returncode in (0, 4), f"{words}: exit {done.returncode}\n{done.stdout}"
        return done.stdout

    def measured_up_to(self, q_max: int, *words: str) -> None:
        """For what builds on a Q_max: a busy machine can spoil a short hold, so it is measured again."""
        for _ in range(4):
            done = self.run(*words)
            if done.returncode in (0, 4) and self.artifact("qmax")["q_max"] == q_max:
                return
        raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout}")

    def artifact(self, name: str) -> dict:
        return json.loads((self.out / f"{name}.json").read_text())

    def journals(self) -> list:
        folder = self.state / "headroom" / "freeze"
        return sorted(folder.glob("*.json")) if folder.exists() else []


def paced_cloud(folder: pathlib.Path, pace: dict, count: int = 1) -> LocalCloud:
    """A local cloud with endpoint `e` of real tts-serve processes on the paced engine."""
    cloud = LocalCloud(folder / "cloud", serve=BIN / "tts-serve")
    make_endpoint(cloud, "e", count=count, environment=pace)
    return cloud


def without_its_core(process: subprocess.Popen, stopped_s: float = 0.04, running_s: float = 0.04) -> str:
    """Lets a process run for a part of the time only, as on a core that others use, until it ends: what it said."""
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(stopped_s)
        process.send_signal(signal.SIGCONT)
        time.sleep(running_s)
    return process.communicate()[0]


def register_target(cloud: LocalCloud, name: str = "e", low: int = 1, high: int = 4, **suspended: bool) -> None:
    cloud.client("application-autoscaling").register_scalable_target(
        ServiceNamespace="sagemaker", ResourceId=f"endpoint/{name}/variant/AllTraffic",
        ScalableDimension="sagemaker:variant:DesiredInstanceCount", MinCapacity=low, MaxCapacity=high,
        SuspendedState={"DynamicScalingInSuspended": suspended.get("scale_in", False),
                        "DynamicScalingOutSuspended": suspended.get("scale_out", False),
                        "ScheduledScalingSuspended": suspended.get("scheduled", False)})


def standing(cloud: LocalCloud, name: str = "e") -> dict:
    """What a measurement must leave as it was: desired count, flags and tags."""
    sagemaker = cloud.client("sagemaker")
    described = sagemaker.describe_endpoint(EndpointName=name)
    targets = cloud.client("application-autoscaling").describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
    return {
        "desired": described["ProductionVariants"][0]["DesiredInstanceCount"],
        "status": described["EndpointStatus"],
        "flags": targets[0]["SuspendedState"] if targets else None,
        "tags": sagemaker.list_tags(ResourceArn=described["EndpointArn"])["Tags"],
    }
