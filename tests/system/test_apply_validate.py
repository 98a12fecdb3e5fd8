"""apply, validate and drift against tts-local: a plan is registered whole, every later change is named, nothing foreign is touched."""

import json

import jsonschema
import pytest
from bench_tools import Bench
from local_cloud import ROOT, LocalCloud, make_endpoint, wait_for, wait_status

RESOURCE = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/e/variant/AllTraffic",
            "ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
OUT, IN, P95 = (f"headroom-e-AllTraffic-{what}" for what in ("out", "in", "unqueued-p95"))
TRACKING_KEY, STEP_KEY = "TargetTrackingScalingPolicyConfiguration", "StepScalingPolicyConfiguration"


class Deployment:
    """An endpoint `e`, tts-bench for it, and what it takes to change it by hand."""

    def __init__(self, cloud: LocalCloud, folder, environment=None):
        self.cloud = cloud
        self.bench = Bench(cloud, folder)
        self.sagemaker = make_endpoint(cloud, environment=environment)
        self.scaling = cloud.client("application-autoscaling")
        self.cloudwatch = cloud.client("cloudwatch")

    def plan(self, rule="published", peak=17, trough=5, **more) -> int:
        golden = ROOT / "tests" / "golden"
        words = [f"--{name}={value}" for name, value in more.items()]
        done = self.bench.run("plan", "--qmax", golden / "qmax-published.json", "--ttotal", golden / "ttotal-published.json",
                              "--rule", rule, "--peak-rps", str(peak), "--trough-rps", str(trough), *words)
        return done.returncode

    def apply(self, *words) -> str:
        return self.bench.ok("apply", "--yes", *words)

    def policies(self) -> dict:
        found = self.scaling.describe_scaling_policies(ServiceNamespace="sagemaker")["ScalingPolicies"]
        return {policy["PolicyName"]: policy for policy in found}

    def alarms(self) -> dict:
        return {alarm["AlarmName"]: alarm for alarm in self.cloudwatch.describe_alarms()["MetricAlarms"]}

    def everything(self) -> str:
        """Targets, policies and alarms as text: equal means that nothing was changed, not even put again."""
        targets = self.scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
        alarms = {name: {k: v for k, v in alarm.items() if not k.startswith("State")} for name, alarm in self.alarms().items()}
        return json.dumps([targets, self.policies(), alarms], default=str, sort_keys=True)

    def change_policy(self, name, **fields):
        policy = self.policies()[name]
        key = TRACKING_KEY if TRACKING_KEY in policy else STEP_KEY
        self.scaling.put_scaling_policy(PolicyName=name, PolicyType=policy["PolicyType"], **RESOURCE,
                                        **{key: {**policy[key], **fields}})

    def change_alarm(self, name, **fields):
        known = self.cloudwatch.meta.service_model.operation_model("PutMetricAlarm").input_shape.members
        alarm = {k: v for k, v in self.alarms()[name].items() if k in known}
        self.cloudwatch.put_metric_alarm(**{**alarm, **fields})

    def change_target(self, **fields):
        self.scaling.register_scalable_target(**RESOURCE, **fields)

    def errors(self, command="validate") -> list[dict]:
        """The ERROR checks of a run, whose exit code and text must fit them."""
        done = self.bench.run(command)
        artifact = self.bench.artifact(command)
        jsonschema.validate(artifact, json.loads((ROOT / "docs" / "schemas" / f"{command}.schema.json").read_text()))
        errors = [check for check in artifact["checks"] if check["level"] == "ERROR"]
        assert done.returncode == (3 if errors else 0), done.stdout
        for check in errors:
            assert check["id"] in done.stdout and check["found"] in done.stdout and check["remedy"] in done.stdout
        return errors


@pytest.fixture
def here(tmp_path):
    cloud = LocalCloud(tmp_path / "cloud")
    yield Deployment(cloud, tmp_path)
    cloud.stop()


@pytest.fixture
def applied(here):
    assert here.plan() == 0
    here.apply()
    return here


@pytest.mark.parametrize("rule,carrier,peak", [
    ("published", "native", 17), ("recommended", "native", 60), ("recommended", "offered-rate", 60)])
def test_after_apply_validate_finds_nothing_and_a_second_apply_does_nothing(here, rule, carrier, peak):
    assert here.plan(rule, peak, carrier=carrier) == 0
    said = here.apply()
    assert "MAX_QUEUE_DEPTH" in said and "deploy" in said  # the container has no limit yet
    assert here.errors() == []
    plan = here.bench.artifact("plan")
    target = here.scaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"][0]
    assert (target["MinCapacity"], target["MaxCapacity"]) == (plan["min_instances"], plan["max_instances"])
    for rule_of_plan in plan["policy"]["scale_out"] + plan["policy"]["scale_in"]:
        assert here.policies()[rule_of_plan["name"]]["Alarms"], "a policy without alarm never acts"
    before = here.everything()
    assert "nothing to do" in here.apply()
    assert here.everything() == before
    assert here.errors() == [] and here.errors("drift") == []


CHANGES = [
    ("target.MaxCapacity", lambda d: d.change_target(MaxCapacity=9)),
    ("target.SuspendedState.DynamicScalingOutSuspended",
     lambda d: d.change_target(SuspendedState={"DynamicScalingOutSuspended": True})),
    (f"policy {OUT}.TargetValue", lambda d: d.change_policy(OUT, TargetValue=45.0)),
    (f"policy {OUT}.ScaleOutCooldown", lambda d: d.change_policy(OUT, ScaleOutCooldown=1)),
    (f"policy {OUT}.DisableScaleIn", lambda d: d.change_policy(OUT, DisableScaleIn=False)),
    (f"policy {IN}.Cooldown", lambda d: d.change_policy(IN, Cooldown=1)),
    (f"policy {IN}.StepAdjustments[0].ScalingAdjustment",
     lambda d: d.change_policy(IN, StepAdjustments=[{"MetricIntervalUpperBound": 0.0, "ScalingAdjustment": -2}])),
    (f"policy {IN}", lambda d: d.scaling.delete_scaling_policy(PolicyName=IN, **RESOURCE)),
    (f"alarm {IN}.Threshold", lambda d: d.change_alarm(IN, Threshold=26.0)),
    (f"alarm {IN}.Period", lambda d: d.change_alarm(IN, Period=120)),
    (f"alarm {IN}.TreatMissingData", lambda d: d.change_alarm(IN, TreatMissingData="ignore")),
    (f"alarm {IN}.AlarmActions", lambda d: d.change_alarm(IN, AlarmActions=[])),
    (f"alarm {IN}.ActionsEnabled", lambda d: d.change_alarm(IN, ActionsEnabled=False)),
    (f"alarm {P95}.ExtendedStatistic", lambda d: d.change_alarm(P95, ExtendedStatistic="p99")),
    (f"alarm {P95}", lambda d: d.cloudwatch.delete_alarms(AlarmNames=[P95])),
]


def test_every_field_changed_by_hand_is_named_and_mended(applied):
    for field, change in CHANGES:
        change(applied)
        named = [check["id"] for check in applied.errors()]
        assert field in named, (field, named)
        assert field in [check["id"] for check in applied.errors("drift")]
        applied.apply()
        if "Suspended" in field:  # apply leaves the flags as they are
            applied.change_target(SuspendedState={"DynamicScalingOutSuspended": False})
        assert applied.errors() == [], field


def test_an_alarm_that_target_tracking_made_is_checked_too(applied):
    own = next(name for name in applied.alarms() if name.startswith("TargetTracking-"))
    applied.change_alarm(own, Threshold=99.0)
    assert [check["id"] for check in applied.errors()] == [f"policy {OUT}.Alarms[{own}].Threshold"]
    applied.apply()
    assert applied.errors() == []


def test_counts_are_part_of_the_comparison(applied):
    applied.change_target(SuspendedState={"DynamicScalingInSuspended": True})  # else the maximum acts at once
    applied.sagemaker.update_endpoint_weights_and_capacities(
        EndpointName="e", DesiredWeightsAndCapacities=[{"VariantName": "AllTraffic", "DesiredInstanceCount": 2}])
    wait_status(applied.sagemaker)
    assert "endpoint.DesiredInstanceCount" in {check["id"] for check in applied.errors()}
    applied.change_target(SuspendedState={"DynamicScalingInSuspended": False})
    wait_for(lambda: applied.bench.run("validate").returncode == 0)  # the target's maximum brings it back


def test_apply_waits_until_the_new_minimum_is_there(here):
    assert here.plan("recommended", peak=60, trough=20) == 0
    assert here.bench.artifact("plan")["min_instances"] == 2
    here.apply()
    assert here.errors() == []
    assert here.sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"][0]["CurrentInstanceCount"] == 2


def test_the_quota_counts_less_what_other_endpoints_hold(here):
    make_endpoint(here.cloud, "other", count=2)
    assert here.plan("recommended", 40) == 0
    most = here.bench.artifact("plan")["max_instances"]
    assert 2 < most <= 4, "the quota of 4 alone would do"
    held = "4 instances of ml.g5.xlarge in this account and region, 2 of them held by other variants"
    said = here.apply("--wait", "0s")
    assert f"WARN   quota: {held}" in said and f"--desired-value {most + 2}" in said, said
    here.bench.run("drift")
    row = next(check for check in here.bench.artifact("drift")["checks"] if check["id"] == "quota")
    assert (row["level"], row["found"]) == ("WARN", held), row


def test_another_form_replaces_what_the_first_left(applied):
    before = set(applied.alarms())
    assert applied.plan("recommended", peak=60) == 0
    assert {check["id"] for check in applied.errors()} >= {f"policy {OUT}.PolicyType", f"alarm {OUT}"}
    applied.apply()
    assert applied.errors() == []
    assert {p["PolicyType"] for p in applied.policies().values()} == {"StepScaling"}
    assert before - set(applied.alarms()) == {name for name in before if name.startswith("TargetTracking-")}


def test_what_apply_did_not_make_is_reported_and_left_alone(here):
    here.change_target(MinCapacity=1, MaxCapacity=3)
    here.scaling.put_scaling_policy(PolicyName="by-hand", PolicyType="StepScaling", **RESOURCE, **{STEP_KEY: {
        "AdjustmentType": "ChangeInCapacity", "StepAdjustments": [{"MetricIntervalLowerBound": 0.0, "ScalingAdjustment": 1}]}})
    arn = here.policies()["by-hand"]["PolicyARN"]
    dimensions = [{"Name": "EndpointName", "Value": "e-AllTraffic"}, {"Name": "VariantName", "Value": "AllTraffic"}]
    for name, actions in (("by-hand", [arn]), ("headroom-e-AllTraffic-AllTraffic-in", [])):  # the second: endpoint e-AllTraffic's
        here.cloudwatch.put_metric_alarm(AlarmName=name, AlarmActions=actions, Namespace="AWS/SageMaker", MetricName="Invocations",
                                         Dimensions=dimensions, Statistic="Sum", Period=60, EvaluationPeriods=1, Threshold=1.0,
                                         ComparisonOperator="GreaterThanThreshold")
    before = [here.policies()["by-hand"], here.alarms()["by-hand"], here.alarms()["headroom-e-AllTraffic-AllTraffic-in"]]
    assert here.plan() == 0
    assert "by-hand" in here.apply()
    assert [here.policies()["by-hand"], here.alarms()["by-hand"], here.alarms()["headroom-e-AllTraffic-AllTraffic-in"]] == before
    assert [check["id"] for check in here.errors()] == ["policy by-hand"]


def test_refusals_name_the_reason_and_change_nothing(here):
    before = here.everything()

    def refused(code, *words, apply=("--yes",)):
        done = here.bench.run("apply", *apply)
        assert done.returncode == code, done.stdout
        for word in words:
            assert word in done.stdout
        assert here.everything() == before

    refused(1, "plan.json")
    assert here.plan(peak=5000) == 3
    refused(3, "infeasible", "throughput_sizing")
    assert here.plan() == 0
    refused(3, "--yes", apply=())
    plan = here.bench.artifact("plan")
    file = here.bench.out / "plan.json"
    file.write_text(json.dumps({**plan, "fingerprint": {"endpoint": "e", "instance_type": "ml.g6.xlarge"}}))
    refused(3, "ml.g6.xlarge", "ml.g5.xlarge")
    file.write_text(json.dumps({**plan, "calibration_ratio": None, "ratio_assumed": False}))
    refused(3, "--assume-ratio")
    file.write_text("{}")
    refused(1, "plan.json")
    file.write_text(json.dumps(plan))
    here.sagemaker.add_tags(ResourceArn=here.sagemaker.describe_endpoint(EndpointName="e")["EndpointArn"],
                            Tags=[{"Key": "headroom:freeze", "Value": "v1 run=0123456789abc desired=1 flags=- t=1"}])
    refused(1, "0123456789abc", "tts-bench thaw")


def test_an_endpoint_of_a_stack_is_refused_and_the_stack_named(here, tmp_path):
    assert here.plan() == 0
    here.cloud.stop()
    state = tmp_path / "cloud" / "state.json"  # no client may set a tag of AWS's own
    world = json.loads(state.read_text())
    world["tags"]["arn:aws:sagemaker:us-east-1:000000000000:endpoint/e"] = {"aws:cloudformation:stack-name": "SpeechEndpointStack"}
    state.write_text(json.dumps(world))
    cloud = LocalCloud(tmp_path / "cloud")
    try:
        here.bench.cloud = cloud
        wait_status(cloud.client("sagemaker"))
        done = here.bench.run("apply", "--yes")
        assert done.returncode == 3 and "'SpeechEndpointStack'" in done.stdout and "speech-infra deploy" in done.stdout, done.stdout
        assert cloud.client("application-autoscaling").describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"] == []
    finally:
        cloud.stop()


def test_the_endpoint_that_does_not_exist_is_named(here):
    assert here.plan() == 0
    here.bench.endpoint = "nobody"
    for command in ("drift", "validate", "apply"):
        done = here.bench.run(command, *(["--yes"] if command == "apply" else []))
        assert done.returncode == 1 and "'nobody'" in done.stdout and "--endpoint" in done.stdout, done.stdout



def test_drift_of_a_fresh_endpoint_is_clean_and_orphans_are_named(here):
    assert "measuring may start" in here.bench.ok("drift")
    assert here.errors("drift") == []
    make_endpoint(here.cloud, "gone")
    gone = {**RESOURCE, "ResourceId": "endpoint/gone/variant/AllTraffic"}
    here.scaling.register_scalable_target(**gone, MinCapacity=1, MaxCapacity=2)
    here.sagemaker.delete_endpoint(EndpointName="gone")

    def orphaned():
        here.bench.ok("drift")
        return [check for check in here.bench.artifact("drift")["checks"] if check["id"] == f"orphan {gone['ResourceId']}"]

    assert wait_for(orphaned, every=0.3)[0]["level"] == "WARN"


def test_drift_names_a_freeze(here):
    arn = here.sagemaker.describe_endpoint(EndpointName="e")["EndpointArn"]
    here.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "headroom:freeze", "Value": "v1 run=0123456789abc desired=1 flags=- t=1"}])
    check, = here.errors("drift")
    assert "0123456789abc" in check["found"] and "thaw" in check["remedy"]
    here.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "headroom:freeze", "Value": "of somebody else"}])
    assert [check["id"] for check in here.errors("drift")] == ["freeze.tag"]
