"""The quickstart itself: what it leaves behind when it is ended, whose settings it follows, and what a second run shows.

The measurements are played by a small program, since real ones take minutes; the cloud is real where anything is asked of it.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from bench_tools import register_target
from local_cloud import BIN, ROOT, SLOW, LocalCloud, alive, wait_for

QUICKSTART = ROOT / "setup" / "quickstart.py"
GOLDEN = ROOT / "tests" / "golden"
ENDPOINT = "speech-kokoro-82m"
MODEL = f"""endpoint = "{ENDPOINT}"
instance = {{ type = "ml.c7i.large", min = 1, max = 3 }}
container = {{ image = "local", environment = {{ TTS_ENGINE = "paced", TTS_SERVICE_MS = "1" }} }}
"""
NEVER_READY = "exec sleep 300"
REAL_CLOUD = f'exec {BIN}/tts-local "$@"'
UNTIL_TERM = 'trap "echo restored > FOLDER/restored; exit 130" TERM; while :; do sleep 0.1; done'
# One request within the SLO: T_total, plan and what follows are left out.
MEASURED_ONE = 'case $1 in qmax) cp FOLDER/measured.json FOLDER/out/qmax.json;; esac'
MEASURED_ONE_FOR_REAL = f'{MEASURED_ONE}; case $1 in thaw|drift|report) exec {BIN}/tts-bench "$@";; esac'


class Run:
    """A quickstart on programs of its own, and the tts-local that it started."""

    def __init__(self, folder: pathlib.Path, cloud: str, bench: str = "exit 0"):
        self.folder, self.out = folder, folder / "out"
        (folder / "bin").mkdir()
        for name, script in (("tts-local", f"echo $$ > FOLDER/pid.new; mv FOLDER/pid.new FOLDER/pid; {cloud}"), ("tts-bench", bench)):
            program = folder / "bin" / name
            program.write_text("#!/bin/sh\n" + script.replace("FOLDER", str(folder)) + "\n")
            program.chmod(0o755)
        self.model = folder / "model.toml"
        self.model.write_text(MODEL)
        measured = json.loads((GOLDEN / "qmax-published.json").read_text())
        (folder / "measured.json").write_text(json.dumps({**measured, "q_max": 1, "verdict": "bracketed"}))

    def start(self, *python: str, **environment: str) -> subprocess.Popen:
        command = [sys.executable, *(python or [QUICKSTART]), "--bin", self.folder / "bin", "--out", self.out, "--model", self.model]
        return subprocess.Popen(command, env={**os.environ, **environment}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def end(self, process: subprocess.Popen) -> str:
        try:
            said, _ = process.communicate(timeout=60 * SLOW)
        finally:
            process.kill()
            left = alive(self.cloud_pid())
            if left:
                os.kill(self.cloud_pid(), signal.SIGTERM)
        assert not left, f"tts-local was left behind\n{said}"
        return said

    def cloud_pid(self) -> int:
        return int(wait_for(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_ends_the_start_ends_the_cloud(tmp_path, number):
    run = Run(tmp_path, NEVER_READY)
    process = run.start()
    run.cloud_pid()
    time.sleep(0.5)  # into the wait for InService
    process.send_signal(number)
    run.end(process)
    assert process.returncode in (143, 130, -signal.SIGINT)


def test_an_end_while_measuring_lets_tts_bench_restore_first(tmp_path):
    run = Run(tmp_path, REAL_CLOUD, UNTIL_TERM)
    process = run.start()
    wait_for(lambda: (run.out / "first.wav").exists())
    time.sleep(0.5)  # into the first tts-bench
    process.send_signal(signal.SIGTERM)
    said = run.end(process)
    assert process.returncode == 143, said
    assert (tmp_path / "restored").exists(), said


def test_a_start_that_never_ends_names_what_it_saw_last(tmp_path):
    run = Run(tmp_path, NEVER_READY)
    hurried = "import quickstart; quickstart.START_LIMIT_S = 1; quickstart.main()"
    process = run.start("-c", hurried, PYTHONPATH=str(QUICKSTART.parent))
    said = run.end(process)
    assert process.returncode == 1 and "not InService within 1 s (Could not connect to the endpoint URL" in said, said


def test_the_users_profile_and_proxy_are_left_out(tmp_path):
    run = Run(tmp_path, REAL_CLOUD, MEASURED_ONE)
    nowhere = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")}
    process = run.start(AWS_PROFILE="nobody-has-this", AWS_CONFIG_FILE=str(tmp_path / "none"), NO_PROXY="", no_proxy="", **nowhere)
    said = run.end(process)
    assert process.returncode == 0, said
    assert (run.out / "first.wav").read_bytes()[:4] == b"RIFF"


def test_a_second_run_shows_nothing_of_the_first(tmp_path):
    run = Run(tmp_path, REAL_CLOUD, MEASURED_ONE_FOR_REAL)
    run.out.mkdir()
    cloud = LocalCloud(run.out / "cloud", command=("up", str(run.model)), serve=BIN / "tts-serve")
    try:  # what a first run left: its artifacts, and the scaling that it applied
        wait_for(lambda: cloud.client("sagemaker").list_endpoints()["Endpoints"])
        register_target(cloud, ENDPOINT, low=1, high=2)
        cloud.client("cloudwatch").put_metric_alarm(
            AlarmName=f"headroom-{ENDPOINT}-AllTraffic-out", Namespace="Headroom", MetricName="OfferedRequests", Statistic="Sum", Period=60,
            EvaluationPeriods=1, Threshold=1, ComparisonOperator="GreaterThanThreshold")
    finally:
        cloud.stop()
    shutil.copyfile(GOLDEN / "ttotal-published.json", run.out / "ttotal.json")
    shutil.copyfile(ROOT / "infra" / "test" / "fixtures" / "plan-published.json", run.out / "plan.json")
    process = run.start()
    said = run.end(process)
    assert process.returncode == 0 and "What was measured" in said, said
    assert "What follows" not in said and "T_total  " not in said, said
    assert not (run.out / "plan.json").exists() and not (run.out / "ttotal.json").exists()
    assert "Not measured yet: tts-bench plan" in (run.out / "report.html").read_text()
    drift = json.loads((run.out / "drift.json").read_text())
    assert drift["verdict"] != "drifted", drift["checks"]
    assert not [check for check in drift["checks"] if check["id"].startswith("alarm")], drift["checks"]
