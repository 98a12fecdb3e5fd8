"""tts-bench selftest: it runs, never exceeds N, and names the limits that stand in its way."""

import json
import resource
import subprocess

import pytest
from local_cloud import BIN, SLOW

pytestmark = pytest.mark.alone

SMALL = ["--streams", "50", "--runs", "1", "--capacity", "200", "--duration", "1", "--first", "100ms", "--gap", "20ms", "--chunks", "5"]


def test_small_selftest():
    done = subprocess.run([BIN / "tts-bench", "selftest", "--json", *SMALL], stdout=subprocess.PIPE, text=True, timeout=60 * SLOW)
    assert done.returncode in (0, 4), done.stdout  # a busy machine may miss the wanted error
    out = json.loads(done.stdout)
    assert out["never_over"] is True
    for run in out["accuracy"] + out["capacity"]:
        assert run["over_limit"] == 0 and run["server_saw_most"] <= run["asked"]
        assert run["requests"] > run["asked"] and run["not_ok"] == 0
        assert 0 < run["ttfab_error_p50_ms"] <= run["ttfab_error_p99_ms"]
        assert 0 < run["cpu_ms_per_request"] < 20


def test_a_descriptor_limit_is_named_before_anything_starts():
    def low() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    done = subprocess.run([BIN / "tts-bench", "selftest", "--streams", "10", "--capacity", "1000"], preexec_fn=low,
                          capture_output=True, text=True, timeout=60 * SLOW)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "file descriptors" in done.stderr and "ulimit -n" in done.stderr
