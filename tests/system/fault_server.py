"""A small speech server with faults on request: resets, refusals, hangs, slow answers, another request format."""

import asyncio
import json
import socket
import struct
import threading

SILENCE_THEN_TONE = struct.pack("<2400h", *([0] * 1200 + [8000, -8000] * 600))  # 0.1 s at 24 kHz, audible from the middle


class FaultServer:
    """Every n-th request gets a fault; the others are answered after `delay` seconds. Runs on its own thread."""

    def __init__(self, delay: float = 0.05, every: int = 0, fault: str = "", hang: float = 8.0, check=None,
                 content_type: str = "audio/pcm", audio: bytes = SILENCE_THEN_TONE, pieces: int = 1, gap: float = 0.0):
        self.delay, self.every, self.fault, self.hang = delay, every, fault, hang
        self.check, self.content_type, self.audio, self.pieces, self.gap = check, content_type, audio, pieces, gap
        self.requests, self.faults, self.outstanding, self.most = 0, 0, 0, 0
        self.wrong: list = []
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort() if writer.transport else None

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = {k.strip().lower(): v.strip() for k, _, v in (line.partition(":") for line in head.split("\r\n")[1:])}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.requests += 1
        self.outstanding += 1
        self.most = max(self.most, self.outstanding)
        try:
            if self.check and not self.check(head.split("\r\n")[0], headers, body):
                self.wrong.append((head, body))
            faulty = self.every > 0 and self.requests % self.every == 0
            if faulty:
                self.faults += 1
                return await self._faulty(writer)
            await asyncio.sleep(self.delay)
            return await self._speak(writer)
        finally:
            self.outstanding -= 1

    async def _faulty(self, writer: asyncio.StreamWriter) -> bool:
        if self.fault == "reset":
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if self.fault == "cut":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4800\r\n\r\n" + self.audio[:100])
            await writer.drain()
            return False
        if self.fault == "hang":
            await asyncio.sleep(self.hang)
            return await self._speak(writer)
        refusal = json.dumps({"error": {"code": "queue_saturated", "message": "full"}}).encode()
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(refusal), refusal))
        await writer.drain()
        return True

    async def _speak(self, writer: asyncio.StreamWriter) -> bool:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for i in range(self.pieces):
            if i > 0:
                await asyncio.sleep(self.gap)
            writer.write(b"%x\r\n%s\r\n" % (len(self.audio), self.audio))
        # No await: the request is over before its last bytes can be answered by the next one.
        writer.write(b"0\r\n\r\n")
        return True
