"""simulate and plan --search give the same answer for the same seed, whoever runs them, and another for another."""

import json
import math
import random
import subprocess

from local_cloud import BIN, ROOT

GOLDEN = ROOT / "tests" / "golden"
MEASURED = ["--qmax", str(GOLDEN / "qmax-published.json"), "--ttotal", str(GOLDEN / "ttotal-published.json"), "--endpoint", "e"]
OF_THE_RUN = ("created", "run_id", "settings")


def run(folder, command, *words):
    done = subprocess.run([BIN / "tts-bench", command, *MEASURED, "--out", str(folder), "--quiet", *words], cwd=ROOT,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return {k: v for k, v in json.loads((folder / f"{command}.json").read_text()).items() if k not in OF_THE_RUN}


def test_a_simulation_depends_on_its_seed_alone(tmp_path):
    words = ["--load", "markov:60:120", "--base-rps", "30"]
    first, again = (run(tmp_path / name, "simulate", *words, "--seed", "5") for name in ("a", "b"))
    assert first == again
    other = run(tmp_path / "c", "simulate", *words, "--seed", "6")
    assert [r["instance_hours"] for r in first["rows"]] != [r["instance_hours"] for r in other["rows"]]


def test_a_search_finds_the_same_policy_again(tmp_path):
    draw, at, lines = random.Random(1), 0.0, []
    while at < 3600:
        at += draw.expovariate(30 + 15 * math.sin(2 * math.pi * at / 3600))
        lines.append(f"{at:.3f}\n")
    trace = tmp_path / "trace.csv"
    trace.write_text("t_s\n" + "".join(lines))
    words = ["--trace", str(trace), "--search", "--carrier", "offered-rate"]
    first, again = (run(tmp_path / name, "plan", *words) for name in ("a", "b"))
    assert first == again
    assert first["utilisation"] <= 0.95 and first["alternatives"][2]["share_within_slo"] is not None
