"""The main job on one machine: tts-local with real Kokoro, then drift, qmax, ttotal, plan, apply, validate, report.

Uses its own port, state folder and dummy credentials; the user's AWS profile and settings are left out. Everything it makes
lies under --out (default artifacts/quickstart). Exit code 0 also where a verdict is inconclusive: that is shown, not hidden.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import boto3
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parent.parent
SENTENCE = "Headroom measured this machine. Here is the first sentence that its speech server spoke."
INCONCLUSIVE = 4
NEGATIVE = 3


def clean_environment(port: int) -> dict[str, str]:
    """The process's environment without the user's AWS settings, pointed at the local cloud."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment.update(
        AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local", AWS_REGION="us-east-1",
        AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true",
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
    )
    return environment


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Quickstart:
    def __init__(self, options: argparse.Namespace) -> None:
        self.out = pathlib.Path(options.out).resolve()
        self.model = options.model
        self.bin = pathlib.Path(options.bin).resolve()
        self.port = free_port()
        self.environment = clean_environment(self.port)
        self.environment["XDG_STATE_HOME"] = str(self.out / "state")
        self.endpoint = ""
        self.started = time.monotonic()
        self.codes: dict[str, int] = {}

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:6.1f} s] {text}", flush=True)

    def start_cloud(self) -> subprocess.Popen:
        self.out.mkdir(parents=True, exist_ok=True)
        log = open(self.out / "tts-local.log", "w")
        cloud = subprocess.Popen(
            [self.bin / "tts-local", "up", self.model, "--port", str(self.port), "--state", str(self.out / "cloud"),
             "--models", str(ROOT / "models")],
            env=self.environment, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the measurement, which still needs the cloud to restore
        )
        sagemaker = boto3.client("sagemaker", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
                                 aws_access_key_id="local", aws_secret_access_key="local")
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            if cloud.poll() is not None:
                raise SystemExit(f"tts-local ended with {cloud.returncode}; its log: {self.out / 'tts-local.log'}")
            try:
                endpoints = sagemaker.list_endpoints()["Endpoints"]
                if endpoints and endpoints[0]["EndpointStatus"] == "InService":
                    self.endpoint = endpoints[0]["EndpointName"]
                    return cloud
            except Exception:  # not listening yet
                pass
            time.sleep(0.3)
        raise SystemExit(f"the endpoint was not InService within 3 minutes; the log: {self.out / 'tts-local.log'}")

    def speak(self) -> pathlib.Path:
        runtime = boto3.client("sagemaker-runtime", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
                               aws_access_key_id="local", aws_secret_access_key="local", config=Config(read_timeout=120))
        answer = runtime.invoke_endpoint(EndpointName=self.endpoint, ContentType="application/json",
                                         Body=json.dumps({"text": SENTENCE, "voice": "af_heart", "format": "wav"}))
        path = self.out / "first.wav"
        path.write_bytes(answer["Body"].read())
        return path

    def bench(self, command: str, *arguments: str) -> int:
        self.say(f"tts-bench {command}")
        process = subprocess.Popen(
            [self.bin / "tts-bench", command, "--model", self.model, "--endpoint-url", f"http://127.0.0.1:{self.port}",
             "--out", self.out, *arguments], env=self.environment, cwd=ROOT)
        try:
            code = process.wait()
        except KeyboardInterrupt:  # tts-bench got the signal too: let it restore
            raise SystemExit(process.wait()) from None
        self.codes[command] = code
        if code not in (0, NEGATIVE, INCONCLUSIVE):
            raise SystemExit(f"tts-bench {command} ended with {code}; everything so far lies in {self.out}")
        return code

    def two_at_once(self) -> bool:
        """T_total is measured under a load that a second instance can take half of."""
        if (load(self.out / "qmax.json").get("q_max") or 0) >= 2:
            return True
        self.say("this machine holds fewer than two requests within the SLO: T_total, plan and policy are left out")
        return False

    def measure_ttotal(self) -> int:
        """The driver and two instances want three cores; with fewer, recovery is slower and the factor wider."""
        words = ["--yes", "--hold", "20", "--settle", "15", "--max-wait", "180s"]
        if len(os.sched_getaffinity(0)) < 3:
            self.say("fewer than three cores for the driver and two instances: recovery is judged with factor 2")
            words += ["--recover-factor", "2"]
        return self.bench("ttotal", *words)

    def run(self) -> int:
        self.say("starting the local cloud with real speech")
        cloud = self.start_cloud()
        try:
            wav = self.speak()
            self.say(f"spoken: {wav}")
            self.bench("thaw", "--yes")  # what a run that was killed before may have left
            self.bench("drift")
            if self.bench("qmax", "--yes", "--budget", "240", "--max-hold", "60") != NEGATIVE and self.two_at_once():
                if self.measure_ttotal() == 0 and self.bench("plan") == 0:
                    self.bench("apply", "--yes")
                    self.bench("validate")
                    self.bench("simulate", "--plan", str(self.out / "plan.json"), "--load", "day", "--quiet")
            self.bench("report", "--quiet")
            print(summary(self.out, self.codes, wav))
            return 0
        finally:
            cloud.send_signal(signal.SIGTERM)
            try:
                cloud.wait(40)
            except subprocess.TimeoutExpired:
                cloud.kill()


def load(path: pathlib.Path) -> dict:
    return json.loads(path.read_text()) if path.exists() else {}


def number(value: float | None, form: str = "{:.1f}") -> str:
    return "unknown" if value is None else form.format(value)


def summary(out: pathlib.Path, codes: dict[str, int], wav: pathlib.Path) -> str:
    """What was found, for a person; every figure comes from the artifacts."""
    qmax, ttotal, plan = load(out / "qmax.json"), load(out / "ttotal.json"), load(out / "plan.json")
    lines = ["", "What was measured", "-----------------"]
    if qmax:
        interval = qmax.get("q_max_interval")
        certain = f", between {interval[0]:.0f} and {interval[1]:.0f}" if interval else ""
        lines.append(f"Q_max     {number(qmax.get('q_max'), '{:.0f}')} outstanding requests keep p95 within {qmax['slo_ms']:.0f} ms "
                     f"({qmax['verdict']}{certain})")
        lines.append(f"knee      {number(qmax.get('knee_n'), '{:.0f}')} outstanding: from there on more load is only more waiting")
    if ttotal:
        lines.append(f"T_total   {number(ttotal.get('total_s'))} s = {number(ttotal.get('measured_total_s'))} s measured + "
                     f"{number(ttotal.get('policy_lag_bound_s'), '{:.0f}')} s lag of the policy")
        for stage in ttotal.get("stages", {}).get("measured", []):
            lines.append(f"            {stage['s']:8.2f} s  {stage['to']}")
    if plan:
        lines += ["", "What follows", "------------"]
        lines.append(f"policy    {plan['rule']}: {plan['min_instances']} to {plan['max_instances']} instances, "
                     f"queue limit {plan['queue_limit']}, verdict {plan['verdict']}")
        for finding in plan.get("findings", []):
            if finding["level"] in ("WARN", "FAIL"):
                remedy = f" -> {finding['remedy']}" if finding.get("remedy") else ""
                lines.append(f"{finding['level']:9} {finding['id']}: {finding['evidence']}{remedy}")
    for command, code in codes.items():
        if code == INCONCLUSIVE:
            lines.append(f"note      {command} was inconclusive on this machine; its lines above say why")
        elif code == NEGATIVE:
            lines.append(f"note      {command} gave a negative verdict; its lines above say why")
    if codes.get("validate") == 0:
        lines.append("checked   what runs is what was planned, field by field")
    for note in dict.fromkeys(qmax.get("notes", []) + ttotal.get("notes", [])):
        lines.append(f"note      {note}")
    lines += ["", f"artifacts {out}", f"report    {out / 'report.html'}", f"speech    {wav}", ""]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(ROOT / "artifacts" / "quickstart"), help="folder for artifacts, logs and the spoken WAV")
    parser.add_argument("--model", default="kokoro-82m-local", help="model file under models/")
    parser.add_argument("--bin", default=str(ROOT / "build" / "release" / "bin"), help="folder of the programs")
    return Quickstart(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
