"""The HTML report: what Chromium makes of it, and its numbers against the artifacts they come from."""

import json
import os
import shutil
import subprocess

import pytest
from local_cloud import BIN, ROOT
from report_page import SCHEMES, SIZES, Page

GOLDEN = ROOT / "tests" / "golden"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Artifacts of the published run, planned and simulated, and their report."""
    folder = tmp_path_factory.mktemp("report")
    measured = ["--qmax", str(GOLDEN / "qmax-published.json"), "--ttotal", str(GOLDEN / "ttotal-published.json")]
    for name in ("qmax", "ttotal"):
        (folder / f"{name}.json").write_bytes((GOLDEN / f"{name}-published.json").read_bytes())

    def bench(*words, codes=(0,)):
        done = subprocess.run([BIN / "tts-bench", *words, "--endpoint", "speech-published", "--out", str(folder)], cwd=ROOT,
                              env={**os.environ, "TZ": "UTC"}, capture_output=True, text=True, timeout=120)
        assert done.returncode in codes, done.stdout + done.stderr

    bench("plan", *measured, "--peak-rps", "90", "--trough-rps", "20")
    bench("simulate", *measured, "--plan", str(folder / "plan.json"), "--load", "step:1.25", "--base-rps", "60")
    bench("report")
    return folder


@pytest.fixture(scope="module")
def page(made, tmp_path_factory):
    opened = Page(tmp_path_factory.mktemp("chromium"), made / "report.html")
    yield opened
    opened.close()


def artifact(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_opens_without_a_complaint_or_a_request_and_fits_the_screen(page, size, scheme, tmp_path):
    page.browser.events.clear()
    page.open(size, scheme)
    assert page.complaints() == []
    assert page.requests() == [page.url]
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
    page.browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000
    dark = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) < 200")
    assert dark == (scheme == "dark")


def test_its_numbers_are_those_of_the_artifacts(page, made):
    page.open("desktop", "light")
    qmax, ttotal, plan, simulate = (artifact(made, n) for n in ("qmax", "ttotal", "plan", "simulate"))
    tiles = dict(page.run("[...document.querySelectorAll('.tile')].map(t => [t.querySelector('span').textContent, "
                          "t.querySelector('b').textContent])"))
    assert tiles["Q_max"] == str(qmax["q_max"])
    assert tiles["unqueued p95"] == f"{qmax['unqueued']['p95_ms']:.1f} ms"
    assert float(tiles["T_total"].removesuffix(" s")) == pytest.approx(ttotal["total_s"], abs=0.05)
    assert tiles["instances"] == f"{plan['min_instances']} to {plan['max_instances']}"
    assert tiles["plan"] == plan["verdict"]
    # Every dot of the curve carries the measured point as its title.
    dots = page.run("[...document.querySelectorAll('circle.c1 title')].map(t => t.textContent)")
    for rung in qmax["rungs"]:
        assert f"p95: {rung['n']:.4g}, {rung['p95_ms']:.4g}" in dots
        assert f"answered: {rung['n']:.4g}, {rung['rps']:.4g}" in dots
    stages = page.run("[...document.querySelectorAll('.keys li')].map(l => l.textContent)")
    assert [s.split(" s ")[0] for s in stages] == [f"{s['to']} {s['s']:.4g}" for s in ttotal["stages"]["measured"]]
    findings = page.run("[...document.querySelectorAll('code.id')].map(c => [c.textContent, "
                        "c.closest('tr').querySelector('.level').textContent, c.closest('tr').children[2].textContent])")
    assert sorted(findings) == sorted([f["id"], f["level"], f["evidence"]] for f in plan["findings"])
    rows = page.run("[...[...document.querySelectorAll('section')].find(s => s.textContent.startsWith('Simulated'))"
                    ".querySelectorAll('tbody tr')].map(r => [...r.children].map(c => c.textContent))")
    assert [r[0] for r in rows] == [r["name"] for r in simulate["rows"]]
    for shown, row in zip(rows, simulate["rows"], strict=True):
        assert float(shown[2].removesuffix(" %")) == pytest.approx(100 * row["share_within_slo"], abs=0.01)
        assert float(shown[5]) == pytest.approx(row["instance_hours"], rel=1e-3)
        assert shown[8] == "unknown"  # no model file, no price


def test_it_reads_without_colour(page):
    page.open("desktop", "light")
    # Lines of one chart differ by their dash, and each has its name at its end.
    charts = page.run("[...document.querySelectorAll('svg')].map(s => [[...s.querySelectorAll('path.line')].map("
                      "p => p.getAttribute('stroke-dasharray') || 'solid'), s.querySelectorAll('text.end').length, "
                      "s.getAttribute('aria-label').length])")
    assert len(charts) >= 3
    for dashes, names, description in charts:
        assert len(set(dashes)) == len(dashes), dashes
        assert names == len(dashes) and description > 20
    # Each level of a finding has its word and a sign of its own.
    signs = dict(page.run("[...document.querySelectorAll('.level')].map(l => [l.textContent, getComputedStyle(l, '::before').content])"))
    assert len(signs) >= 2 and len(set(signs.values())) == len(signs)
    # The parts of the stage bar are named in a numbered list in the same order.
    assert page.run("document.querySelectorAll('.bar .part').length == document.querySelectorAll('.keys li').length")


@pytest.mark.parametrize("name", ["qmax", "ttotal"])
def test_it_says_that_the_plan_was_made_from_another_measurement(made, tmp_path, name):
    folder = tmp_path / "again"
    shutil.copytree(made, folder)

    def report() -> str:
        done = subprocess.run([BIN / "tts-bench", "report", "--endpoint", "speech-published", "--out", folder, "--quiet"], cwd=ROOT,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    note = f"made from another {name}.json than the one beside it; plan again: tts-bench plan"
    assert report() == "" and note not in (folder / "report.html").read_text()
    with open(folder / f"{name}.json", "a") as file:
        file.write("\n")  # the same figures, another file
    assert report() == f"warning: plan.json was {note}\n"
    assert note in (folder / "report.html").read_text()
