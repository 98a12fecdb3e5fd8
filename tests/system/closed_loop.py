"""Closed-loop load on an endpoint of tts-local: so many requests outstanding, from one thread, without signing."""

import asyncio
import json
import threading

BODY = json.dumps({"text": "A short line to speak."}).encode()


class ClosedLoop:
    """Holds `n` requests outstanding until changed; a refused one waits a little before it is tried again."""

    def __init__(self, url, endpoint="e", n=0, backoff_s=0.25):
        self.host, port = url.removeprefix("http://").split(":")
        self.port, self.endpoint, self.wanted, self.backoff_s = int(port), endpoint, n, backoff_s
        self.ok = self.refused = self.broken = 0
        self.stopping = False
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()), daemon=True)
        self.thread.start()

    def hold(self, n):
        self.wanted = n

    def stop(self):
        self.stopping, self.wanted = True, 0
        self.thread.join(90)

    async def run(self):
        workers = []
        while not self.stopping or any(not w.done() for w in workers):
            while len(workers) < self.wanted:
                workers.append(asyncio.create_task(self.work(len(workers))))
            workers = [w for i, w in enumerate(workers) if i < self.wanted or not w.done()]
            await asyncio.sleep(0.05)

    async def work(self, index):
        reader = writer = None
        while index < self.wanted:
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection(self.host, self.port)
                status = await self.call(reader, writer)
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self.broken += 1
                writer = None
                await asyncio.sleep(self.backoff_s)
                continue
            if status == 200:
                self.ok += 1
            else:
                self.refused += 1
                await asyncio.sleep(self.backoff_s)
        if writer is not None:
            writer.close()

    async def call(self, reader, writer):
        writer.write(b"POST /endpoints/%s/invocations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\n\r\n" % (self.endpoint.encode(), len(BODY)) + BODY)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:"))
        await reader.readexactly(length)
        return int(head.split()[1])
