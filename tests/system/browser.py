"""Chromium for a test: one page, driven through the DevTools protocol, so that nothing depends on how fast it starts."""

import base64
import itertools
import json
import shutil
import subprocess
import time
import urllib.request

import pytest
from websockets.sync.client import connect


class Browser:
    def __init__(self, folder, width=1100, height=1000):
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if program is None:
            pytest.skip("Chromium is missing (Debian: apt install chromium)")
        profile = folder / "profile"
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},{height}",
             f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = profile / "DevToolsActivePort"
        self.until(lambda: port_file.exists() and len(port_file.read_text().split()) == 2)
        port = port_file.read_text().split()[0]

        def page():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as reply:
                return next((t["webSocketDebuggerUrl"] for t in json.loads(reply.read()) if t["type"] == "page"), None)

        self.manager = connect(self.until(page), max_size=None)
        self.link = self.manager.__enter__()
        self.numbers = itertools.count(1)
        self.events = []  # what the page told without being asked, once its domain is enabled

    @staticmethod
    def until(what, timeout=90):
        deadline = time.monotonic() + timeout
        while not (got := what()):
            assert time.monotonic() < deadline, f"waited {timeout} s in vain"
            time.sleep(0.1)
        return got

    def call(self, method, **parameters):
        number = next(self.numbers)
        self.link.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self.link.recv(timeout=60))).get("id") != number:
            if "method" in answer:
                self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def run(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def show(self, url, ready):
        """Opens `url` and waits until the script `ready` is true."""
        self.call("Page.navigate", url=url)
        self.until(lambda: self.run(ready))

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.manager.__exit__(None, None, None)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
