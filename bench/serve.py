"""tts-serve beside fastkokoro 0.7.0: throughput, time to first audio, start, memory, Q_max; same weights, voices and phrases.

./dev bench serve [--rounds 3] [--seconds 20] [--only short|agent] [--no-qmax] [--json FILE]

fastkokoro is installed into an environment of its own under the cache folder and gets the same float model and the same
voices. In each round both servers are started, measured and stopped in turn, the order alternates, and every ratio is
taken within its round; printed are the smallest and the median. Both answer POST /v1/audio/speech with streamed PCM.
Targets are judged (exit 1 when missed) only on a processor with amx_bf16; elsewhere the figures are reported.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HEADROOM_BIN", ROOT / "build" / "release" / "bin"))
XDG_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
CACHE = pathlib.Path(os.environ.get("HEADROOM_CACHE", XDG_CACHE / "headroom"))
PEER_VERSION = "0.7.0"
PEER = CACHE / f"bench-fastkokoro-{PEER_VERSION}"
START_LIMIT_S = 180
TARGETS = {"throughput short 4": 6.0, "throughput agent 4": 6.0, "p95 short 4": 6.0, "p95 agent 4": 6.0, "start": 4.0,
           "q_max": 6.0}

SHORT = ["Where is the next stop?", "I will call you tonight.", "The door was left open.", "Please take a seat here.",
         "Your table is ready now.", "Turn left at the corner.", "We are almost there, yes.", "Thanks for your patience."]
AGENT = ["I found two flights that leave tomorrow before nine in the morning.", "The first one is direct, and it lands at noon.",
         "Would you like me to book it for you?", "Your order was shipped yesterday and should arrive on Friday.",
         "If you are not at home, it will be left with a neighbour.", "I have moved the meeting to the large room upstairs.",
         "Everyone who was invited has been told about the change.", "Is there anything else I can help you with today?"]


def phrase(rng: random.Random, workload: str) -> str:
    return rng.choice(SHORT) if workload == "short" else " ".join(rng.sample(AGENT, rng.randint(1, 3)))


def install_peer() -> None:
    if (PEER / ".complete").is_file():
        return
    print(f"installing fastkokoro {PEER_VERSION} into {PEER}")
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", PEER], check=True)
    subprocess.run([PEER / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                    f"fastkokoro[cpu]=={PEER_VERSION}", "onnxruntime==1.32.0"], check=True)
    (PEER / ".complete").touch()


def peer_voices() -> pathlib.Path:
    """The voices of the model directory as one .npz, which is what fastkokoro takes."""
    path = PEER / "voices.npz"
    if not path.is_file():
        script = ("import numpy,pathlib,sys\n"
                  "files=sorted(pathlib.Path(sys.argv[1]).glob('*.bin'))\n"
                  "numpy.savez(sys.argv[2],**{f.stem:numpy.fromfile(f,'<f4').reshape(510,1,256) for f in files})\n")
        subprocess.run([PEER / "bin/python", "-c", script, CACHE / "models/kokoro-82m/voices", path], check=True)
    return path


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """One running server; `ready_s` is from start to the first 200 of its readiness route."""

    def __init__(self, name: str, folder: pathlib.Path):
        self.name, self.port = name, free_port()
        self.log = (folder / f"{name}.log").open("w")
        environment = dict(os.environ)
        if name == "tts-serve":
            self.route = "/ping"
            command = [BIN / "tts-serve", "--host", "127.0.0.1", "--port", str(self.port), "--model-dir", CACHE / "models/kokoro-82m",
                       "--cache-dir", folder / "compiled"]
        else:
            self.route = "/health"
            command = [PEER / "bin/fastkokoro"]
            environment |= {"FASTKOKORO_HOST": "127.0.0.1", "FASTKOKORO_PORT": str(self.port), "HF_HUB_OFFLINE": "1",
                            "FASTKOKORO_MODEL_PATH": str(CACHE / "reference/kokoro-82m/model.onnx"),
                            "FASTKOKORO_VOICES_PATH": str(peer_voices())}
        began = time.monotonic()
        self.process = subprocess.Popen(command, env=environment, stdout=self.log, stderr=subprocess.STDOUT)
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() - began > START_LIMIT_S:
                self.stop()
                raise SystemExit(f"bench: {name} did not become ready; its log:\n{pathlib.Path(self.log.name).read_text()[-2000:]}")
            time.sleep(0.02)
        self.ready_s = time.monotonic() - began

    def answers(self) -> bool:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", self.route)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False

    def resident_mib(self) -> float:
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def speak(self, text: str) -> tuple[float, int]:
        """(seconds to the first byte of audio, bytes of audio)."""
        body = json.dumps({"model": "kokoro", "input": text, "voice": "af_heart", "response_format": "pcm", "stream": True})
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("POST", "/v1/audio/speech", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        first = answer.read(1)
        took = time.monotonic() - began
        size = len(first) + len(answer.read())
        connection.close()
        if answer.status != 200 or size < 1000:
            raise RuntimeError(f"{self.name}: status {answer.status}, {size} bytes")
        return took, size

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def hold(server: Server, workload: str, outstanding: int, seconds: float, seed: int) -> dict:
    """Closed loop: `outstanding` clients, each with its own seeded phrases, the same for both servers."""
    until = time.monotonic() + seconds
    firsts, errors, done, lock = [], [], [], threading.Lock()

    def client(number: int) -> None:
        rng = random.Random(seed * 1000 + number)
        while time.monotonic() < until:
            try:
                took, size = server.speak(phrase(rng, workload))
            except (OSError, RuntimeError, http.client.HTTPException) as error:
                with lock:
                    errors.append(str(error))
                return
            with lock:
                firsts.append(took)
                done.append((time.monotonic(), size / 48000))

    began = time.monotonic()
    threads = [threading.Thread(target=client, args=(i,)) for i in range(outstanding)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors or not done:
        raise SystemExit(f"bench: {server.name}, {workload} at {outstanding}: {errors[:3] or 'no request ended'}")
    elapsed = max(t for t, _ in done) - began
    firsts.sort()
    return {"rps": len(done) / elapsed, "audio_s_per_s": sum(a for _, a in done) / elapsed, "requests": len(done),
            "p50_ms": 1000 * firsts[len(firsts) // 2], "p95_ms": 1000 * firsts[min(len(firsts) - 1, int(0.95 * len(firsts)))]}


def q_max(server: Server, folder: pathlib.Path) -> float | None:
    """What `tts-bench qmax --http` finds at an SLO of 3000 ms; None where it does not end with an estimate."""
    out = folder / f"qmax-{server.name}"
    command = [BIN / "tts-bench", "qmax", "--http", f"http://127.0.0.1:{server.port}", "--api", "openai", "--slo-ms", "3000", "--budget",
               "240s", "--max-hold", "60s", "--out", out, "--yes", "--quiet"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900, check=False)
    found = sorted(out.rglob("qmax*.json"))
    if not found:
        print(f"  qmax of {server.name}: no artifact (exit {done.returncode}): {done.stdout.strip()[-300:]}")
        return None
    artifact = json.loads(found[0].read_text())
    return artifact.get("q_max_estimate") or artifact.get("q_max")


def measure(name: str, options: argparse.Namespace, folder: pathlib.Path, seed: int, with_qmax: bool) -> dict:
    server = Server(name, folder)
    try:
        row = {"start_s": server.ready_s, "load": os.getloadavg()[0]}
        for workload in options.workloads:
            hold(server, workload, 2, min(3.0, options.seconds), seed)  # first shapes and connections, not counted
            for outstanding in (1, 4):
                row[f"{workload} {outstanding}"] = hold(server, workload, outstanding, options.seconds, seed)
        row["resident_mib"] = server.resident_mib()
        if with_qmax:
            row["q_max"] = q_max(server, folder)
        return row
    finally:
        server.stop()


def ratios(ours: dict, peer: dict) -> dict[str, float]:
    out = {"start": peer["start_s"] / ours["start_s"], "memory": peer["resident_mib"] / ours["resident_mib"]}
    for cell in (c for c in ours if isinstance(ours[c], dict)):
        out[f"throughput {cell}"] = ours[cell]["rps"] / peer[cell]["rps"]
        out[f"audio {cell}"] = ours[cell]["audio_s_per_s"] / peer[cell]["audio_s_per_s"]
        out[f"p95 {cell}"] = peer[cell]["p95_ms"] / ours[cell]["p95_ms"]
    if ours.get("q_max") and peer.get("q_max"):
        out["q_max"] = ours["q_max"] / peer["q_max"]
    return out


def show(rounds: list[dict], judged: bool) -> bool:
    good = True
    print(f"\n{'fastkokoro over ours, or ours over it':40} {'min':>7} {'median':>7}  target")
    for key in {k: 0 for r in rounds for k in r["ratios"]}:
        values = [r["ratios"][key] for r in rounds if key in r["ratios"]]
        target = TARGETS.get(key)
        missed = target is not None and statistics.median(values) < target
        good = good and not (missed and judged)
        verdict = "" if target is None else f"{target:g} {('missed' if missed else 'met') if judged else 'not judged here'}"
        print(f"{key:40} {min(values):7.2f} {statistics.median(values):7.2f}  {verdict}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", choices=("short", "agent"))
    parser.add_argument("--no-qmax", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.workloads = [options.only] if options.only else ["short", "agent"]

    install_peer()
    judged = "amx_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    if not judged:
        print("this processor has no amx_bf16: figures are reported, not judged")
    rounds = []
    with tempfile.TemporaryDirectory(prefix="headroom-bench-") as name:
        folder = pathlib.Path(name)
        Server("tts-serve", folder).stop()  # fills the compile cache: what is measured is the warm start
        for number in range(options.rounds):
            order = ["tts-serve", "fastkokoro"][:: 1 if number % 2 == 0 else -1]
            with_qmax = not options.no_qmax and number == 0
            rows = {server: measure(server, options, folder, number, with_qmax) for server in order}
            rows["ratios"] = ratios(rows["tts-serve"], rows["fastkokoro"])
            rounds.append(rows)
            for server in order:
                row = rows[server]
                cells = ", ".join(f"{c}: {v['rps']:.2f}/s p95 {v['p95_ms']:.0f} ms" for c, v in row.items() if isinstance(v, dict))
                print(f"round {number + 1} {server:10} start {row['start_s']:.2f} s, {row['resident_mib']:.0f} MiB, {cells}"
                      + (f", q_max {row['q_max']}" if row.get("q_max") else "") + f" (load {row['load']:.1f})", flush=True)
            if options.json:
                options.json.write_text(json.dumps(rounds, indent=1) + "\n")
    return 0 if show(rounds, judged) else 1


if __name__ == "__main__":
    sys.exit(main())
