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
import botocore.exceptions
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parent.parent
SENTENCE = "Headroom measured this machine. Here is the first sentence that its speech server spoke."
INCONCLUSIVE = 4
NEGATIVE = 3
START_LIMIT_S = 180
# What a run makes anew. Left from an earlier one, it would pass for the result of a run that did not come that far.
RESULTS = ["qmax.json", "ttotal.json", "plan.json", "validate.json", "simulate.json", "report.html"]


def clean_environment(port: int) -> dict[str, str]:
    """The process's environment without the user's AWS settings, pointed at the local cloud."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment.update(
        AWS_ACCESS_KEY_ID="local", AWS_SECRET_ACCESS_KEY="local", AWS_REGION="us-east-1",
        AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull, AWS_EC2_METADATA_DISABLED="true",
        AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}",
    )
    return environment


def use_only(environment: dict[str, str]) -> None:
    """boto3 reads the process's own environment when a client is made: profile, files, endpoint."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(environment)


def end_at_sigterm() -> None:
    """As SystemExit, so that what was started is stopped; once, since `timeout` sends it twice."""
    def end(number: int, frame) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)


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
        self.cloud: subprocess.Popen | None = None
        self.started = time.monotonic()
        self.codes: dict[str, int] = {}

    def say(self, text: str) -> None:
        print(f"[{time.monotonic() - self.started:6.1f} s] {text}", flush=True)

    def client(self, service: str, **settings):
        """Straight to the local cloud, whatever proxy the user has."""
        return boto3.client(service, region_name="us-east-1", endpoint_url=self.environment["AWS_ENDPOINT_URL"],
                            config=Config(proxies={}, **settings))

    def start_cloud(self) -> subprocess.Popen:
        use_only(self.environment)
        self.out.mkdir(parents=True, exist_ok=True)
        log = open(self.out / "tts-local.log", "w")
        self.cloud = subprocess.Popen(
            [self.bin / "tts-local", "up", self.model, "--port", str(self.port), "--state", str(self.out / "cloud"),
             "--models", str(ROOT / "models")],
            env=self.environment, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the measurement, which still needs the cloud to restore
        )
        self.wait_in_service()
        return self.cloud

    def wait_in_service(self) -> None:
        sagemaker = self.client("sagemaker", retries={"total_max_attempts": 1})
        seen = "no endpoint yet"
        deadline = time.monotonic() + START_LIMIT_S
        while time.monotonic() < deadline:
            if self.cloud.poll() is not None:
                raise SystemExit(f"tts-local ended with {self.cloud.returncode}; its log: {self.out / 'tts-local.log'}")
            try:
                for endpoint in sagemaker.list_endpoints()["Endpoints"][:1]:
                    self.endpoint, seen = endpoint["EndpointName"], f"it is {endpoint['EndpointStatus']}"
                    if endpoint["EndpointStatus"] == "InService":
                        return
            except (botocore.exceptions.ConnectionError, botocore.exceptions.HTTPClientError) as error:  # not listening yet
                seen = str(error)
            time.sleep(0.3)
        raise SystemExit(f"the endpoint was not InService within {START_LIMIT_S} s ({seen}); the log: {self.out / 'tts-local.log'}")

    def stop_cloud(self) -> None:
        """tts-local has a session of its own, so nothing else ends it, and it holds the lock of its state."""
        if self.cloud is None:
            return
        self.cloud.send_signal(signal.SIGTERM)
        try:
            self.cloud.wait(40)
        except subprocess.TimeoutExpired:
            self.cloud.kill()

    def forget_earlier_run(self) -> None:
        """Its results, and the scaling it applied: drift would miss the plan of a policy that is still there."""
        for name in RESULTS:
            (self.out / name).unlink(missing_ok=True)
        scaling = self.client("application-autoscaling")
        for target in scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]:
            scaling.deregister_scalable_target(**{key: target[key] for key in ("ServiceNamespace", "ResourceId", "ScalableDimension")})
        alarms = self.client("cloudwatch")
        left = [alarm["AlarmName"] for alarm in alarms.describe_alarms()["MetricAlarms"]]
        if left:
            alarms.delete_alarms(AlarmNames=left)

    def speak(self) -> pathlib.Path:
        runtime = self.client("sagemaker-runtime", read_timeout=120)
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
        except SystemExit:  # SIGTERM came to this process alone: let it restore
            process.terminate()
            process.wait()
            raise
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

    def measure_ttotal(self) -> bool:
        """Whether T_total is known, be it inconclusive (the driver was short of a core). The driver and two instances want
        three cores; with fewer, recovery is slower and the factor wider."""
        words = ["--yes", "--hold", "20", "--settle", "15", "--max-wait", "180s"]
        if len(os.sched_getaffinity(0)) < 3:
            self.say("fewer than three cores for the driver and two instances: recovery is judged with factor 2")
            words += ["--recover-factor", "2"]
        self.bench("ttotal", *words)
        return load(self.out / "ttotal.json").get("total_s") is not None

    def run(self) -> int:
        try:
            self.say("starting the local cloud with real speech")
            self.start_cloud()
            return self.measure()
        finally:
            self.stop_cloud()

    def measure(self) -> int:
        wav = self.speak()
        self.say(f"spoken: {wav}")
        self.bench("thaw", "--yes")  # what a run that was killed before may have left
        self.forget_earlier_run()
        self.bench("drift")
        if self.bench("qmax", "--yes", "--budget", "240", "--max-hold", "60") != NEGATIVE and self.two_at_once():
            if self.measure_ttotal() and self.bench("plan") == 0:
                self.bench("apply", "--yes")
                self.bench("validate")
                self.bench("simulate", "--plan", str(self.out / "plan.json"), "--load", "day", "--quiet")
        self.bench("report", "--quiet")
        print(summary(self.out, self.codes, wav))
        return 0


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
    options = parser.parse_args()
    end_at_sigterm()
    return Quickstart(options).run()


if __name__ == "__main__":
    sys.exit(main())
