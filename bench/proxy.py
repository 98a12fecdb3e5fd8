#!/usr/bin/env python3
"""./dev bench proxy: what it costs that tts-local stands between a client and its instance.

With streams open through tts-local (--streams, each a chunk of 100 ms of audio every 100 ms, held by a process of their own), probes
alternate between the instance itself and tts-local; compared are the times to the first byte of their answers. Client and instance are
the same on both ways, so the difference is tts-local's. Rounds (--rounds) show how much of it is the machine's: each has its own
percentiles, and the least and the median round are printed. CPU time is read from /proc. usage: bench/proxy.py [--streams N] [--probes N]
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from local_cloud import LocalCloud, children, make_endpoint  # noqa: E402

CHUNK = 4800  # 100 ms of 24 kHz PCM
PROXIED = "/endpoints/e/invocations-response-stream"
QUANTILES = (0.5, 0.9, 0.99)


def request(path, order):
    body = json.dumps(order).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Probe:
    """A kept connection; a blocking socket, so that nothing but the kernel stands between the byte and the clock."""

    def __init__(self, port, path):
        self.path, self.socket = path, socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, order):
        """Seconds to the first byte of the body."""
        message = request(self.path, order)
        begun = time.perf_counter()
        self.socket.sendall(message)
        got = b""
        while (head := got.find(b"\r\n\r\n")) < 0 or len(got) == head + 4:
            got += self.read()
        first = time.perf_counter() - begun
        assert got.startswith(b"HTTP/1.1 200"), got[:200]
        while not got.endswith(b"\r\n0\r\n\r\n"):
            got = got[-8:] + self.read()
        return first

    def read(self):
        got = self.socket.recv(1 << 16)
        assert got, "the connection was closed"
        return got


async def hold_one(port, delay):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.sleep(delay)  # spread over the period, as streams of many clients are
    while True:
        writer.write(request(PROXIED, {"n": 20, "bytes": CHUNK, "every": 0.1}))
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        while (length := int(await reader.readline(), 16)) > 0:
            await reader.readexactly(length + 2)
        await reader.readline()


async def hold(port, streams):
    held = [asyncio.create_task(hold_one(port, 0.1 * i / streams)) for i in range(streams)]
    print("open", flush=True)
    await asyncio.gather(*held)


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rank(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1000


def run_rounds(ways, rounds, probes):
    """For each round the percentiles of both ways."""
    out = []
    for _ in range(rounds):
        times = {name: [] for name in ways}
        for i in range(probes):
            for name in sorted(ways, reverse=i % 2 == 1):
                times[name].append(ways[name].ask({"n": 1, "bytes": CHUNK, "every": 0}))
            time.sleep(0.002)
        out.append({name: [rank(values, q) for q in QUANTILES] for name, values in times.items()})
    return out


def measure(cloud, port, instance_port, options):
    holder = subprocess.Popen([sys.executable, __file__, "--hold", str(port), "--streams", str(options.streams)],
                              stdout=subprocess.PIPE) if options.streams else None
    try:
        if holder:
            holder.stdout.readline()
        time.sleep(1)
        ways = {"direct": Probe(instance_port, "/invocations"), "tts-local": Probe(port, PROXIED)}
        begun, before = time.monotonic(), cpu_s(cloud.process.pid)
        rows = run_rounds(ways, options.rounds, options.probes)
        share = (cpu_s(cloud.process.pid) - before) / (time.monotonic() - begun)
    finally:
        if holder:
            holder.kill()
            holder.wait()
            holder.stdout.close()
    time.sleep(0.5)
    count, before = 400, cpu_s(cloud.process.pid)
    for _ in range(count):
        ways["tts-local"].ask({"n": 20, "bytes": CHUNK, "every": 0})
    return rows, share, (cpu_s(cloud.process.pid) - before) / count * 1000


def show(rows, options):
    print(f"{options.streams} streams open, {options.rounds} rounds of {options.probes} probes each way; time to first byte in ms")
    print(f"{'':24}" + "".join(f"{f'p{100 * q:g}':>8}" for q in QUANTILES))
    for label, pick in (("least round", min), ("median round", statistics.median)):
        seen = {name: [pick([row[name][i] for row in rows]) for i in range(len(QUANTILES))] for name in ("direct", "tts-local")}
        seen["added"] = [after - before for before, after in zip(seen["direct"], seen["tts-local"], strict=True)]
        for name, values in seen.items():
            print(f"{name:11}{label:13}" + "".join(f"{value:8.2f}" for value in values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--probes", type=int, default=1000, help="each way, in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hold", type=int, metavar="PORT", help="only hold streams, until killed")
    options = parser.parse_args()
    if options.hold:
        return asyncio.run(hold(options.hold, options.streams))
    with tempfile.TemporaryDirectory(prefix="headroom-proxy-") as folder:
        cloud = LocalCloud(pathlib.Path(folder) / "state", serve=ROOT / "bench" / "proxy_instance.py")
        try:
            make_endpoint(cloud)
            assert len(children(cloud)) == 1
            instance_port = int(re.findall(r"port (\d+)", cloud.log())[-1])
            rows, share, cpu_ms = measure(cloud, int(cloud.url.rsplit(":", 1)[1]), instance_port, options)
        finally:
            cloud.stop()
    show(rows, options)
    print(f"CPU of tts-local: {100 * share:.0f} % of one core meanwhile; {cpu_ms:.2f} ms for a streamed request, 2 s of audio in 20 chunks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
