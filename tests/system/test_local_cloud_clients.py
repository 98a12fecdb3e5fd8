"""The life of an endpoint through clients other than boto3; the rest of them run in ./dev conformance."""

import os
import shutil
import subprocess

import pytest
from local_cloud import BIN, CACHE, ROOT, LocalCloud

STEPS = ["create", "invoke", "stream", "scale", "alarm", "metrics", "logs and quotas", "delete"]


def test_the_javascript_sdk_lives_through_an_endpoint(tmp_path):
    node = shutil.which("node")
    if node is None or not (CACHE / "npm-test" / "node_modules").exists():
        pytest.skip("node or the JavaScript SDK is missing; ./dev setup brings both")
    local = LocalCloud(tmp_path / "state", "--credentials", "AKID:right", serve=BIN / "tts-serve")
    try:
        done = subprocess.run([node, ROOT / "tests" / "conformance" / "life.mjs", local.url, "life"], capture_output=True, text=True,
                              timeout=120, env={**os.environ, "HEADROOM_NPM": str(CACHE / "npm-test")})
    finally:
        assert local.stop() == 0
    assert [line.removeprefix("ok ") for line in done.stdout.splitlines()] == STEPS, done.stdout + done.stderr
    assert done.returncode == 0
