"""Playback underruns and time to first audio under earliest deadline first and both FIFOs, at the same load.

./dev bench edf [--limits 12,16,20] [--seconds 40] [--service-ms 200] [--seed 1] [--json FILE]

A paced tts-serve spends --service-ms on each sentence, one worker, so that every run meets exactly the same work.
Turns arrive as a Poisson process at 1.3 times the capacity and --max-queue-depth keeps the outstanding ones at the
limit; the rest is refused. Each accepted turn is one connection whose client plays what it hears from its first
sample on: an underrun is a part that arrives after everything before it has been played. `agent`: one to three
sentences of 67 to 84 characters, as the driver's workload; `chatty`: the same behind a short opening ("Of course."),
as voice agents speak. --speed makes everything (service, audio, SLO) that much faster, which changes no ratio.
"""

import argparse
import asyncio
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("HEADROOM_BIN", ROOT / "build" / "release" / "bin"))
SCHEDULES = ("edf", "fifo", "fifo-requests")
RATE = 24000
OVERLOAD = 1.3


def sentence(length):
    return ("speech " * 20)[: length - 1].rstrip().ljust(length - 1, "x") + "."


def turn(rng, workload):
    sentences = [sentence(rng.randint(67, 84)) for _ in range(rng.randint(1, 3))]
    if workload == "chatty":
        sentences.insert(0, sentence(rng.randint(6, 24)))
    return sentences


class Figures:
    def __init__(self):
        self.first_s, self.later, self.late, self.late_s, self.refused, self.failed = [], 0, 0, 0.0, 0, 0

    def row(self):
        ordered = sorted(self.first_s) or [float("nan")]
        return {"turns": len(self.first_s), "refused": self.refused, "failed": self.failed,
                "ttfab_p50_s": round(ordered[len(ordered) // 2], 3), "ttfab_p95_s": round(ordered[int(0.95 * (len(ordered) - 1))], 3),
                "later_parts": self.later, "underruns": self.late, "underrun_share": round(self.late / max(1, self.later), 4),
                "underrun_s_per_turn": round(self.late_s / max(1, len(self.first_s)), 4)}


async def listen(port, text, speed, figures, counted):
    body = json.dumps({"text": text, "stream": True, "format": "pcm", "speed": speed}).encode()
    began = time.monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(b"POST /invocations HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        if status != 200:
            if counted:
                figures.refused += status == 503
                figures.failed += status != 503
            return
        played_until = None
        while size := int((await reader.readuntil(b"\r\n"))[:-2], 16):
            await reader.readexactly(size + 2)
            now = time.monotonic()
            if counted:
                if played_until is None:
                    figures.first_s.append(now - began)
                else:
                    figures.later += 1
                    figures.late += now > played_until
                    figures.late_s += max(0.0, now - played_until)
            played_until = max(now, played_until or now) + size / 2 / RATE
    except (asyncio.IncompleteReadError, ConnectionError):
        figures.failed += counted
    finally:
        writer.close()


async def load(port, options, workload, figures):
    rng = random.Random(options.seed)
    mean_sentences = 2 + (workload == "chatty")
    rate = OVERLOAD * options.speed / (options.service_ms / 1e3 * mean_sentences)
    began, at, tasks = time.monotonic(), 0.0, []
    while at < options.seconds:
        at += rng.expovariate(rate)
        text = " ".join(turn(rng, workload))
        await asyncio.sleep(max(0.0, began + at - time.monotonic()))
        counted = at > options.seconds / 5  # before that it only fills up
        tasks.append(asyncio.create_task(listen(port, text, options.speed, figures, counted)))
    await asyncio.gather(*tasks)


def run(options, schedule, limit, workload):
    with tempfile.NamedTemporaryFile("w+") as log:
        server = subprocess.Popen(
            [BIN / "tts-serve", "--engine", "paced", "--paced-unit", "sentence", "--service-ms", str(options.service_ms / options.speed),
             "--overhead-ms", "0", "--slo-ms", str(options.slo_ms / options.speed), "--max-queue-depth", str(limit),
             "--schedule", schedule, "--host", "127.0.0.1", "--port", "0", "--log-level", "info"], stdout=log, stderr=log)
        try:
            until = time.monotonic() + 20
            while "=== STAGE ready" not in (text := pathlib.Path(log.name).read_text()):
                if server.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"tts-serve did not start:\n{text}")
                time.sleep(0.02)
            port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", text).group(1))
            figures = Figures()
            asyncio.run(load(port, options, workload, figures))
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(40)
    row = figures.row()
    for key in ("ttfab_p50_s", "ttfab_p95_s", "underrun_s_per_turn"):  # as at speed 1
        row[key] = round(row[key] * options.speed, 3)
    return {"workload": workload, "limit": limit, "schedule": schedule, **row}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", default="12,16,20", help="admission limits, in turn")
    parser.add_argument("--workloads", default="agent,chatty")
    parser.add_argument("--seconds", type=float, default=40, help="of arrivals per run")
    parser.add_argument("--service-ms", type=float, default=200, help="of a sentence, at speed 1")
    parser.add_argument("--slo-ms", type=float, default=3000)
    parser.add_argument("--speed", type=float, default=2, help="0.25 to 4: how much faster than life it runs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = []
    print("workload limit schedule       turns  TTFAB p50   p95 s   underruns / later parts    s per turn")
    for workload in options.workloads.split(","):
        for limit in map(int, options.limits.split(",")):
            for schedule in SCHEDULES:
                row = run(options, schedule, limit, workload)
                rows.append(row)
                share = 100 * row["underrun_share"]
                print(f"{workload:8} {limit:5} {schedule:13} {row['turns']:6} {row['ttfab_p50_s']:10.2f} {row['ttfab_p95_s']:7.2f} "
                      f"{row['underruns']:8} /{row['later_parts']:5} = {share:5.1f} % {row['underrun_s_per_turn']:9.2f}"
                      + (f"   {row['failed']} failed" if row["failed"] else ""), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"options": {k: str(v) for k, v in vars(options).items()}, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
