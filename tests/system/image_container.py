"""Runs `serve` in an image's file tree as SageMaker runs the container, and asks of it what SageMaker and an owner want."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from local_cloud import SLOW

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
MODEL = pathlib.Path(os.environ.get("HEADROOM_CACHE", CACHE)) / "models" / "kokoro-82m"
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="a chroot with a network of its own needs root")
TTS = {"text": "The tree speaks.", "format": "wav", "stream": False}
# Runs inside the container's network: its only way in.
CLIENT = """
import json, sys, urllib.error, urllib.request
method, path, body = sys.argv[1], sys.argv[2], sys.argv[3].encode() or None
request = urllib.request.Request("http://127.0.0.1:8080" + path, data=body, method=method, headers={"Content-Type": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=60) as answer:
        data = answer.read()
        print(json.dumps({"status": answer.status, "bytes": len(data), "head": data[:12].hex()}))
except urllib.error.HTTPError as error:
    print(json.dumps({"status": error.code}))
except OSError as error:
    print(json.dumps({"status": 0, "error": str(error)}))
"""


class Container:
    """`serve` in the tree: own network without a route, own processes, user 10001."""

    def __init__(self, tree: pathlib.Path, model: pathlib.Path):
        # image_tree.sh makes its mounts private itself: in a chroot the root is no mount point, and unshare would refuse.
        apart = ["unshare", "--net", "--mount", "--propagation", "unchanged", "--pid", "--fork", "--kill-child"]
        self.process = subprocess.Popen(
            [*apart, HERE / "image_tree.sh", tree, model, "/usr/local/bin/tts-serve", "serve"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"})
        self.main = 0

    def find(self) -> None:
        """The server itself, which unshare has forked and which has become tts-serve."""
        deadline = time.monotonic() + 30 * SLOW
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(FileNotFoundError):  # it may end between two looks
                children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
                if children and pathlib.Path(f"/proc/{children[0]}/comm").read_text().startswith("tts-serve"):
                    self.main = int(children[0])
                    return
            time.sleep(0.1)
        raise AssertionError(f"it did not start: {self.process.stdout.read() if self.process.poll() is not None else 'still starting'}")

    def inside(self, *words) -> subprocess.CompletedProcess:
        enter = ["nsenter", "--target", str(self.main), "--net"]
        return subprocess.run([*enter, *words], text=True, stdout=subprocess.PIPE, timeout=90 * SLOW)

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        return json.loads(self.inside(sys.executable, "-c", CLIENT, method, path, json.dumps(body) if body else "").stdout)

    def healthy(self) -> bool:
        enter = ["nsenter", "--target", str(self.main), "--net", "--root", "--wd", "/usr/local/bin/healthcheck"]
        return subprocess.run(enter, stderr=subprocess.DEVNULL, env={}).returncode == 0


def reachable(folder: pathlib.Path) -> None:
    """The tests' own folders are closed to others; the container's user must reach its root."""
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o011)


def serves_speaks_and_drains(tree: pathlib.Path) -> None:
    container = Container(tree, MODEL)
    try:
        container.find()
        status = pathlib.Path(f"/proc/{container.main}/status").read_text()
        assert re.search(r"^Uid:\s+10001\s+10001\s+10001\s+10001$", status, re.M), status
        assert re.search(r"^CapEff:\s+0+$", status, re.M) and re.search(r"^NoNewPrivs:\s+1$", status, re.M)
        deadline = time.monotonic() + 180 * SLOW
        while container.ask("GET", "/ping")["status"] != 200:
            assert time.monotonic() < deadline and container.process.poll() is None, "not ready in time"
            time.sleep(0.5)
        assert container.healthy()
        answer = container.ask("POST", "/invocations", TTS)
        assert answer["status"] == 200 and answer["head"].startswith(b"RIFF".hex()) and answer["bytes"] > 24000, answer
        os.kill(container.main, signal.SIGTERM)
        output = container.process.communicate(timeout=60 * SLOW)[0]
        assert container.process.returncode == 0, output
        for stage in ("container_start", "weights_fetched", "framework_init", "weights_ready", "warmup_done", "ready"):
            assert output.count(f"=== STAGE {stage} ") == 1, output
    finally:
        if container.process.poll() is None:
            container.process.kill()
            container.process.wait()
