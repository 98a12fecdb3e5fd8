"""What is unknown is said to be unknown: artifacts that hold little but what they must, through every command that shows them."""

import json
import re
import subprocess

import pytest
from local_cloud import BIN, ROOT

GOLDEN = ROOT / "tests" / "golden"
# A number where there is none, or a null or an infinity that slipped through; "-1" is a sentinel that must not be.
WRONG = re.compile(r"\bnan\b|\binf\b|\bnull\b|(?<![\w.-])-1(?![\d.])|-nan", re.I)


def bench(folder, *words, codes=(0,)):
    done = subprocess.run([BIN / "tts-bench", *words, "--out", str(folder)], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def bare(tmp_path):
    """A measurement by hand: no percentile but p95, no counts, no metric, no interval, no fingerprint, no price."""
    qmax = json.loads((GOLDEN / "qmax-published.json").read_text())
    for rung in qmax["rungs"]:
        rung.update(p50_ms=None, p99_ms=None, metric_ratio=None, held_mean=None, verdict=None)
    qmax.update(calibration=None, knee_n=None, q_max_interval=None)
    ttotal = json.loads((GOLDEN / "ttotal-published.json").read_text())
    ttotal.update(policy_lag_bound_s=None, stages={"before_clock": [], "measured": [], "after_recovery": []})
    (tmp_path / "qmax.json").write_text(json.dumps(qmax))
    (tmp_path / "ttotal.json").write_text(json.dumps(ttotal))
    return tmp_path


def planned(folder, *words):
    return bench(folder, "plan", "--endpoint", "e", "--peak-rps", "40", "--trough-rps", "5", *words)


def test_a_plan_says_what_it_does_not_know(bare):
    done = subprocess.run([BIN / "tts-bench", "plan", "--endpoint", "e", "--out", str(bare), "--peak-rps", "40", "--trough-rps", "5"],
                          cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "--assume-ratio" in done.stderr  # no metric: outstanding counts cannot become its units
    said = planned(bare, "--assume-ratio", "1")
    assert not WRONG.search(said), said
    for line in ("unknown per million characters", "unknown a month", "unknown: no price", "stages of T_total are unknown",
                 "p99 at Q_max is unknown"):
        assert line in re.sub(r"\s+", " ", said), said
    plan = json.loads((bare / "plan.json").read_text())
    assert plan["cost"]["per_million_characters_usd"] is None
    assert all(a["cost_per_hour_at_peak_usd"] is None for a in plan["alternatives"])


def test_report_compare_cost_and_simulate_say_unknown(bare):
    planned(bare, "--assume-ratio", "1")
    said = bench(bare, "simulate", "--endpoint", "e", "--assume-ratio", "1", "--load", "step:1.25", "--base-rps", "20")
    assert not WRONG.search(said), said
    bench(bare, "report", "--endpoint", "e")
    text = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]*>", " ", (bare / "report.html").read_text(), flags=re.S)
    assert not WRONG.search(text), WRONG.search(text)
    assert "Lag of the policy, a bound: unknown" in re.sub(r"\s+", " ", text)
    for name in ("p50", "p99"):
        assert name in text
    said = bench(bare, "compare", "--left", str(bare / "qmax.json"), "--right", str(GOLDEN / "qmax-published.json"), codes=(0, 3))
    assert "unknown" in said and not WRONG.search(said), said
    said = bench(bare, "compare", "--left", str(bare / "ttotal.json"), "--right", str(GOLDEN / "ttotal-published.json"), codes=(0, 3))
    assert re.search(r"lag s\s+unknown", said) and not WRONG.search(said), said
    said = bench(bare, "cost", "--artifacts", str(bare))
    assert said.count("unknown") >= 4 and not WRONG.search(said), said  # instance, characters, price, cost
