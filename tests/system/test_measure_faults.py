"""Readings that fail while an endpoint is measured: unknown, never 0, and nothing is changed because of them."""

import json
import threading
import time

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing
from fault_server import FaultServer
from local_cloud import BIN, SLOW, LocalCloud, make_endpoint, wait_for, wait_status
from test_apply_validate import IN, Deployment
from test_driver import bench as bare_bench

pytestmark = pytest.mark.alone

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


def redeploy_after_rung_1(cloud, bench, variant: str, meanwhile=lambda: None) -> tuple[int, str]:
    """A ladder of two rungs whose endpoint gets another configuration in the second, the last: exit code and what was said."""
    sagemaker = cloud.client("sagemaker")
    sagemaker.create_endpoint_config(EndpointConfigName="second", ProductionVariants=[{
        "VariantName": variant, "ModelName": "e", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}])
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", str(10 * SLOW), "--judge", "4",
                      "--idle", "0s")
    said = ""
    for line in run.stdout:
        said += line
        if "   1 outstanding" in line:
            sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="second")
            wait_status(sagemaker)
            meanwhile()
        if "   2 outstanding" in line:
            cloud.control({"throttle": {"operation": "DescribeEndpoint", "count": 0}})
    run.stdout.close()
    return run.wait(60 * SLOW), said


def test_a_redeployment_in_the_last_hold_is_found_although_that_hold_could_not_see_it(here):
    cloud, bench = here
    before = standing(cloud)
    blind = {"throttle": {"operation": "DescribeEndpoint", "count": 1_000_000}}
    code, said = redeploy_after_rung_1(cloud, bench, "AllTraffic", lambda: cloud.control(blind))
    rungs = bench.artifact("qmax")["rungs"]
    assert [rung["n"] for rung in rungs] == [1, 2] and rungs[1]["verdict"] == "capacity_changed", said
    assert "redeployed" in rungs[1]["reason"] and "second" in rungs[1]["reason"]
    assert code == 4, said
    assert standing(cloud) == before and bench.journals() == []


def test_a_variant_that_is_gone_has_no_count_to_restore_and_leaves_nothing_frozen(here):
    cloud, bench = here
    code, said = redeploy_after_rung_1(cloud, bench, "Other")
    assert code in (3, 4) and "has no variant 'AllTraffic' any more" in said, said
    assert [rung["n"] for rung in bench.artifact("qmax")["rungs"]] == [1, 2]
    assert bench.journals() == [] and standing(cloud)["tags"] == []


@pytest.mark.soak
@pytest.mark.parametrize(("fault", "why"), [({"drop_metrics": True}, "had no datapoint"),
                                            ({"throttle": {"operation": "GetMetricData", "count": 1_000_000}}, "could not be read")])
def test_a_metric_that_never_comes_leaves_the_ratio_unknown_and_plan_refuses_to_convert(here, fault, why):
    cloud, bench = here
    cloud.control(fault)
    began = time.monotonic()
    bench.measured(*LADDER, timeout=240)
    assert time.monotonic() - began > 100  # it waited for the metric
    artifact = bench.artifact("qmax")
    assert artifact["calibration"]["ratio"] is None and "--assume-ratio" in artifact["calibration"]["note"]
    assert why in artifact["calibration"]["note"]
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


def held(folder, server: FaultServer, *words: str) -> tuple[int, dict, str]:
    """A ladder of one rung on a bare server: exit code, rung, everything said."""
    done = bare_bench(folder, "qmax", "--http", server.url, "--method", "ladder", "--idle", "0", "--records", "none", *words)
    return done.returncode, json.loads((folder / "qmax.json").read_text())["rungs"][0], done.stdout + done.stderr


def test_a_rung_that_still_drifts_is_unstable_and_the_exit_code_says_so(tmp_path):
    with FaultServer(delay=0.05) as server:
        ended = threading.Event()

        def slower() -> None:
            while not ended.wait(0.1):
                server.delay *= 1.02

        drifting = threading.Thread(target=slower)
        drifting.start()
        code, rung, said = held(tmp_path, server, "--rungs", "4", "--hold", "5", "--judge", "4")
        ended.set()
        drifting.join()
    assert code == 4 and rung["verdict"] == "unstable" and "moves by +" in said, said


def test_what_hangs_at_the_end_of_a_rung_fails_it(tmp_path):
    """Every other latency is fine; but a server that lets over 5 % wait longer than the SLO does not meet it."""
    with FaultServer(delay=0.05, every=20, fault="hang", hang=8) as server:
        code, rung, said = held(tmp_path, server, "--rungs", "40", "--hold", "4", "--judge", "2", "--slo-ms", "1000")
    assert code == 3 and rung["verdict"] == "fail" and "wait longer than the SLO" in rung["reason"], said
    assert rung["p95_ms"] is None or rung["p95_ms"] < 1000
    assert "a bare server publishes no metric" in said


@pytest.fixture
def planned(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud", serve=BIN / "tts-serve")
    deployment = Deployment(cloud, tmp_path, FAST_PACE)
    assert deployment.plan() == 0
    deployment.apply()
    yield deployment
    cloud.stop()


def drift_rows(deployment: Deployment) -> dict:
    deployment.bench.run("drift")
    return {check["id"]: (check["level"], check["found"]) for check in deployment.bench.artifact("drift")["checks"]}


def test_drift_finds_a_wrong_statistic_and_a_policy_without_its_alarm(planned):
    assert f"alarm {IN}.Statistic" not in drift_rows(planned)
    planned.change_alarm(IN, Statistic="SampleCount")
    assert drift_rows(planned)[f"alarm {IN}.Statistic"][0] == "ERROR"
    planned.cloudwatch.delete_alarms(AlarmNames=[IN])
    assert drift_rows(planned)[f"alarm {IN}"][0] == "ERROR"


@pytest.mark.soak
def test_drift_finds_a_metric_without_datapoints_once_there_was_load(planned):
    planned.change_alarm(IN, MetricName="ConcurrentRequestsPerModle")
    assert drift_rows(planned)[f"alarm {IN}.StateValue"][0] != "ERROR"  # no load, no data
    planned.bench.measured("load", "--yes", "--n", "1", "--duration", "12")
    level, said = wait_for(lambda: (row := drift_rows(planned)[f"alarm {IN}.StateValue"])[0] == "ERROR" and row, 240, 5)
    assert "no datapoint of ConcurrentRequestsPerModle although requests were served" in said
