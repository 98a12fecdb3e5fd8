"""CPU per request and error of the time to first audio: tts-bench beside k6 and locust, one server, the same streams.

./dev bench driver [--shape speech|sentence|trickle] [--streams 1000] [--seconds 15] [--rounds 3] [--tools k6,locust] [--json FILE]

The server of known delay (`tts-bench selftest --serve`) has one core, each load tool in turn the other. All send the
same request over kept connections, read whole answers, start their streams over the first two seconds and let those
that are open at the end finish. Three shapes of answer: `speech` is what tts-serve sends for a turn of three sentences, a
piece each; `sentence` is one such piece; `trickle` is many small pieces, where reading a piece is nearly all of the cost
for every tool. CPU is user and system time of a tool's whole process, start-up and summary included, over the requests
it made. A tool's error is what it reports for the time to the first byte minus what the server itself took (percentile
against percentile). Only tts-bench also notes each chunk's arrival, the first audible sample and a player's pauses.
Ratios are taken within a round; the smallest counts: at least 5 times for k6 and 20 times for locust.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HEADROOM_BIN", ROOT / "build" / "release" / "bin"))
XDG_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
CACHE = pathlib.Path(os.environ.get("HEADROOM_CACHE", XDG_CACHE / "headroom"))
FIRST_MS = 500
SHAPES = {"speech": {"chunks": 3, "chunk-bytes": 48_000, "gap": "1s"},  # a second of 24 kHz PCM a sentence
          "sentence": {"chunks": 1, "chunk-bytes": 48_000, "gap": "1s"},
          "trickle": {"chunks": 21, "chunk-bytes": 320, "gap": "100ms"}}
RAMP_S = 2
BODY = '{"text":"The quick brown fox jumps.","voice":"af_heart","format":"pcm","stream":true}'

K6 = """
import http from 'k6/http';
export const options = {
  scenarios: { streams: { executor: 'ramping-vus', startVUs: 0, gracefulStop: '10s', stages: [
    { duration: __ENV.RAMP + 's', target: __ENV.STREAMS }, { duration: (__ENV.SECONDS - __ENV.RAMP) + 's', target: __ENV.STREAMS },
  ] } },
  summaryTrendStats: ['med', 'p(99)', 'max', 'count'],
};
export default function () {
  http.post(__ENV.URL, __ENV.BODY, { headers: { 'Content-Type': 'application/json' } });
}
"""

# stream=True: the reported time ends with the headers, which this server sends with the first audio; then the rest is read.
LOCUST = """
from locust import FastHttpUser, HttpUser, task
import os
Base = FastHttpUser if os.environ['LOCUST_KIND'] == 'fast' else HttpUser
class Speaker(Base):
    @task
    def speak(self):
        answer = self.client.post('/', data=os.environ['BODY'], headers={'Content-Type': 'application/json'}, stream=True)
        if os.environ['LOCUST_KIND'] == 'fast':
            answer.content
        else:
            for _ in answer.iter_content(65536):
                pass
"""


def venv(name: str, version: str) -> pathlib.Path:
    """The tool's own virtual environment, made once."""
    folder = CACHE / f"bench-{name}-{version}"
    program = folder / "bin" / name
    if not program.exists():
        print(f"installing {name} {version} from PyPI into {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "-q", "--disable-pip-version-check", f"{name}=={version}"], check=True)
    return program


class Server:
    def __init__(self, core: int, shape: dict):
        options = [word for name, value in shape.items() for word in (f"--{name}", str(value))]
        self.process = subprocess.Popen(["taskset", "-c", str(core), BIN / "tts-bench", "selftest", "--serve", "--first", f"{FIRST_MS}ms",
                                         *options], stdout=subprocess.PIPE, text=True)
        self.url = "http://" + re.search(r"listening on (\S+)", self.process.stdout.readline()).group(1) + "/"

    def stop(self) -> dict:
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=30)[0])


def timed(command: list, core: int, env: dict, seconds: float) -> tuple[float, str]:
    """Runs a tool on its core; CPU seconds of all its processes, and what it printed."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(["taskset", "-c", str(core), *map(str, command)], env={**os.environ, **env}, stdout=out, stderr=out)
        began = time.monotonic()
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > seconds * 3 + 120:
                process.kill()
            time.sleep(0.05)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read()


def run_ours(url: str, a, core: int, folder: pathlib.Path) -> dict:
    cpu, text = timed([BIN / "tts-bench", "load", "--http", url, "--n", a.streams, "--duration", f"{a.seconds}s", "--json",
                       "--records", "none", "--ramp", f"{RAMP_S}s", "--out", folder], core, {}, a.seconds)
    out = json.loads(text[text.index("{"):])
    return {"requests": out["started"], "ok": out["ok"], "cpu_s": cpu, "p50_ms": out["ttfab_ms"]["p50"], "p99_ms": out["ttfab_ms"]["p99"]}


def run_k6(url: str, a, core: int, folder: pathlib.Path) -> dict:
    program = venv("k6", "1.1.0")
    (folder / "k6.js").write_text(K6)
    cpu, text = timed([program, "run", "--quiet", "--no-usage-report", "--summary-export", folder / "k6.json", folder / "k6.js"], core,
                      {"URL": url, "BODY": BODY, "STREAMS": str(a.streams), "SECONDS": str(a.seconds), "RAMP": str(RAMP_S)}, a.seconds)
    if not (folder / "k6.json").exists():
        raise SystemExit(text[-3000:])
    metrics = json.loads((folder / "k6.json").read_text())["metrics"]
    return {"requests": metrics["http_reqs"]["count"], "ok": metrics["http_reqs"]["count"] - metrics["http_req_failed"].get("passes", 0),
            "cpu_s": cpu, "p50_ms": metrics["http_req_waiting"]["med"], "p99_ms": metrics["http_req_waiting"]["p(99)"]}


def run_locust(url: str, a, core: int, folder: pathlib.Path, kind: str) -> dict:
    program = venv("locust", "2.47.0")
    (folder / "locustfile.py").write_text(LOCUST)
    cpu, text = timed([program, "-f", folder / "locustfile.py", "--headless", "-u", a.streams, "-r", a.streams / RAMP_S, "-t",
                       f"{a.seconds}s", "--stop-timeout", "10", "--host", url, "--only-summary", "--csv", folder / f"locust-{kind}"],
                      core, {"BODY": BODY, "LOCUST_KIND": kind}, a.seconds)
    path = folder / f"locust-{kind}_stats.csv"
    if not path.exists():
        raise SystemExit(text[-3000:])
    row = next(r for r in csv.DictReader(path.open()) if r["Name"] == "Aggregated")
    count = int(row["Request Count"])
    if count == 0:
        print(f"locust ({kind}) reported no request in {a.seconds} s; give it longer with --seconds")
        return {}
    return {"requests": count, "ok": count - int(row["Failure Count"]), "cpu_s": cpu, "p50_ms": float(row["50%"]),
            "p99_ms": float(row["99%"])}


TOOLS = {
    "tts-bench": run_ours,
    "k6": run_k6,
    "locust": lambda *x: run_locust(*x, kind="plain"),
    "locust-fast": lambda *x: run_locust(*x, kind="fast"),
}
WANTED = {"k6": 5, "locust": 20}


def measure(tool: str, a, cores: list, folder: pathlib.Path) -> dict:
    server = Server(cores[-1], SHAPES[a.shape])
    try:
        row = TOOLS[tool](server.url, a, cores[0], folder)
    finally:
        truth = server.stop()
    if not row:
        return row
    row["cpu_ms_per_request"] = 1000 * row["cpu_s"] / max(row["requests"], 1)
    row["error_p50_ms"] = row["p50_ms"] - FIRST_MS - truth["late_p50_ms"]
    row["error_p99_ms"] = row["p99_ms"] - FIRST_MS - truth["late_p99_ms"]
    row["most_outstanding"] = truth["most_outstanding"]
    print(f"{tool:12} {row['requests']:7} requests  {row['cpu_ms_per_request']:7.3f} ms CPU a request  TTFAB error "
          f"p50 {row['error_p50_ms']:8.2f}  p99 {row['error_p99_ms']:8.2f} ms  at most {row['most_outstanding']} outstanding",
          flush=True)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench driver", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="speech")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools", default="k6,locust,locust-fast", help="beside tts-bench")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here")
    a = parser.parse_args()
    others = [name for name in a.tools.split(",") if name]
    if unknown := set(others) - set(TOOLS):
        parser.error(f"unknown tools: {', '.join(sorted(unknown))}; known: {', '.join(TOOLS)}")
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        print("one core only: server and tool share it")
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(a.rounds):
            rounds.append({tool: measure(tool, a, cores, pathlib.Path(name)) for tool in ["tts-bench", *others]})
    good = True
    for tool in others:
        ratios = [r[tool]["cpu_ms_per_request"] / r["tts-bench"]["cpu_ms_per_request"] for r in rounds if r[tool]]
        if not ratios:
            good = good and tool not in WANTED
            continue
        said = f"{tool} uses {min(ratios):.1f} times the CPU (median {statistics.median(ratios):.1f} of {len(ratios)} rounds)"
        if wanted := WANTED.get(tool):
            good = good and min(ratios) >= wanted
            said += f"; wanted at least {wanted}: {'reached' if min(ratios) >= wanted else 'NOT reached'}"
        print(said)
    if a.json:
        a.json.write_text(json.dumps({"shape": a.shape, "streams": a.streams, "seconds": a.seconds, "rounds": rounds}, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
