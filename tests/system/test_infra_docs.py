"""docs/operations.md against the programs: its commands and options exist, and each finding, alarm and IAM file is explained."""

import functools
import json
import re
import subprocess

import pytest
from local_cloud import BIN, ROOT

TEXT = (ROOT / "docs" / "operations.md").read_text()
FIXTURES = ROOT / "infra" / "test" / "fixtures"
PROGRAMS = {"speech-infra": ROOT / "infra" / "bin" / "speech-infra", "tts-bench": BIN / "tts-bench", "tts-local": BIN / "tts-local",
            "docker/build-image.sh": ROOT / "docker" / "build-image.sh", "docker/build-tree.sh": ROOT / "docker" / "build-tree.sh"}


def section(heading: str) -> str:
    return TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def commands() -> list[str]:
    spans = re.findall(r"`([^`\n]+)`", TEXT) + re.findall(r"^ {4}(.+)$", TEXT, re.M)
    lines = [one.split(" #")[0].strip() for span in spans for one in span.split("; ")]
    return sorted({line for line in lines if line.split()[0] in PROGRAMS})


@functools.cache
def help_of(*words) -> str:
    command = [PROGRAMS[words[0]], *words[1:], "--help"]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert done.returncode == 0, f"{' '.join(words)} --help: {done.stdout}"
    return done.stdout


def test_the_guide_has_commands_of_every_program():
    used = {line.split()[0] for line in commands()}
    assert used >= {"speech-infra", "tts-bench", "docker/build-image.sh", "docker/build-tree.sh"}


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_guide_exists_with_its_options(line):
    words = line.split()
    command = [words[0], words[1]] if words[0] == "tts-bench" and len(words) > 1 and not words[1].startswith("-") else [words[0]]
    told = help_of(*command)
    if words[0] == "speech-infra":
        assert re.search(rf"^  {words[1]} ", told, re.M), f"there is no command {words[1]}"
    for option in re.findall(r"--[a-z][a-z-]*", line):
        assert re.search(rf"{option}\b", told), f"{' '.join(command)} has no {option}"


@pytest.mark.parametrize("words,row", [(["qmax"], "8 Q_max"), (["qmax", "--method", "ladder"], "8 Q_max"), (["ttotal"], "9 T_total")])
def test_the_guides_times_are_those_that_the_commands_estimate(words, row):
    model = ["--model", ROOT / "models" / "kokoro-82m.toml", "--region", "us-east-1"]
    done = subprocess.run([PROGRAMS["tts-bench"], *words, *model, "--dry-run"], text=True, stdout=subprocess.PIPE, timeout=60)
    minutes = re.search(r"(?:estimated|at most) (\d+) min", done.stdout)[1]
    line = next(line for line in TEXT.splitlines() if line.startswith(f"| {row} |"))
    assert re.search(rf"\b{minutes}\b", line), done.stdout


def test_every_finding_of_the_planner_has_a_row():
    found = set()
    for path in (ROOT / "src" / "capacity").glob("*.cpp"):
        if not path.stem.endswith("_test"):
            found |= set(re.findall(r'\{"([a-z_]+)",\s*Level::', path.read_text()))
    assert len(found) > 10
    rows = re.findall(r"^\| ([a-z_, ]+) \|", section("What to do for each finding of a plan"), re.M)
    told = {name for row in rows for name in row.split(", ")} - {"finding"}
    assert found == told


def test_every_alarm_has_a_row():
    rows = section("What to do when an alarm rings")
    for form in ("published", "native", "offered-rate"):
        plan = json.loads((FIXTURES / f"plan-{form}.json").read_text())
        for name in [alarm["name"] for alarm in plan["policy"]["alarms"]]:
            assert f"`headroom-…-{name.split('AllTraffic-')[1]}`" in rows, name
    source = (ROOT / "infra" / "src" / "stacks" / "endpoint_observability.ts").read_text()
    names = re.findall(r"props\.endpointName\}-([a-z0-9-]+)`, metric", source)
    assert len(set(names)) == 3
    for name in names:
        assert f"`ENDPOINT-{name}`" in rows, name


def test_every_condition_of_autoscaling_is_named():
    source = (ROOT / "infra" / "src" / "plan" / "judge.ts").read_text().split("export type ConditionId =")[1].split(";")[0]
    names = re.findall(r'"(\w+)"', source)
    assert len(names) == 10
    for name in names:
        assert f"`{name}`" in TEXT, name


def test_every_permission_file_is_in_the_table():
    files = {path.name for path in (ROOT / "infra" / "iam").glob("*.json")}
    assert files == set(re.findall(r"`([\w-]+\.json)`", section("Permissions")))


def test_links_inside_the_guide_lead_somewhere():
    headings = {re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^## (.+)$", TEXT, re.M)}
    assert set(re.findall(r"\]\(#([a-z0-9-]+)\)", TEXT)) <= headings
    for path in re.findall(r"`((?:docs|infra|models|docker|setup)/[\w./-]+)`", TEXT):
        assert (ROOT / path.rstrip("/")).exists() or "MODEL" in path or "NAME" in path, path
