"""qmax and ttotal on real paced instances: the published run reproduced, and nothing left behind whatever ends them."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import time

import jsonschema
import pytest
from bench_tools import FAST_PACE, PUBLISHED_PACE, Bench, paced_cloud, register_target, standing
from local_cloud import BIN, ROOT, SLOW, LocalCloud, alive, children, make_endpoint, wait_for, wait_status

pytestmark = pytest.mark.alone

PUBLISHED = json.loads((ROOT / "tests" / "golden" / "published-run.json").read_text())
# --force: the fixture suspends scaling on purpose, which drift reports.
QUICK_LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", "3", "--judge", "2", "--idle", "0s"]


def check_artifact(bench: Bench, name: str) -> dict:
    artifact = bench.artifact(name)
    jsonschema.validate(artifact, json.loads((ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text()))
    counts = [artifact["counts"]] if artifact.get("counts") else []
    for row in counts + artifact.get("rungs", []):
        assert row["started"] == row["ok"] + row["rejected"] + row["failed"] + row["timed_out"] + row["aborted"]
    return artifact


def off(mine: dict, published: dict) -> bool:
    """Whether a rung misses the published one by more than 3 % (p95 from rung 5 on: below it there is no queue to smooth noise)."""
    p50 = mine["p50_ms"] != pytest.approx(published["p50_ms"], rel=0.03)
    return p50 or (mine["n"] >= 5 and mine["p95_ms"] != pytest.approx(published["p95_ms"], rel=0.03))


@pytest.mark.skipif(SLOW > 1, reason="a sanitizer build is too slow for the published pace")
@pytest.mark.parametrize("ladder", ["1,5,10,50,60", pytest.param("1,5,10,20,30,40,50,60", marks=pytest.mark.soak)])
def test_the_ladder_reproduces_the_published_run(tmp_path, ladder):
    """A busy neighbour only ever adds latency, so a rung that is off is held again, four times at most."""
    wanted = [rung for rung in PUBLISHED["ladder"] if str(rung["n"]) in ladder.split(",")]
    cloud = paced_cloud(tmp_path, PUBLISHED_PACE)
    try:
        bench = Bench(cloud, tmp_path)
        bench.measured("qmax", "--yes", "--method", "ladder", "--rungs", ladder, "--hold", "27", "--judge", "21", "--idle", "0s",
                       timeout=420)
        artifact = check_artifact(bench, "qmax")
        assert [rung["n"] for rung in artifact["rungs"]] == [rung["n"] for rung in wanted]
        assert artifact["q_max"] == PUBLISHED["q_max"]
        assert artifact["first_fail"] == 60
        assert artifact["verdict"] == "bracketed"
        assert artifact["knee_n"] == 5
        assert artifact["paced_engine"] is True
        rungs = {rung["n"]: rung for rung in artifact["rungs"]}
        for published in wanted:
            n = published["n"]
            for _ in range(4):
                if not off(rungs[n], published):
                    break
                again = Bench(cloud, tmp_path / "again")
                again.measured("qmax", "--yes", "--method", "ladder", "--rungs", str(n), "--hold", "27", "--judge", "21", "--idle", "0s")
                rungs[n] = next(rung for rung in again.artifact("qmax")["rungs"] if rung["n"] == n)
            assert not off(rungs[n], published), (rungs[n], published)
            assert rungs[n]["metric_ratio"] == pytest.approx(1.0, abs=0.02), rungs[n]
            assert rungs[n]["held_mean"] <= n
    finally:
        cloud.stop()


@pytest.fixture
def fast(tmp_path):
    cloud = paced_cloud(tmp_path, FAST_PACE, count=2)
    register_target(cloud, scheduled=True)
    yield cloud, Bench(cloud, tmp_path)
    cloud.stop()


def test_qmax_then_ttotal_measure_every_stage_and_restore(fast):
    cloud, bench = fast
    before = standing(cloud)
    bench.measured_up_to(2, *QUICK_LADDER)
    qmax = check_artifact(bench, "qmax")
    assert qmax["verdict"] == "lower_bound"
    out = bench.measured("ttotal", "--yes", "--force", "--hold", "2", "--settle", "1")
    ttotal = check_artifact(bench, "ttotal")
    stages = [stage["to"] for stage in ttotal["stages"]["measured"]]
    assert set(stages) >= {"instance_logging", "container_started", "weights_fetched", "framework_init", "weights_ready", "warmup_done",
                           "ready", "in_service", "traffic_recovered"}, out
    assert sum(stage["s"] for stage in ttotal["stages"]["measured"]) == pytest.approx(ttotal["measured_total_s"], abs=1e-6)
    assert ttotal["stages"]["before_clock"][0]["from"] == "load_applied"
    assert ttotal["total_s"] == pytest.approx(ttotal["measured_total_s"] + ttotal["policy_lag_bound_s"])
    assert standing(cloud) == before
    assert bench.journals() == []


def test_the_adaptive_search_steps_down_without_dragging_the_old_queue_along(tmp_path):
    """From a deep queue back to rung 1: what drains belongs to the transient, so nothing looks degraded."""
    cloud = paced_cloud(tmp_path, {**FAST_PACE, "TTS_SERVICE_MS": "40"})
    try:
        bench = Bench(cloud, tmp_path)
        bench.measured("qmax", "--yes", "--budget", "220", "--max-hold", "20", "--slo-ms", "500", "--max-n", "40", timeout=300)
        artifact = check_artifact(bench, "qmax")
        assert artifact["q_max"] == pytest.approx(12, abs=1)  # 500 ms / 40 ms
        assert artifact["first_fail"] in (artifact["q_max"] + 1, artifact["q_max"] + 2)
        assert artifact["verdict"] == "bracketed" and artifact["interval_method"] in ("certified", "line", "scatter")
        assert artifact["q_max_interval"][0] == artifact["q_max"] and artifact["noise_ratio"] >= 1
        repeats = [rung for rung in artifact["rungs"] if rung["repeat"]]
        assert [rung["n"] for rung in repeats] == [artifact["q_max"], 1]
        assert repeats[1]["held_mean"] == pytest.approx(1, abs=0.05)
        assert repeats[1]["verdict"] != "degraded"
    finally:
        cloud.stop()


def test_a_signal_before_the_freeze_changes_nothing(fast):
    cloud, bench = fast
    before = standing(cloud)
    modified = cloud.client("sagemaker").describe_endpoint(EndpointName="e")["LastModifiedTime"]
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(bench.journals)  # it is claiming now: the settle of 2 s has begun
    run.send_signal(signal.SIGINT)
    assert run.wait(60 * SLOW) == 130, run.stdout.read()
    assert standing(cloud) == before and bench.journals() == []
    assert cloud.client("sagemaker").describe_endpoint(EndpointName="e")["LastModifiedTime"] == modified  # never pinned


def test_a_second_signal_ends_at_once_and_prints_the_thaw_line(fast):
    cloud, bench = fast
    before = standing(cloud)
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(lambda: standing(cloud)["desired"] == 1)
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)
    assert run.wait(60 * SLOW) == 130
    output = run.stdout.read()
    if bench.journals():  # it may have been quick enough to restore all the same
        assert "tts-bench thaw --endpoint e" in output, output
        bench.ok("thaw", "--yes")
    assert standing(cloud) == before


def test_dry_runs_make_no_request(tmp_path, fast):
    _, bench = fast
    bench.cloud = type("Nowhere", (), {"url": "http://127.0.0.1:9"})()
    assert "estimated 36 min" in bench.ok("qmax", "--method", "ladder", "--dry-run")
    assert "no request was made" in bench.ok("ttotal", "--dry-run")


def test_changing_commands_refuse_without_yes_or_a_terminal(fast):
    cloud, bench = fast
    before = standing(cloud)
    done = bench.run("qmax", "--force", "--method", "ladder", "--rungs", "1", "--hold", "2", "--judge", "1")
    assert done.returncode == 3 and "--yes" in done.stdout, done.stdout
    assert standing(cloud) == before


def test_ttotal_refuses_a_measurement_of_something_else(fast):
    _, bench = fast
    bench.measured_up_to(2, *QUICK_LADDER)
    done = bench.run("ttotal", "--yes", "--force", "--transport", "buffered")
    assert done.returncode == 3 and "transport" in done.stdout, done.stdout
    done = bench.run("ttotal", "--yes", "--force", "--voice", "af_bella")
    assert done.returncode == 3 and "workload" in done.stdout, done.stdout


def test_a_missing_endpoint_is_named_with_a_remedy(fast):
    _, bench = fast
    bench.endpoint = "nobody"
    done = bench.run(*QUICK_LADDER)
    assert done.returncode == 1 and "nobody" in done.stdout and "create it" in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["../etc", "a/b", "a" * 64, "-x", "é"])
def test_hostile_endpoint_names_touch_no_path(fast, name):
    _, bench = fast
    bench.endpoint = name
    done = bench.run(*QUICK_LADDER)
    assert done.returncode == 2 and "endpoint" in done.stdout, done.stdout


def test_an_unreadable_artifact_is_named(fast):
    _, bench = fast
    bench.out.mkdir(parents=True)
    for text, word in [("{", "JSON"), ('{"schema":"headroom/plan","version":1}', "headroom/qmax"), ("", "JSON")]:
        (bench.out / "qmax.json").write_text(text)
        done = bench.run("ttotal", "--yes", "--force")
        assert done.returncode == 1 and "qmax.json" in done.stdout and word in done.stdout, done.stdout


def test_two_runs_never_share_an_endpoint(fast, tmp_path):
    cloud, bench = fast
    before = standing(cloud)
    first = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(bench.journals)
    second = bench.run(*QUICK_LADDER)  # same machine: the lock or the drift row of the tag
    assert second.returncode in (1, 3) and "run" in second.stdout, second.stdout
    elsewhere = Bench(cloud, tmp_path / "elsewhere")  # another machine: only the tag tells
    wait_for(lambda: standing(cloud)["tags"])
    third = elsewhere.run(*QUICK_LADDER, "--force")
    assert third.returncode == 1 and "thaw" in third.stdout, third.stdout
    first.send_signal(signal.SIGINT)
    assert first.wait(60 * SLOW) == 130, first.stdout.read()
    assert standing(cloud) == before


def drift_sees_what_is_left(cloud, bench, before: dict) -> None:
    """Whatever a killed run left changed, drift reports as a freeze, with the command that undoes it."""
    if standing(cloud) != before:
        done = bench.run("drift")
        assert done.returncode == 3 and "freeze" in done.stdout and "thaw" in done.stdout, done.stdout


def thaw_twice(cloud, bench: Bench) -> None:
    """Where something was left thaw restores it; where nothing was, it changes nothing and asks (the flags are not its own)."""
    left = bool(bench.journals() or standing(cloud)["tags"])
    first = bench.run("thaw", "--yes")
    assert first.returncode == (0 if left else 2), first.stdout
    second = bench.run("thaw", "--yes")
    assert second.returncode == 2 and "--desired" in second.stdout, second.stdout


def test_an_interrupted_measurement_goes_on_with_the_rungs_it_held(fast):
    cloud, bench = fast
    before = standing(cloud)
    words = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", "4", "--judge", "2", "--idle", "1s"]
    refused = bench.run(*words, "--resume")
    assert refused.returncode == 1 and "no interrupted measurement" in refused.stdout, refused.stdout
    run = bench.start(*words)
    wait_for((bench.out / "qmax-partial.json").exists)
    run.send_signal(signal.SIGINT)
    assert run.wait(60 * SLOW) == 130
    assert "--resume" in run.stdout.read()
    first = json.loads((bench.out / "qmax-partial.json").read_text())["rungs"][0]
    other = bench.run(*words, "--resume", "--slo-ms", "500")
    assert other.returncode == 3 and "SLO" in other.stdout, other.stdout
    other = bench.run(*words, "--resume", "--request-timeout", "30")
    assert other.returncode == 3 and "--request-timeout" in other.stdout, other.stdout
    saved = json.loads((bench.out / "qmax-partial.json").read_text())
    kept = saved["effective"]["endpoint configuration"]
    of_another = {**saved, "effective": {**saved["effective"], "endpoint configuration": "old"}}
    (bench.out / "qmax-partial.json").write_text(json.dumps(of_another))
    other = bench.run(*words, "--resume")
    assert other.returncode == 3 and f"endpoint configuration (old then, {kept} now)" in other.stdout, other.stdout
    (bench.out / "qmax-partial.json").write_text(json.dumps(saved))
    out = bench.measured(*words, "--resume")
    assert "going on with" in out, out
    artifact = check_artifact(bench, "qmax")
    rungs = artifact["rungs"]
    assert any("resumed" in note for note in artifact["notes"]), artifact["notes"]
    assert [rung["n"] for rung in rungs] == [1, 2]
    assert rungs[0]["started_at"] == first["started_at"]
    assert not (bench.out / "qmax-partial.json").exists()
    assert standing(cloud) == before


@pytest.mark.soak
@pytest.mark.parametrize("command", ["qmax", "ttotal"])
def test_kill_9_at_a_hundred_moments_is_restored_exactly(tmp_path, command):
    random.seed(f"hundred {command}")
    cloud = paced_cloud(tmp_path, FAST_PACE, count=2)
    register_target(cloud, scale_in=True)
    bench = Bench(cloud, tmp_path)
    before = standing(cloud)
    bench.measured_up_to(2, *QUICK_LADDER)
    words = QUICK_LADDER if command == "qmax" else ["ttotal", "--yes", "--force", "--hold", "2", "--settle", "1"]
    try:
        for moment in (random.uniform(0.02, 9) for _ in range(100)):
            run = bench.start(*words)
            time.sleep(moment)  # the moment is what is tested
            run.kill()
            run.wait(60 * SLOW)
            run.stdout.close()
            drift_sees_what_is_left(cloud, bench, before)
            thaw_twice(cloud, bench)
            assert standing(cloud) == before, f"{command} at {moment:.2f} s"
            assert bench.journals() == []
    finally:
        cloud.stop()


@pytest.mark.soak
@pytest.mark.skipif(SLOW > 1, reason="a sanitizer build is too slow for the published pace")
@pytest.mark.parametrize("jitter, low, high", [("0.01", 52, 54), ("0.1", 50, 54), ("0.3", 47, 53)])
def test_the_certified_search_on_the_paced_engine(tmp_path, jitter, low, high):
    """Three of the simulated families in earnest: true Q_max 53, 52 and 50 at 55.9 ms and 3 s."""
    cloud = paced_cloud(tmp_path, {**PUBLISHED_PACE, "TTS_JITTER": jitter})
    try:
        bench = Bench(cloud, tmp_path)
        bench.measured("qmax", "--yes", timeout=900)
        artifact = check_artifact(bench, "qmax")
        assert low <= artifact["q_max_estimate"] <= high, artifact["sentence"]
        assert artifact["q_max_interval"][0] <= high and artifact["q_max_interval"][1] >= low
        assert artifact["duration_s"] <= 2178 / (7 if jitter == "0.01" else 4)
    finally:
        cloud.stop()


@pytest.mark.soak
@pytest.mark.skipif(SLOW > 1, reason="a sanitizer build is too slow for the published pace")
def test_a_host_that_stands_still_is_not_held_against_the_server(tmp_path):
    """Driver, cloud and instance stopped together for half a second, over and over: what a busy host does to all of them."""
    cloud = paced_cloud(tmp_path, PUBLISHED_PACE)
    try:
        bench = Bench(cloud, tmp_path)
        run = bench.start("qmax", "--yes")
        pids = [run.pid, cloud.process.pid, *children(cloud)]
        while run.poll() is None:
            time.sleep(random.uniform(12, 24))
            for what in (signal.SIGSTOP, signal.SIGCONT):
                for pid in pids:
                    if alive(pid):
                        os.kill(pid, what)
                time.sleep(0.5 if what == signal.SIGSTOP else 0)
        assert run.returncode in (0, 4), run.stdout.read()
        run.stdout.close()
        artifact = check_artifact(bench, "qmax")
        assert artifact["first_fail"] is None or artifact["first_fail"] > 53, artifact["sentence"]
        assert artifact["q_max_interval"][0] <= 53 <= artifact["q_max_interval"][1], artifact["sentence"]
        assert any("stood still" in (rung["reason"] or "") for rung in artifact["rungs"])
    finally:
        cloud.stop()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("command", ["qmax", "ttotal"])
def test_any_end_at_any_moment_is_restored_exactly(tmp_path, how, command):
    """Moments from the first request to the end of the run; after kill -9 thaw restores, twice without harm."""
    random.seed(f"{how} {command}")
    cloud = paced_cloud(tmp_path, FAST_PACE, count=2)
    register_target(cloud, scale_in=True)
    bench = Bench(cloud, tmp_path)
    before = standing(cloud)
    bench.measured_up_to(2, *QUICK_LADDER)
    words = QUICK_LADDER if command == "qmax" else ["ttotal", "--yes", "--force", "--hold", "2", "--settle", "1"]
    moments = [0.05 + 0.25 * SLOW * random.random(), 2 + random.random(), *(random.uniform(0.3, 7.5) * SLOW for _ in range(2))]
    try:
        for moment in moments:
            run = bench.start(*words)
            time.sleep(moment)  # the moment is what is tested
            run.send_signal(how)
            code = run.wait(60 * SLOW)
            output = run.stdout.read()
            if how == signal.SIGKILL:
                drift_sees_what_is_left(cloud, bench, before)
                thaw_twice(cloud, bench)
            else:
                # Before the handlers are there, the signal ends the process as it would any other.
                assert code in (130, 0, 4, -how), f"{command} {how} at {moment:.2f} s: exit {code}\n{output}"
            assert standing(cloud) == before, f"{command} {how} at {moment:.2f} s\n{output}"
            assert bench.journals() == []
    finally:
        cloud.stop()


def test_a_signal_while_updating_is_waited_out_and_then_asked_for_within_five_seconds(tmp_path):
    """ttotal's second instance is on its way, so that the endpoint refuses any change until it is there."""
    cloud = LocalCloud(tmp_path / "cloud", "--provision-delay", "4s", serve=BIN / "tts-serve")
    try:
        sagemaker = make_endpoint(cloud, "e", environment=FAST_PACE)
        register_target(cloud, scale_in=True)
        bench = Bench(cloud, tmp_path)
        bench.measured_up_to(2, *QUICK_LADDER)
        before = standing(cloud)
        run = bench.start("ttotal", "--yes", "--force", "--hold", "2", "--settle", "1")

        def seen() -> tuple[str, int]:
            described = sagemaker.describe_endpoint(EndpointName="e")
            return described["EndpointStatus"], described["ProductionVariants"][0]["DesiredInstanceCount"]

        wait_for(lambda: seen() == ("Updating", 2))
        run.send_signal(signal.SIGINT)
        accepts = None  # since when the endpoint would take the change
        while True:
            frozen = bench.journals() and standing(cloud)["tags"]  # read first: it is gone soon after the count is back
            status, desired = seen()
            if desired != 2:
                break
            assert frozen
            if status == "InService":
                accepts = accepts or time.monotonic()
                assert time.monotonic() - accepts < 5 * SLOW
            time.sleep(0.1)
        assert run.wait(60 * SLOW) == 130, run.stdout.read()
        run.stdout.close()
        assert standing(cloud) == before and bench.journals() == []
    finally:
        cloud.stop()


def test_a_signal_is_heard_while_connections_do_not_come(fast):
    """The APIs answer, the runtime's port does not: its queue of connections is full."""
    cloud, bench = fast
    before = standing(cloud)
    with socket.socket() as full, contextlib.ExitStack() as filling:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            one = filling.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        bench.environment["AWS_ENDPOINT_URL"] = cloud.url
        bench.environment["AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME"] = f"http://127.0.0.1:{full.getsockname()[1]}"
        words = [word for word in map(str, bench.command(*QUICK_LADDER)) if word not in ("--endpoint-url", cloud.url)]
        run = subprocess.Popen(words, env=bench.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for(lambda: standing(cloud)["desired"] == 1 and standing(cloud)["status"] == "InService")
        time.sleep(1)  # it connects now, and would for half a minute
        run.send_signal(signal.SIGINT)
        began = time.monotonic()
        wait_for(lambda: standing(cloud)["desired"] == before["desired"], 20)
        asked = time.monotonic() - began
        assert run.wait(60 * SLOW) == 130, run.stdout.read()
        run.stdout.close()
    assert asked < 8 * SLOW  # 5 s, and what a busy machine adds
    assert standing(cloud) == before and bench.journals() == []


def test_thaw_knows_from_the_tag_alone_and_asks_when_nobody_knows(fast, tmp_path):
    cloud, bench = fast
    before = standing(cloud)
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(lambda: standing(cloud)["tags"] and standing(cloud)["desired"] == 1)
    run.kill()
    run.wait()
    elsewhere = Bench(cloud, tmp_path / "elsewhere")  # no journal there
    assert "tag" in elsewhere.ok("thaw", "--dry-run")
    assert standing(cloud) != before
    elsewhere.ok("thaw", "--yes")
    assert standing(cloud) == before
    bench.ok("thaw", "--yes")  # its own journal is stale now: the same again does no harm
    assert standing(cloud) == before and bench.journals() == []

    register_target(cloud, scale_in=True, scale_out=True, scheduled=True)
    asked = bench.run("thaw", "--yes")
    assert asked.returncode == 2 and "--desired" in asked.stdout, asked.stdout
    bench.ok("thaw", "--yes", "--desired", "2")
    assert standing(cloud)["flags"] == {"DynamicScalingInSuspended": False, "DynamicScalingOutSuspended": False,
                                        "ScheduledScalingSuspended": False}


def test_thaw_of_a_variant_that_is_gone_frees_the_endpoint(fast):
    cloud, bench = fast
    run = bench.start("qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60", "--judge", "1")
    wait_for(lambda: standing(cloud)["tags"] and standing(cloud)["desired"] == 1 and standing(cloud)["status"] == "InService")
    run.kill()
    run.communicate()
    sagemaker = cloud.client("sagemaker")
    sagemaker.create_endpoint_config(EndpointConfigName="other", ProductionVariants=[
        {"VariantName": "Other", "ModelName": "e", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}])
    sagemaker.update_endpoint(EndpointName="e", EndpointConfigName="other")
    wait_status(sagemaker)
    said = bench.ok("thaw", "--yes")
    assert "has no variant 'AllTraffic' any more" in said, said
    assert standing(cloud)["tags"] == [] and bench.journals() == []


def test_thaw_of_another_variant_restores_nothing_and_names_the_right_one(tmp_path):
    """The tag is the endpoint's, the freeze is a variant's: what one variant's run left is not restored to another."""
    cloud = LocalCloud(tmp_path / "cloud", serve=BIN / "tts-serve")
    try:
        sagemaker = cloud.client("sagemaker")
        sagemaker.create_model(ModelName="e", PrimaryContainer={"Image": "image:1", "Environment": FAST_PACE})
        sagemaker.create_endpoint_config(EndpointConfigName="e", ProductionVariants=[
            {"VariantName": name, "ModelName": "e", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": count}
            for name, count in (("A", 2), ("B", 1))])
        sagemaker.create_endpoint(EndpointName="e", EndpointConfigName="e")
        wait_status(sagemaker)

        def counts() -> dict:
            return {variant["VariantName"]: variant["DesiredInstanceCount"]
                    for variant in sagemaker.describe_endpoint(EndpointName="e")["ProductionVariants"]}

        bench = Bench(cloud, tmp_path)
        run = bench.start("qmax", "--variant", "A", "--yes", "--force", "--method", "ladder", "--rungs", "1", "--hold", "60",
                          "--judge", "1")
        wait_for(lambda: counts() == {"A": 1, "B": 1})
        run.kill()
        run.wait()
        run.stdout.close()
        elsewhere = Bench(cloud, tmp_path / "elsewhere")
        wrong = elsewhere.run("thaw", "--variant", "B", "--yes")
        assert wrong.returncode == 3 and "variant 'A'" in wrong.stdout and "thaw --endpoint e --variant A" in wrong.stdout, wrong.stdout
        assert counts() == {"A": 1, "B": 1}
        elsewhere.ok("thaw", "--variant", "A", "--yes")
        assert counts() == {"A": 2, "B": 1}
    finally:
        cloud.stop()
