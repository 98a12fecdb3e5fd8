"""Runs the tests and ends with one line, "N passed, N failed", summed over GoogleTest and pytest.

Words: unit (release unit tests), asan (unit tests under address and undefined sanitizers), system (real binaries),
model (real speech). None: all of these. Long runs: soak (the three that follow), soak-release (tests marked soak),
soak-asan and soak-tsan (unit and system tests with these sanitizers).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parent.parent
# use_sigaltstack=0: OpenVINO's CPU plugin gives the thread that loads it a signal stack of its own.
# At that thread's end the sanitizer unmaps whatever stack is set, and the plugin unmaps the same pages again when it
# goes, by then someone else's: about one run in four of the engine's tests crashed in the sanitizer's own memory.
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:strict_string_checks=1:use_sigaltstack=0",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": f"halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:suppressions={ROOT / 'tests' / 'tsan.supp'}",
    "LSAN_OPTIONS": f"suppressions={ROOT / 'tests' / 'lsan.supp'}",
}


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.skipped = 0
        self.names: list[str] = []

    def fail(self, name: str) -> None:
        self.failed += 1
        self.names.append(name)


def build(preset: str, tally: Tally) -> bool:
    """Configures and builds everything of a preset; a broken build is one failure."""
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(done.stdout[-8000:])
            tally.fail(f"build {preset}")
            return False
    return True


def run_unit(preset: str, tally: Tally, environment: dict[str, str], gtest_filter: str = "*") -> None:
    """Runs every unit test executable of a preset and counts its test cases."""
    for binary in sorted((ROOT / "build" / preset / "bin").glob("headroom_*_test")):
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            started = time.monotonic()
            try:
                done = subprocess.run(
                    [binary, f"--gtest_output=json:{report.name}", "--gtest_brief=1", f"--gtest_filter={gtest_filter}"],
                    cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    timeout=900,
                )
                output, code = done.stdout.decode(errors="replace"), done.returncode
            except subprocess.TimeoutExpired as late:
                output, code = (late.stdout or b"").decode(errors="replace") + "\ntimed out", 124
            count_gtest(binary.name, preset, pathlib.Path(report.name), code, output, tally)
            print(f"  {preset:8} {binary.name:28} {time.monotonic() - started:6.1f} s", flush=True)


def count_gtest(name: str, preset: str, report: pathlib.Path, code: int, output: str, tally: Tally) -> None:
    failures = 0
    try:
        suites = json.loads(report.read_text())["testsuites"]
    except (ValueError, KeyError, OSError):
        suites = []
    for suite in suites:
        for case in suite["testsuite"]:
            if case.get("result") == "SKIPPED":
                tally.skipped += 1
            elif case.get("failures"):
                failures += 1
                tally.fail(f"{preset} {suite['name']}.{case['name']}")
            elif case.get("status") == "RUN":
                tally.passed += 1
    if code != 0:
        print(output[-6000:])
        if failures == 0:  # crashed, or a sanitizer spoke
            tally.fail(f"{preset} {name} (exit {code})")


def run_pytest(arguments: list[str], tally: Tally, environment: dict[str, str]) -> None:
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "--durations=8", f"--junitxml={report.name}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode
        try:
            suites = xml.parse(report.name).getroot().iter("testsuite")
        except (xml.ParseError, OSError):
            suites = iter(())
        failures = 0
        for suite in suites:
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped = int(suite.get("skipped", 0))
            failures += bad
            tally.skipped += skipped
            tally.passed += int(suite.get("tests", 0)) - bad - skipped
            tally.failed += bad
            tally.names += [f"{case.get('classname')}.{case.get('name')}" for case in suite.iter("testcase")
                            if case.find("failure") is not None or case.find("error") is not None]
        if code not in (0, 1) or (code == 1 and failures == 0):  # 5: nothing was collected
            tally.fail(f"pytest {' '.join(arguments)} ended with {code}")


def run_system(tally: Tally, environment: dict[str, str], which: str = "not soak") -> None:
    """What measures runs alone; the rest in two processes, since most of it waits."""
    run_pytest(["tests/system", "-m", f"({which}) and not alone", "-n", "2", "--dist", "loadfile"], tally, environment)
    run_pytest(["tests/system", "-m", f"({which}) and alone"], tally, environment)


def run_soak_asan(tally: Tally) -> None:
    if build("asan", tally):
        run_unit("asan", tally, SANITIZER_ENV)
        run_system(tally, {**SANITIZER_ENV, "HEADROOM_BIN": str(ROOT / "build" / "asan" / "bin")})


def run_soak_tsan(tally: Tally) -> None:
    """With all programs slowed down ten times nothing can be measured on two cores, so one side at a time has the sanitizer."""
    if not build("tsan", tally):  # release is there
        return
    # OpenVINO is compiled without the sanitizer, which then sees neither its locks nor its atomics.
    run_unit("tsan", tally, SANITIZER_ENV, "-OpenVino*")
    for side in (["tts-bench"], ["tts-local", "tts-serve"]):
        with tempfile.TemporaryDirectory(prefix="headroom-tsan-") as folder:
            for binary in (ROOT / "build" / "release" / "bin").iterdir():
                preset = "tsan" if binary.name in side else "release"
                (pathlib.Path(folder) / binary.name).symlink_to(ROOT / "build" / preset / "bin" / binary.name)
            print(f"thread sanitizer: {', '.join(side)}", flush=True)
            run_system(tally, {**SANITIZER_ENV, "HEADROOM_BIN": folder}, "not soak and not model")


WORDS = {
    "unit": lambda tally: run_unit("release", tally, {}),
    "system": lambda tally: run_system(tally, {}),
    "model": lambda tally: run_pytest(["tests/quality"], tally, {}),
    "asan": lambda tally: build("asan", tally) and run_unit("asan", tally, SANITIZER_ENV),
    "soak-release": lambda tally: run_system(tally, {}, "soak"),
    "soak-asan": run_soak_asan,
    "soak-tsan": run_soak_tsan,
}
DEFAULT = ["unit", "system", "model", "asan"]
SOAK = ["soak-release", "soak-asan", "soak-tsan"]


def main() -> int:
    words = sys.argv[1:] or DEFAULT
    if "soak" in words:
        words = [*(w for w in words if w != "soak"), *SOAK]
    files = [w for w in words if w not in WORDS]
    tally = Tally()
    if build("release", tally):
        if files:
            run_pytest(files, tally, {})
        for word in [w for w in WORDS if w in words]:
            WORDS[word](tally)
    for name in tally.names:
        print(f"FAILED {name}")
    skipped = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{skipped}")
    return 1 if tally.failed or tally.passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
