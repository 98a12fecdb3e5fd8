"""validate --live on the published instance's pace: a good policy passes, a spoiled one fails in the phase that it spoils."""

import json
import os
import pty
import signal
import subprocess

import jsonschema
import pytest
from bench_tools import PUBLISHED_PACE, Bench, standing, without_its_core
from local_cloud import BIN, ROOT, SLOW, LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

FAST = 8
GOLDEN = ROOT / "tests" / "golden"
RESOURCE = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
OUT, IN = "headroom-e-AllTraffic-out", "headroom-e-AllTraffic-in"


class Applied:
    """Paced instances under an applied plan: one to three of them, scaled by concurrency."""

    def __init__(self, folder, queue_limit=50):
        self.cloud = LocalCloud(folder / "cloud", "--fast", str(FAST), "--control-token", "t", serve=BIN / "tts-serve")
        make_endpoint(self.cloud, "e", environment={**PUBLISHED_PACE, "MAX_QUEUE_DEPTH": str(queue_limit)})
        self.bench = Bench(self.cloud, folder)
        self.bench.run("plan", "--qmax", GOLDEN / "qmax-published.json", "--ttotal", GOLDEN / "ttotal-published.json",
                       "--peak-rps", "40", "--trough-rps", "5")
        self.bench.ok("apply", "--yes")
        self.scaling = self.cloud.client("application-autoscaling")
        self.cloudwatch = self.cloud.client("cloudwatch")

    def validate(self, *words, timeout=900):
        done = self.bench.run("validate", "--live", "--yes", "--force", "--fast", str(FAST), *words, timeout=timeout)
        checks = self.bench.artifact("validate")["checks"] if done.returncode in (0, 3) else []
        return done, {check["id"]: check["level"] for check in checks if check["id"].startswith("live.")}

    def change_alarm(self, name, **fields):
        known = self.cloudwatch.meta.service_model.operation_model("PutMetricAlarm").input_shape.members
        alarm = next(a for a in self.cloudwatch.describe_alarms()["MetricAlarms"] if a["AlarmName"] == name)
        self.cloudwatch.put_metric_alarm(**{**{k: v for k, v in alarm.items() if k in known}, **fields})

    def threshold_doubled(self):
        alarm = next(a for a in self.cloudwatch.describe_alarms()["MetricAlarms"] if a["AlarmName"] == OUT)
        self.change_alarm(OUT, Threshold=2 * alarm["Threshold"])

    def wrong_metric(self):
        self.change_alarm(OUT, MetricName="ModelLatency")

    def suspended(self):
        self.scaling.register_scalable_target(**RESOURCE, SuspendedState={"DynamicScalingOutSuspended": True})

    def maximum_too_low(self):
        self.scaling.register_scalable_target(**RESOURCE, MaxCapacity=2)

    def cooldown_missing(self):
        key = "StepScalingPolicyConfiguration"
        policies = self.scaling.describe_scaling_policies(ServiceNamespace="sagemaker")["ScalingPolicies"]
        policy = next(p for p in policies if p["PolicyName"] == IN)
        self.scaling.put_scaling_policy(PolicyName=IN, PolicyType="StepScaling", **RESOURCE, **{key: {**policy[key], "Cooldown": 0}})


@pytest.fixture
def applied(tmp_path):
    made = Applied(tmp_path)
    yield made
    made.cloud.stop()


@pytest.mark.soak
def test_a_good_policy_passes_every_phase_and_leaves_the_endpoint_as_it_was(applied):
    done, phases = applied.validate()
    assert done.returncode == 0, done.stdout
    assert phases == {f"live.{name}": "OK"
                      for name in ("slo_under_load", "rejection_level", "scale_out", "surge_absorption", "scale_in")}
    variant = applied.cloud.client("sagemaker").describe_endpoint(EndpointName="e")["ProductionVariants"][0]
    assert variant["DesiredInstanceCount"] == 1


@pytest.mark.soak
@pytest.mark.parametrize("spoil", ["threshold_doubled", "wrong_metric", "suspended"])
def test_what_keeps_the_fleet_small_fails_scale_out(applied, spoil):
    getattr(applied, spoil)()
    done, phases = applied.validate("--phases", "slo_under_load,scale_out")
    assert done.returncode == 3, done.stdout
    assert phases == {"live.slo_under_load": "OK", "live.scale_out": "ERROR"}, done.stdout


@pytest.mark.soak
def test_a_maximum_that_is_too_low_fails_the_surge(applied):
    applied.maximum_too_low()
    done, phases = applied.validate("--phases", "scale_out,surge_absorption")
    assert done.returncode == 3, done.stdout
    assert phases == {"live.scale_out": "OK", "live.surge_absorption": "ERROR"}, done.stdout


@pytest.mark.soak
def test_a_missing_cooldown_fails_scale_in(applied):
    applied.cooldown_missing()
    done, phases = applied.validate("--phases", "surge_absorption,scale_in")
    assert done.returncode == 3, done.stdout
    assert phases == {"live.surge_absorption": "OK", "live.scale_in": "ERROR"}, done.stdout


def test_a_queue_limit_that_is_not_there_fails_the_rejection_level(tmp_path):
    applied = Applied(tmp_path, queue_limit=0)
    done, phases = applied.validate("--phases", "rejection_level")
    assert done.returncode == 3, done.stdout
    assert phases == {"live.rejection_level": "ERROR"}, done.stdout
    found = json.loads((applied.bench.out / "validate.json").read_text())["checks"]
    assert any("MAX_QUEUE_DEPTH=50" in (check["remedy"] or "") for check in found)
    applied.cloud.stop()


@pytest.mark.soak
def test_the_queue_limit_refuses_above_and_not_below(applied):
    done, phases = applied.validate("--phases", "rejection_level")
    assert done.returncode in (0, 3), done.stdout  # 3: the environment of the golden measurement is another
    assert phases == {"live.rejection_level": "OK"}, done.stdout


LIVE = ["validate", "--live", "--yes", "--force", "--fast", str(FAST)]


def kill_in_mid_run(applied) -> None:
    """Once it has claimed the endpoint, with journal and tag."""
    run = applied.bench.start(*LIVE, "--phases", "slo_under_load")
    wait_for(lambda: applied.bench.journals() and standing(applied.cloud)["tags"])
    run.kill()
    run.communicate()


def test_it_shares_the_endpoint_with_no_other_measurement_and_leaves_nothing_behind(applied, tmp_path):
    cloud, bench = applied.cloud, applied.bench
    before = standing(cloud)
    # By the metrics' own clock, so that it lasts for two other commands.
    run = bench.start("validate", "--live", "--yes", "--force", "--phases", "slo_under_load")
    wait_for(lambda: bench.journals() and standing(cloud)["tags"])
    assert standing(cloud)["flags"] == before["flags"]  # the policies go on acting
    here = bench.run(*LIVE, "--phases", "scale_in")
    assert here.returncode == 1 and "another process holds" in here.stdout, here.stdout
    elsewhere = Bench(cloud, tmp_path / "elsewhere").run("qmax", "--yes", "--force")  # another machine: only the tag tells
    assert elsewhere.returncode == 1 and "thaw" in elsewhere.stdout, elsewhere.stdout
    run.send_signal(signal.SIGINT)
    assert run.wait(60 * SLOW) == 130, run.stdout.read()
    run.stdout.close()
    assert standing(cloud) == before and bench.journals() == []


def test_thaw_sets_back_what_a_killed_one_left(applied):
    cloud, bench = applied.cloud, applied.bench
    before = standing(cloud)
    kill_in_mid_run(applied)
    cloud.client("sagemaker").update_endpoint_weights_and_capacities(  # as a policy would have
        EndpointName="e", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 2}])
    thaw, flags = bench.start("thaw", "--yes"), []
    while thaw.poll() is None:
        flags.append(standing(cloud)["flags"])
    assert thaw.returncode == 0, thaw.stdout.read()
    thaw.stdout.close()
    assert any(seen != before["flags"] for seen in flags)  # no policy may act against the count that is set back
    assert standing(cloud) == before and bench.journals() == []


def test_a_fleet_that_grew_while_the_question_waited_is_left_alone(applied):
    cloud, bench = applied.cloud, applied.bench
    before = standing(cloud)
    ours, terminal = pty.openpty()
    run = subprocess.Popen(bench.command("validate", "--live", "--force", "--fast", str(FAST), "--phases", "slo_under_load"),
                           env=bench.environment, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal)
    os.close(terminal)
    asked = b""
    while b"[y/N]" not in asked:
        asked += os.read(ours, 4096)
    cloud.client("sagemaker").update_endpoint_weights_and_capacities(  # as a policy would have
        EndpointName="e", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 2}])
    os.write(ours, b"y\n")
    flags = []
    while run.poll() is None:
        flags.append(standing(cloud)["flags"])
    run.stdout.close()
    said = os.read(ours, 65536).decode(errors="replace")
    os.close(ours)
    assert run.returncode == 3 and "has 2 instances" in said, said
    assert all(seen == before["flags"] for seen in flags)
    assert bench.journals() == [] and standing(cloud)["tags"] == before["tags"]


def test_thaw_restores_the_count_while_an_alarm_rings_and_the_policy_acts_again_after_it(applied):
    cloud, bench = applied.cloud, applied.bench
    before = standing(cloud)
    kill_in_mid_run(applied)
    applied.change_alarm(OUT, Threshold=0.5)  # rings as long as anything is outstanding
    load = bench.start("load", "--yes", "--n", "20", "--duration", "600s", "--records", "none")
    try:
        wait_for(lambda: standing(cloud)["desired"] > before["desired"], 60 * SLOW)  # the policy acts
        thaw, seen = bench.start("thaw", "--yes"), []
        while thaw.poll() is None:
            seen.append(standing(cloud))
        said = thaw.communicate()[0]
        assert thaw.returncode == 0 and f"restored: {before['desired']} instance," in said, said
        held = [now["desired"] for now in seen if now["flags"]["DynamicScalingOutSuspended"]]
        assert before["desired"] in held, seen
        assert set(held[held.index(before["desired"]):]) == {before["desired"]}, seen  # nobody raised it while it was held
        assert bench.journals() == [] and standing(cloud)["tags"] == before["tags"]
        wait_for(lambda: standing(cloud)["desired"] > before["desired"], 60 * SLOW)  # still ringing, and free to act again
        assert standing(cloud)["flags"] == before["flags"]
    finally:
        load.send_signal(signal.SIGINT)
        load.communicate()


@pytest.mark.soak
def test_a_driver_without_its_core_judges_nothing(applied):
    run = applied.bench.start(*LIVE, "--phases", "rejection_level")
    said = without_its_core(run, stopped_s=0.3, running_s=0.1)
    found = {check["id"]: check for check in applied.bench.artifact("validate")["checks"]}["live.rejection_level"]
    assert found["level"] == "INCONCLUSIVE" and "the driver was the limit" in found["found"], said


@pytest.mark.soak
def test_readings_that_fail_make_a_phase_inconclusive(applied):
    run = applied.bench.start(*LIVE[:-1], "100", "--phases", "slo_under_load,scale_out")
    said = ""
    for line in run.stdout:
        said += line
        if line.startswith("slo_under_load: "):  # the phase that is to come reads nothing
            applied.cloud.control({"throttle": {"operation": "DescribeEndpoint", "count": 1_000_000}})
        if line.startswith("scale_out: "):
            applied.cloud.control({"throttle": {"operation": "DescribeEndpoint", "count": 0}})
    run.stdout.close()
    code = run.wait(60 * SLOW)
    assert "scale_out: inconclusive" in said and "readings of the fleet failed" in said, said
    artifact = applied.bench.artifact("validate")
    jsonschema.validate(artifact, json.loads((ROOT / "docs" / "schemas" / "validate.schema.json").read_text()))
    levels = {check["id"]: check["level"] for check in artifact["checks"]}
    assert levels["live.scale_out"] == "INCONCLUSIVE", levels
    others = [level for level in levels.values() if level == "ERROR"]  # the environment of the golden measurement is another
    assert (code, artifact["verdict"]) == ((3, "different") if others else (4, "inconclusive")), said


def test_a_dry_run_says_what_would_be_sent(applied):
    applied.cloud.stop()  # nothing is asked of it
    done = applied.bench.run("validate", "--live", "--dry-run")
    assert done.returncode == 0, done.stdout
    assert "surge_absorption" in done.stdout and "instance hours" in done.stdout


def test_phases_that_do_not_exist_are_named(applied):
    done, _ = applied.validate("--phases", "warm_up")
    assert done.returncode == 2, done.stdout
    assert "warm_up" in done.stdout
