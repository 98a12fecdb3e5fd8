"""Starts one tts-serve on a free port and speaks HTTP and WebSocket to it."""

import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import requests
from local_cloud import BIN, SLOW
from websockets.sync.client import connect


class Serve:
    """One tts-serve process; `wait` for ready unless told otherwise."""

    def __init__(self, folder: pathlib.Path, *options: str, wait: bool = True, environment: dict | None = None):
        self.log_path = folder / "serve.log"
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [BIN / "tts-serve", "serve", "--host", "127.0.0.1", "--port", "0", *options], stdout=log, stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})})
        self.url = ""
        if wait:
            self.wait_ready()

    @property
    def ws_url(self) -> str:
        return self.url.replace("http", "ws", 1) + "/invocations-bidirectional-stream"

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def wait_ready(self, timeout: float = 60) -> None:
        deadline = time.monotonic() + timeout * SLOW
        while time.monotonic() < deadline:
            found = re.search(r"listening on 127\.0\.0\.1:(\d+)", self.log())
            if found:
                self.url = f"http://127.0.0.1:{found.group(1)}"
                if requests.get(self.url + "/ping", timeout=10).status_code == 200:
                    return
            assert self.process.poll() is None, self.log()
            time.sleep(0.05)
        raise AssertionError("not ready in time\n" + self.log())

    def say(self, timeout: float = 60, **body) -> requests.Response:
        return requests.post(self.url + "/invocations", json=body, timeout=timeout * SLOW)

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60 * SLOW)


def session(server: Serve, **options):
    return connect(server.ws_url, max_size=None, **options)


@dataclasses.dataclass
class Heard:
    start: dict | None
    audio: bytes
    end: dict


def hear(link, request_id: str | None, started: bool = False) -> Heard:
    """Everything of one request that is answered next; `started`: its synthesis_start was taken already."""
    start, audio = None, b""
    while True:
        message = link.recv(timeout=60 * SLOW)
        if isinstance(message, bytes):
            assert start is not None or started, "audio before synthesis_start"
            audio += message
            continue
        event = json.loads(message)
        assert request_id is None or event["request_id"] == request_id, event
        if event["type"] == "synthesis_start":
            assert start is None and not started
            start = event
            continue
        assert event["type"] == "synthesis_complete", event
        return Heard(start, audio, event)
