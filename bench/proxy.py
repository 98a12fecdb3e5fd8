#!/usr/bin/env python3
"""./dev bench proxy: what it costs that tts-local stands between a client and its instance.

With streams open through tts-local (--streams, each a chunk of 100 ms of audio every 100 ms), probes alternate between the
instance itself and tts-local; compared are the times to the first byte of their answers. Client and instance are the same on
both ways, so the difference is tts-local's. Its CPU time is read from /proc. usage: bench/proxy.py [--streams N] [--probes N]
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from local_cloud import LocalCloud, children, make_endpoint  # noqa: E402

CHUNK = 4800  # 100 ms of 24 kHz PCM


def request(path, order):
    body = json.dumps(order).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection:
    """A kept connection that times the first byte of each answer's body and reads the rest."""

    def __init__(self, port, path):
        self.port, self.path = port, path

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def ask(self, order):
        begun = time.perf_counter()
        self.writer.write(request(self.path, order))
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        size = await self.reader.readline()
        first = time.perf_counter() - begun
        while (length := int(size, 16)) > 0:
            await self.reader.readexactly(length + 2)
            size = await self.reader.readline()
        await self.reader.readline()
        return first

    def close(self):
        self.writer.close()


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def rank(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] * 1000


async def measure(cloud, instance_port, streams, probes):
    proxied = "/endpoints/e/invocations-response-stream"
    stop = asyncio.Event()

    async def hold():
        link = await Connection(cloud.port, proxied).open()
        while not stop.is_set():
            await link.ask({"n": 20, "bytes": CHUNK, "every": 0.1})
        link.close()

    held = [asyncio.create_task(hold()) for _ in range(streams)]
    await asyncio.sleep(1)
    ways = {"direct": await Connection(instance_port, "/invocations").open(), "tts-local": await Connection(cloud.port, proxied).open()}
    times = {name: [] for name in ways}
    for i in range(probes):
        for name in sorted(ways, reverse=i % 2 == 1):
            times[name].append(await ways[name].ask({"n": 1, "bytes": CHUNK, "every": 0}))
        await asyncio.sleep(0.002)
    stop.set()
    await asyncio.gather(*held)
    # CPU of one streamed request, nothing else going on: 2 s of audio in 20 chunks.
    count, before = 200, cpu_s(cloud.process.pid)
    for _ in range(count):
        await ways["tts-local"].ask({"n": 20, "bytes": CHUNK, "every": 0})
    cpu_ms = (cpu_s(cloud.process.pid) - before) / count * 1000
    for link in ways.values():
        link.close()
    return times, cpu_ms


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--probes", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headroom-proxy-") as folder:
        cloud = LocalCloud(pathlib.Path(folder) / "state", serve=ROOT / "bench" / "proxy_instance.py")
        try:
            make_endpoint(cloud)
            cloud.port = int(cloud.url.rsplit(":", 1)[1])
            assert len(children(cloud)) == 1
            instance_port = int(re.findall(r"port (\d+)", cloud.log())[-1])
            times, cpu_ms = asyncio.run(measure(cloud, instance_port, options.streams, options.probes))
        finally:
            cloud.stop()
    print(f"{options.streams} streams open, {options.probes} probes each way; time to first byte in ms")
    print(f"{'':12}{'p50':>8}{'p90':>8}{'p99':>8}")
    for name, values in times.items():
        print(f"{name:12}" + "".join(f"{rank(values, q):8.2f}" for q in (0.5, 0.9, 0.99)))
    print(f"{'added':12}" + "".join(f"{rank(times['tts-local'], q) - rank(times['direct'], q):8.2f}" for q in (0.5, 0.9, 0.99)))
    print(f"CPU of tts-local for a streamed request of 2 s of audio in 20 chunks: {cpu_ms:.2f} ms")


if __name__ == "__main__":
    main()
