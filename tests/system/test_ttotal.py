"""ttotal's other ways: the policy itself scales and its lag is measured, several runs, going on after kill -9, and an
instance that is InService but does not answer."""

import os
import pathlib
import signal
import time

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing
from local_cloud import BIN, SLOW, LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2,4", "--hold", "3", "--judge", "2", "--idle", "0s"]
SHORT = ["ttotal", "--yes", "--force", "--hold", "2", "--settle", "1", "--recover-factor", "3"]


def start(tmp_path, *options):
    cloud = LocalCloud(tmp_path / "cloud", *options, serve=BIN / "tts-serve")
    make_endpoint(cloud, "e", count=1, environment=FAST_PACE)
    register_target(cloud)
    bench = Bench(cloud, tmp_path)
    bench.measured_up_to(4, *LADDER)
    return cloud, bench


def serve_pids(cloud) -> set:
    children = pathlib.Path(f"/proc/{cloud.process.pid}/task/{cloud.process.pid}/children").read_text().split()
    for task in pathlib.Path(f"/proc/{cloud.process.pid}/task").iterdir():
        children += (task / "children").read_text().split()
    return {int(pid) for pid in children}


def test_the_policy_itself_scales_and_its_lag_is_measured(tmp_path):
    cloud, bench = start(tmp_path, "--fast", "10")
    try:
        cloud.client("application-autoscaling").put_scaling_policy(
            ServiceNamespace="sagemaker", ResourceId="endpoint/e/variant/AllTraffic",
            ScalableDimension="sagemaker:variant:DesiredInstanceCount", PolicyName="out", PolicyType="TargetTrackingScaling",
            TargetTrackingScalingPolicyConfiguration={
                "TargetValue": 2.0, "ScaleOutCooldown": 30, "DisableScaleIn": True, "PredefinedMetricSpecification": {
                    "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}})
        before = standing(cloud)
        out = bench.ok(*SHORT, "--observe-policy")
        assert "the policy asked for" in out, out
        artifact = bench.artifact("ttotal")
        lag = artifact["policy_lag_measured_s"]
        assert 0 < lag < 180
        assert artifact["total_s"] == pytest.approx(artifact["measured_total_s"] + lag)
        first = artifact["stages"]["before_clock"][-1]
        assert first["to"] == "desired_set" and first["kind"] == "bounded" and first["resolution_s"] > 0
        assert artifact["load_l"] == 4  # Q_max, above the policy's line
        # The count is the policy's own again, whose alarm rang before and may ring still.
        assert "restored: " in out, out
        after = standing(cloud)
        assert (after["flags"], after["tags"]) == (before["flags"], before["tags"]) and bench.journals() == []
    finally:
        cloud.stop()


def test_no_room_for_a_second_instance_is_said_before_anything_is_changed(tmp_path):
    """Instances of other endpoints count: a quota of 3 has no second one where another endpoint holds 2."""
    cloud, bench = start(tmp_path, "--quota", "3")
    try:
        make_endpoint(cloud, "other", count=2, environment=FAST_PACE)
        before = standing(cloud)
        refused = bench.run(*SHORT)
        assert refused.returncode == 3 and "is 3, 2 of it are in use elsewhere" in refused.stdout, refused.stdout
        assert standing(cloud) == before and bench.journals() == []
    finally:
        cloud.stop()


def test_observing_needs_a_policy_and_several_runs_take_the_slowest(tmp_path):
    cloud, bench = start(tmp_path)
    try:
        before = standing(cloud)
        refused = bench.run(*SHORT, "--observe-policy")
        assert refused.returncode == 3 and "tts-bench apply" in refused.stdout, refused.stdout
        assert standing(cloud) == before
        bench.ok(*SHORT, "--runs", "2")
        artifact = bench.artifact("ttotal")
        totals = [run["measured_total_s"] for run in artifact["runs"]]
        assert len(totals) == 2 and artifact["measured_total_s"] == max(totals)
        assert artifact["runs_spread"] == pytest.approx((max(totals) - min(totals)) / min(totals))
        assert standing(cloud) == before and bench.journals() == []
    finally:
        cloud.stop()


def test_a_killed_client_goes_on_with_its_clock(tmp_path):
    cloud, bench = start(tmp_path, "--provision-delay", "6s")
    try:
        before = standing(cloud)
        run = bench.start(*SHORT)
        wait_for((bench.out / "ttotal-clock.json").exists)
        run.kill()
        run.wait()
        run.stdout.close()
        assert standing(cloud) != before
        out = bench.ok(*SHORT, "--resume")
        assert "going on with the clock" in out, out
        artifact = bench.artifact("ttotal")
        assert artifact["measured_total_s"] >= 6
        assert any("client had died" in note for note in artifact["notes"])
        assert standing(cloud) == before and bench.journals() == []
        again = bench.run(*SHORT, "--resume")
        assert again.returncode == 1 and "no running clock" in again.stdout, again.stdout
    finally:
        cloud.stop()


def test_in_service_is_not_the_end_until_traffic_is_served(tmp_path):
    """The new instance is stopped as soon as it is InService: T_total's clock goes on until it answers again."""
    cloud, bench = start(tmp_path, "--provision-delay", "2s")
    try:
        old = serve_pids(cloud)
        sagemaker = cloud.client("sagemaker")
        sagemaker.describe_endpoint(EndpointName="e")  # the first call is slow, and the stop below must come within the hold
        run = bench.start("ttotal", "--yes", "--force", "--hold", "10", "--settle", "1", "--recover-factor", "3")

        def in_service_with_two():
            described = sagemaker.describe_endpoint(EndpointName="e")
            return described["EndpointStatus"] == "InService" and described["ProductionVariants"][0]["CurrentInstanceCount"] == 2

        wait_for(in_service_with_two, 60 * SLOW)
        new = serve_pids(cloud) - old
        assert len(new) == 1
        pid = new.pop()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(6)  # the fault itself
        os.kill(pid, signal.SIGCONT)
        assert run.wait(90 * SLOW) in (0, 1), run.stdout.read()
        run.stdout.close()
        stages = {stage["to"]: stage for stage in bench.artifact("ttotal")["stages"]["measured"]}
        assert stages["traffic_recovered"]["s"] >= 4, stages
    finally:
        cloud.stop()


def test_an_instance_starts_under_load_without_an_error(tmp_path):
    cloud, bench = start(tmp_path, "--provision-delay", "5s")
    try:
        bench.ok(*SHORT)
        counts = bench.artifact("ttotal")["counts"]
        assert counts["failed"] == counts["rejected"] == counts["timed_out"] == 0 and counts["ok"] > 100, counts
    finally:
        cloud.stop()
