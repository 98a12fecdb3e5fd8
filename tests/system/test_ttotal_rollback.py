"""ttotal where the second instance never starts: it says why at once, and the endpoint is put back."""

import shlex

import pytest
from bench_tools import FAST_PACE, Bench, register_target, standing
from local_cloud import BIN, LocalCloud, make_endpoint

pytestmark = pytest.mark.alone

LADDER = ["qmax", "--yes", "--force", "--method", "ladder", "--rungs", "1,2", "--hold", "3", "--judge", "2", "--idle", "0s"]


def test_a_scale_out_that_is_taken_back_ends_ttotal_and_says_why(tmp_path):
    broken = tmp_path / "broken"
    serve = tmp_path / "serve"
    serve.write_text(f"#!/bin/sh\n[ -e {shlex.quote(str(broken))} ] && {{ echo 'no disk left' >&2; exit 1; }}\n"
                     f"exec {shlex.quote(str(BIN / 'tts-serve'))} \"$@\"\n")
    serve.chmod(0o755)
    cloud = LocalCloud(tmp_path / "cloud", serve=serve)
    try:
        make_endpoint(cloud, "e", count=1, environment=FAST_PACE)
        register_target(cloud)
        bench = Bench(cloud, tmp_path)
        bench.measured_up_to(2, *LADDER)
        before = standing(cloud)
        broken.touch()
        done = bench.run("ttotal", "--yes", "--force", "--hold", "2", "--settle", "1")
        assert done.returncode == 1, done.stdout
        assert "never served" in done.stdout and "FailureReason" in done.stdout and "no disk left" in done.stdout, done.stdout
        assert standing(cloud) == before
        assert bench.journals() == []
        assert not (bench.out / "ttotal.json").exists()
    finally:
        cloud.stop()
