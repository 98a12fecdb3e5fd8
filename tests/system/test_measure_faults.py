"""Readings that fail while an endpoint is measured: unknown, never 0, and nothing is changed because of them."""

import threading
import time

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing
from local_cloud import BIN, LocalCloud, make_endpoint, wait_for

LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", "3", "--judge", "2", "--idle", "0s"]


@pytest.fixture
def here(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud", "--control-token", "t", serve=BIN / "tts-serve")
    make_endpoint(cloud, "e", count=2, environment=FAST_PACE)
    register_target(cloud)
    yield cloud, Bench(cloud, tmp_path)
    cloud.stop()


def test_throttled_readings_neither_change_a_verdict_nor_stop_the_restoring(here):
    cloud, bench = here
    before = standing(cloud)
    ended = threading.Event()

    def disturb():
        while not ended.wait(0.5):
            cloud.control({"throttle": {"operation": "DescribeEndpoint", "count": 1}})

    wanted = threading.Thread(target=disturb)
    wanted.start()
    try:
        bench.measured(*LADDER)
    finally:
        ended.set()
        wanted.join()
    cloud.control({"throttle": {"operation": "DescribeEndpoint", "count": 0}})
    assert [rung["verdict"] for rung in bench.artifact("qmax")["rungs"] if rung["verdict"] == "capacity_changed"] == []
    assert standing(cloud) == before and bench.journals() == []


@pytest.mark.soak
def test_a_metric_that_never_comes_leaves_the_ratio_unknown_and_plan_refuses_to_convert(here):
    cloud, bench = here
    cloud.control({"drop_metrics": True})
    began = time.monotonic()
    bench.measured(*LADDER, timeout=240)
    assert time.monotonic() - began > 100  # it waited for the metric
    artifact = bench.artifact("qmax")
    assert artifact["calibration"]["ratio"] is None and "--assume-ratio" in artifact["calibration"]["note"]
    assert all(rung["metric_ratio"] is None for rung in artifact["rungs"])


def test_a_stale_lock_of_a_dead_run_is_told_from_a_live_one(here):
    cloud, bench = here
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(bench.journals)
    alive = bench.run(*LADDER)
    assert alive.returncode in (1, 3) and "another process holds" in alive.stdout, alive.stdout
    run.kill()
    run.wait()
    run.stdout.close()
    dead = bench.run(*LADDER)
    assert dead.returncode == 1 and "when it was killed" in dead.stdout and "thaw" in dead.stdout, dead.stdout
    bench.ok("thaw", "--yes")
    bench.measured(*LADDER)
