"""Instances that never start: ttotal says why at once, and what cannot be put back does not keep scaling suspended."""

import shlex

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing
from local_cloud import BIN, SLOW, LocalCloud, make_endpoint, wait_for

pytestmark = pytest.mark.alone

LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", "3", "--judge", "2", "--idle", "0s"]


class Breakable:
    """A cloud whose instances start only while `broken` is not there."""

    def __init__(self, folder, count: int):
        self.broken = folder / "broken"
        serve = folder / "serve"
        serve.write_text(f"#!/bin/sh\n[ -e {shlex.quote(str(self.broken))} ] && {{ echo 'no disk left' >&2; exit 1; }}\n"
                         f"exec {shlex.quote(str(BIN / 'tts-serve'))} \"$@\"\n")
        serve.chmod(0o755)
        self.cloud = LocalCloud(folder / "cloud", serve=serve)
        make_endpoint(self.cloud, "e", count=count, environment=FAST_PACE)
        register_target(self.cloud)
        self.bench = Bench(self.cloud, folder)
        self.before = standing(self.cloud)


@pytest.fixture
def breakable(tmp_path):
    made = []

    def make(count: int) -> Breakable:
        made.append(Breakable(tmp_path, count))
        return made[0]

    yield make
    for one in made:
        one.cloud.stop()


def test_a_scale_out_that_is_taken_back_ends_ttotal_and_says_why(breakable):
    it = breakable(1)
    it.bench.measured_up_to(2, *LADDER)
    it.broken.touch()
    done = it.bench.run("ttotal", "--yes", "--force", "--hold", "2", "--settle", "1")
    assert done.returncode == 1, done.stdout
    assert "never served" in done.stdout and "FailureReason" in done.stdout and "no disk left" in done.stdout, done.stdout
    assert standing(it.cloud) == it.before
    assert it.bench.journals() == []
    assert not (it.bench.out / "ttotal.json").exists()


def test_a_count_that_the_service_takes_back_leaves_scaling_free_to_mend_it(breakable):
    """Scaling must not stay suspended for an hour because the capacity is gone that the measurement set free; what was measured
    is kept all the same."""
    it = breakable(2)
    run = it.bench.start(*LADDER)
    wait_for(lambda: standing(it.cloud)["desired"] == 1 and standing(it.cloud)["status"] == "InService")
    it.broken.touch()
    said = run.communicate(timeout=180 * SLOW)[0]
    assert run.returncode == 1 and "asked 3 times for 2 instance(s)" in said, said
    assert "went back to 1 instance(s) instead of 2" in said and "no disk left" in said, said
    left = standing(it.cloud)
    artifact = it.bench.artifact("qmax")
    assert [rung["n"] for rung in artifact["rungs"]] == [1, 2]
    assert any("measured, but restoring failed" in note for note in artifact["notes"]), artifact["notes"]
    assert len(it.bench.journals()) == 1
    assert left["flags"] == it.before["flags"] and left["desired"] == 1 and left["tags"], left
    it.broken.unlink()
    it.bench.ok("thaw", "--yes")
    assert standing(it.cloud) == it.before and it.bench.journals() == []
