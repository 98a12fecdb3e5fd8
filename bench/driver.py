"""CPU per request and error of the time to first audio: tts-bench beside k6 and locust, one server, the same streams.

./dev bench driver [--streams 1000] [--seconds 15] [--json FILE]

The server of known delay (`tts-bench selftest --serve`) has one core, each load tool in turn the other. A tool's
error is what it reports for the time to the first byte minus what the server itself took (percentile against
percentile). CPU is all of a tool's process, start-up included, over its requests. Targets: at most a fifth of k6's
CPU and a twentieth of locust's.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HEADROOM_BIN", ROOT / "build" / "release" / "bin"))
XDG_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
CACHE = pathlib.Path(os.environ.get("HEADROOM_CACHE", XDG_CACHE / "headroom"))
FIRST_MS, GAP_MS, CHUNKS = 500, 100, 21
BODY = '{"text":"The quick brown fox jumps.","voice":"af_heart","format":"pcm","stream":true}'

K6 = """
import http from 'k6/http';
export const options = {
  vus: __ENV.STREAMS, duration: __ENV.SECONDS + 's', summaryTrendStats: ['med', 'p(99)', 'max', 'count'],
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
    def __init__(self, core: int):
        self.process = subprocess.Popen(
            ["taskset", "-c", str(core), BIN / "tts-bench", "selftest", "--serve", "--first", f"{FIRST_MS}ms", "--gap", f"{GAP_MS}ms",
             "--chunks", str(CHUNKS)], stdout=subprocess.PIPE, text=True)
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
                       "--records", "none", "--ramp", "2s", "--out", folder], core, {}, a.seconds)
    out = json.loads(text[text.index("{"):])
    return {"requests": out["started"], "ok": out["ok"], "cpu_s": cpu, "p50_ms": out["ttfab_ms"]["p50"], "p99_ms": out["ttfab_ms"]["p99"]}


def run_k6(url: str, a, core: int, folder: pathlib.Path) -> dict:
    program = venv("k6", "1.1.0")
    (folder / "k6.js").write_text(K6)
    cpu, text = timed([program, "run", "--quiet", "--no-usage-report", "--summary-export", folder / "k6.json", folder / "k6.js"], core,
                      {"URL": url, "BODY": BODY, "STREAMS": str(a.streams), "SECONDS": str(a.seconds)}, a.seconds)
    if not (folder / "k6.json").exists():
        raise SystemExit(text[-3000:])
    metrics = json.loads((folder / "k6.json").read_text())["metrics"]
    return {"requests": metrics["http_reqs"]["count"], "ok": metrics["http_reqs"]["count"] - metrics["http_req_failed"].get("passes", 0),
            "cpu_s": cpu, "p50_ms": metrics["http_req_waiting"]["med"], "p99_ms": metrics["http_req_waiting"]["p(99)"]}


def run_locust(url: str, a, core: int, folder: pathlib.Path, kind: str) -> dict:
    program = venv("locust", "2.47.0")
    (folder / "locustfile.py").write_text(LOCUST)
    cpu, text = timed([program, "-f", folder / "locustfile.py", "--headless", "-u", a.streams, "-r", a.streams, "-t", f"{a.seconds}s",
                       "--host", url, "--only-summary", "--csv", folder / f"locust-{kind}"],
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


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench driver", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here")
    a = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        print("one core only: server and tool share it")
    tools = {
        "tts-bench": run_ours,
        "k6 1.1.0": run_k6,
        "locust 2.47.0": lambda *x: run_locust(*x, kind="plain"),
        "locust 2.47.0 FastHttpUser": lambda *x: run_locust(*x, kind="fast"),
    }
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for tool, run in tools.items():
            server = Server(cores[-1])
            try:
                row = run(server.url, a, cores[0], folder)
            finally:
                truth = server.stop()
            if not row:
                continue
            row["cpu_ms_per_request"] = 1000 * row["cpu_s"] / max(row["requests"], 1)
            row["error_p50_ms"] = row["p50_ms"] - FIRST_MS - truth["late_p50_ms"]
            row["error_p99_ms"] = row["p99_ms"] - FIRST_MS - truth["late_p99_ms"]
            row["most_outstanding"] = truth["most_outstanding"]
            rows[tool] = row
            print(f"{tool:28} {row['requests']:7} requests  {row['cpu_ms_per_request']:7.3f} ms CPU a request  TTFAB error "
                  f"p50 {row['error_p50_ms']:8.2f}  p99 {row['error_p99_ms']:8.2f} ms  at most {row['most_outstanding']} outstanding",
                  flush=True)
    ours = rows["tts-bench"]["cpu_ms_per_request"]
    good = True
    for tool, share in (("k6 1.1.0", 5), ("locust 2.47.0", 20)):
        ratio = rows.get(tool, {}).get("cpu_ms_per_request", 0) / ours
        good = good and ratio >= share
        print(f"{tool} uses {ratio:.1f} times the CPU (wanted: at least {share}): {'reached' if ratio >= share else 'NOT reached'}")
    if a.json:
        a.json.write_text(json.dumps({"streams": a.streams, "seconds": a.seconds, "tools": rows}, indent=2) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
