"""ttotal's other ways: the policy itself scales and its lag is measured, several runs, going on after kill -9, an
instance that is InService but does not answer, one whose clock is wrong, a client without its core, a full disk."""

import json
import os
import pathlib
import pty
import shlex
import signal
import subprocess
import time

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing, without_its_core
from local_cloud import BIN, SLOW, LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2,4", "--hold", "3", "--judge", "2", "--idle", "0s"]
SHORT = ["ttotal", "--yes", "--force", "--hold", "2", "--settle", "1", "--recover-factor", "3"]


def start(tmp_path, *options, serve=BIN / "tts-serve", q_max=4, ladder=LADDER):
    cloud = LocalCloud(tmp_path / "cloud", *options, serve=serve)
    make_endpoint(cloud, "e", count=1, environment=FAST_PACE)
    register_target(cloud)
    bench = Bench(cloud, tmp_path)
    bench.measured_up_to(q_max, *ladder)
    return cloud, bench


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A cloud whose endpoint has a Q_max, for runs that leave it as it was."""
    cloud, bench = start(tmp_path_factory.mktemp("ready"), "--provision-delay", "3s")
    yield cloud, bench
    cloud.stop()


def let_the_policy_scale(cloud) -> None:
    cloud.client("application-autoscaling").put_scaling_policy(
        ServiceNamespace="sagemaker", ResourceId="endpoint/e/variant/AllTraffic",
        ScalableDimension="sagemaker:variant:DesiredInstanceCount", PolicyName="out", PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration={
            "TargetValue": 2.0, "ScaleOutCooldown": 30, "DisableScaleIn": True, "PredefinedMetricSpecification": {
                "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"}})


def on_a_terminal(command: list, environment: dict) -> tuple[int, str]:
    """Exit code and all that the screen got."""
    screen, program = pty.openpty()
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=program, stderr=program)
    os.close(program)
    said = b""
    try:
        while part := os.read(screen, 65536):
            said += part
    except OSError:  # how a terminal says that nobody holds its other end
        pass
    finally:
        os.close(screen)
    return process.wait(60 * SLOW), said.decode(errors="replace")


def serve_pids(cloud) -> set:
    children = pathlib.Path(f"/proc/{cloud.process.pid}/task/{cloud.process.pid}/children").read_text().split()
    for task in pathlib.Path(f"/proc/{cloud.process.pid}/task").iterdir():
        children += (task / "children").read_text().split()
    return {int(pid) for pid in children}


def test_the_policy_itself_scales_and_its_lag_is_measured(tmp_path):
    cloud, bench = start(tmp_path, "--fast", "10")
    try:
        let_the_policy_scale(cloud)
        before = standing(cloud)
        out = bench.measured(*SHORT, "--observe-policy")
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
        bench.measured(*SHORT, "--runs", "2")
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
        out = bench.measured(*SHORT, "--resume")
        assert "going on with the clock" in out, out
        artifact = bench.artifact("ttotal")
        assert artifact["measured_total_s"] >= 6
        assert any("client had died" in note for note in artifact["notes"])
        assert standing(cloud) == before and bench.journals() == []
        again = bench.run(*SHORT, "--resume")
        assert again.returncode == 1 and "no running clock" in again.stdout, again.stdout
    finally:
        cloud.stop()


def test_a_killed_observation_goes_on_with_its_load_and_its_lag(tmp_path):
    """Its load is Q_max, above the 10 of a run that asks itself; its lag was over when the client died."""
    ladder = [word if word != "1,2,4" else "1,5,16" for word in LADDER]
    cloud, bench = start(tmp_path, "--fast", "10", "--provision-delay", "40s", q_max=16, ladder=ladder)
    try:
        let_the_policy_scale(cloud)
        run = bench.start(*SHORT, "--observe-policy")
        wait_for((bench.out / "ttotal-clock.json").exists, 90 * SLOW)
        run.kill()
        run.wait()
        run.stdout.close()
        clock = json.loads((bench.out / "ttotal-clock.json").read_text())
        assert clock["observed"] and clock["load"] == 16
        time.sleep(2)  # the clock runs while nobody looks; the lag does not
        bench.measured(*SHORT, "--resume")
        artifact = bench.artifact("ttotal")
        assert artifact["load_l"] == 16
        assert artifact["policy_lag_measured_s"] == pytest.approx(clock["load_s"], abs=1e-3) and clock["load_s"] > 0
        assert artifact["total_s"] == pytest.approx(artifact["measured_total_s"] + artifact["policy_lag_measured_s"])
        assert artifact["measured_total_s"] >= 2
        first = artifact["stages"]["before_clock"][0]
        assert first["from"] == "load_applied" and artifact["lag_source"].startswith("measured ")
        assert bench.journals() == []
    finally:
        cloud.stop()


def test_stages_of_an_instance_whose_clock_is_wrong_stay_within_the_clock(tmp_path):
    """Its log is 25 years old as it comes: no stage is negative, none leaves the clock's span, and the artifact says so."""
    serve = tmp_path / "serve"
    serve.write_text(f"#!/bin/bash\nexec {shlex.quote(str(BIN / 'tts-serve'))} \"$@\" "
                     "> >(exec sed -u -E 's/(STAGE [a-z_]+ t=)[0-9]{4}/\\12001/')\n")
    serve.chmod(0o755)
    cloud, bench = start(tmp_path, "--provision-delay", "3s", serve=serve)
    try:
        bench.measured(*SHORT)
        artifact = bench.artifact("ttotal")
        assert [stage["to"] for stage in artifact["stages"]["before_clock"]] == ["desired_set"], artifact["stages"]
        measured = {stage["to"]: stage for stage in artifact["stages"]["measured"]}
        assert {"container_started", "framework_init", "warmup_done"} <= set(measured), measured
        assert min(stage["s"] for stage in measured.values()) >= 0
        assert sum(stage["s"] for stage in measured.values()) == pytest.approx(artifact["measured_total_s"], abs=1e-6)
        assert measured["container_started"]["kind"] == "bounded"
        assert any("clock skew: the instance's clock is at least" in note for note in artifact["notes"]), artifact["notes"]
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


def test_an_instance_starts_under_load_without_an_error_and_a_terminal_shows_how_far_it_is(ready):
    _, bench = ready
    code, said = on_a_terminal(bench.command(*SHORT), bench.environment)
    assert code in (0, 4), said
    lines = [line for part in said.split("\n") for line in part.split("\r") if " s ago, " in line]
    for reached in ("load_applied", "desired_set", "in_service"):
        assert any(line.startswith(f"  {reached} ") and ", in flight " in line for line in lines), said
    assert all(len(line) < 80 for line in lines)
    counts = bench.artifact("ttotal")["counts"]
    assert counts["failed"] == counts["rejected"] == counts["timed_out"] == 0 and counts["ok"] > 100, counts


def test_the_clock_of_a_run_that_is_over_is_not_gone_on_with(ready):
    _, bench = ready
    run = bench.start("ttotal", "--yes", "--force", "--runs", "2", "--hold", "2", "--settle", "30", "--recover-factor", "100")
    for line in run.stdout:
        if line.startswith("run 2 of 2"):
            break
    wait_for(lambda: not (bench.out / "ttotal-clock.json").exists())
    run.kill()
    run.communicate()
    resumed = bench.run(*SHORT, "--resume")
    assert resumed.returncode == 1 and "no running clock" in resumed.stdout, resumed.stdout
    bench.ok("thaw", "--yes")


def test_a_client_without_its_core_is_noted_and_inconclusive(ready):
    cloud, bench = ready
    before = standing(cloud)
    run = bench.start("ttotal", "--yes", "--force", "--hold", "2", "--settle", "1", "--recover-factor", "100", "--max-wait", "30s")
    said = without_its_core(run)
    assert run.returncode == 4, said
    artifact = bench.artifact("ttotal")
    assert f"client_bound: {artifact['client_bound']}; " in " ".join(artifact["notes"]), artifact["notes"]
    assert "warning: client_bound: " in said
    assert standing(cloud) == before and bench.journals() == []


def test_requests_that_fit_on_no_disk_are_said_and_the_endpoint_is_restored(ready, tmp_path):
    cloud, bench = ready
    before = standing(cloud)
    (tmp_path / "r.gz.partial").symlink_to("/dev/full")  # the file breaks at its first block
    said = bench.measured(*SHORT, "--records", str(tmp_path / "r.gz"))
    assert "warning: the requests could not all be written" in said and "is the disk full?" in said, said
    artifact = bench.artifact("ttotal")
    assert artifact["measured_total_s"] > 0
    assert any("could not all be written" in note for note in artifact["notes"]), artifact["notes"]
    assert not (tmp_path / "r.gz").exists()
    assert standing(cloud) == before and bench.journals() == []


def test_a_redeployment_in_mid_run_is_no_measurement_of_either(tmp_path):
    cloud, bench = start(tmp_path, "--provision-delay", "2s")
    try:
        before = standing(cloud)
        sagemaker = cloud.client("sagemaker")
        sagemaker.create_endpoint_config(EndpointConfigName="second", ProductionVariants=[{
            "VariantName": "AllTraffic", "ModelName": "e", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}])
        run = bench.start("ttotal", "--yes", "--force", "--hold", "10", "--settle", "1", "--recover-factor", "3",
                          "--max-wait", "60s")
        said = ""
        for line in run.stdout:
            said += line
            if "the clock runs" in line:
                wait_for(lambda: sagemaker.describe_endpoint(EndpointName="e")["EndpointStatus"] == "InService")
                sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="second", RetainAllVariantProperties=True)
        run.stdout.close()
        code = run.wait(60 * SLOW)
        assert code not in (0, 4) and "redeployed" in said and "second" in said, (code, said)
        with pytest.raises(FileNotFoundError):
            bench.artifact("ttotal")
        assert standing(cloud) == before and bench.journals() == []
    finally:
        cloud.stop()
