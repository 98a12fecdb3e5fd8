"""The whole way of docs/operations.md on one machine: stack without a plan, measured, planned, and the stack with that very plan."""

import json
import os
import shutil
import subprocess

import pytest
from bench_tools import Bench
from cloudformation import Stack
from local_cloud import BIN, ROOT, LocalCloud, wait_status

MODEL = """
endpoint = "speech-chain"
[instance]
type = "ml.g5.xlarge"
min = 1
max = 3
[slo]
p95_first_audio_ms = 3000
[load]
workload = "short"
peak_rps = 20
trough_rps = 5
headroom = 1.25
[transport]
kind = "response-stream"
[container]
environment = { TTS_ENGINE = "paced", TTS_SERVICE_MS = "50", TTS_OVERHEAD_MS = "4", TTS_JITTER = "0.01" }
"""


def synth(folder, *words) -> tuple[dict, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    command = [ROOT / "infra" / "bin" / "speech-infra", "synth", folder / "chain.toml", "--out", folder / "out", *words]
    done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
    assert done.returncode == 0, done.stdout
    return json.loads((folder / "out" / "SpeechEndpointStack-chain.template.json").read_text()), done.stdout


def deployed(folder, name: str, template: dict) -> LocalCloud:
    cloud = LocalCloud(folder / name, serve=BIN / "tts-serve")
    Stack(cloud, template, {"ImageUri": "image:1"}).create()
    wait_status(cloud.client("sagemaker"), "speech-chain")
    return cloud


@pytest.mark.soak
def test_what_was_measured_on_the_stack_is_what_the_stack_then_deploys(tmp_path):
    (tmp_path / "chain.toml").write_text(MODEL)
    bare, said = synth(tmp_path)
    assert "condition plan_present failed" in said
    cloud = deployed(tmp_path, "first", bare)
    model = ("--model", str(tmp_path / "chain.toml"))
    try:
        bench = Bench(cloud, tmp_path, "speech-chain")
        bench.ok("drift", *model)
        bench.measured("qmax", *model, "--yes", "--force", "--method", "ladder", "--rungs", "1,5,10,20", "--hold", "20", "--judge", "15",
                       "--idle", "0s", timeout=300)
        bench.measured("ttotal", *model, "--yes", "--force", "--hold", "2", "--settle", "1", timeout=300)
        plans = {}
        for rule in ("recommended", "published"):
            bench.ok("plan", *model, "--assume-ratio", "1", "--rule", rule)
            plans[rule] = shutil.copyfile(bench.out / "plan.json", tmp_path / f"{rule}.json")
    finally:
        cloud.stop()

    for rule, plan in plans.items():
        template, said = synth(tmp_path, "--plan", plan)
        assert "autoscaling as" in said and "note:" not in said, said  # everything that is compared was recorded
        kinds = {one["Properties"]["PolicyType"] for one in template["Resources"].values() if one["Type"].endswith("::ScalingPolicy")}
        assert kinds == ({"StepScaling"} if rule == "recommended" else {"StepScaling", "TargetTrackingScaling"})
        cloud = deployed(tmp_path, rule, template)
        try:
            again = Bench(cloud, tmp_path / f"out-{rule}", "speech-chain")
            again.ok("validate", *model, "--plan", str(plan))
            again.ok("drift", *model, "--plan", str(plan))
            assert [check for check in again.artifact("drift")["checks"] if check["level"] in ("WARN", "ERROR")] == []
        finally:
            cloud.stop()
