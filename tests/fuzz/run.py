"""Runs the fuzzers: ./dev fuzz [NAME ...] [--seconds 300] [--seed 1] [--build-only] [--reproduce FILE]

Each starts from tests/fuzz/seeds/NAME (kept, small, read by people) and the corpus of earlier runs under build/. A
finding ends that fuzzer: its input is copied to build/fuzz-findings/NAME and its report printed; exit 1. Exit 0 when
all ran their time without a finding, 2 for an unknown name or a missing compiler.

TARGETS says which compiler builds what: clang's libFuzzer, or g++ with driver.cpp where clang cannot compile the code.
A new fuzzer is fuzz_NAME.cpp, one line in CMakeLists.txt, one in TARGETS and a folder of seeds.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGETS = {
    "normaliser": "clang",
    "markup": "clang",
    "phonemiser": "clang",
    "request": "clang",
    "cbor": "clang",
    "event_frame": "clang",
    "signature": "clang",
    "json_body": "clang",
    "ws_frame": "gcc",
}
MAX_BYTES = 4096  # of one input: long enough for every rule, short enough for many runs


def compiler_for(kind: str) -> str:
    """The compiler that builds this kind: g++ stands in where clang or its runtime is missing, and says so."""
    if kind == "clang":
        probe = "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
        clang = shutil.which("clang++")
        if clang and subprocess.run([clang, "-fsanitize=fuzzer,address", "-x", "c++", "-", "-o", os.devnull],
                                    input=probe, text=True, capture_output=True, check=False).returncode == 0:
            return clang
        print("clang with libFuzzer is missing (apt-get install clang): built with g++ and the driver of our own")
    gcc = shutil.which("g++")
    if not gcc:
        sys.exit("g++ is missing: apt-get install g++")
    return gcc


def build(names: list[str]) -> dict[str, pathlib.Path]:
    binaries = {}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(compiler_for(TARGETS[name]), []).append(name)
    for compiler, members in groups.items():
        folder = ROOT / "build" / f"fuzz-{pathlib.Path(compiler).name}"
        configure = ["cmake", "-S", str(HERE), "-B", str(folder), "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}"]
        if shutil.which("ccache"):
            configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        if compiler.endswith("clang++"):
            configure.append(f"-DCMAKE_C_COMPILER={compiler.removesuffix('++')}")
        for command in (configure, ["ninja", "-C", str(folder), *(f"fuzz_{m}" for m in members)]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}")
        binaries |= {m: folder / "bin" / f"fuzz_{m}" for m in members}
    return binaries


def fuzz(name: str, binary: pathlib.Path, seconds: int, seed: int) -> bool:
    corpus = ROOT / "build" / "fuzz-corpus" / name
    findings = ROOT / "build" / "fuzz-findings" / name
    seeds = HERE / "seeds" / name
    for folder in (corpus, findings, seeds):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(findings.iterdir())
    command = [str(binary), f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={MAX_BYTES}",
               f"-artifact_prefix={findings}/", "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1",
               str(corpus), str(seeds)]
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
                                "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
                                "LSAN_OPTIONS": f"suppressions={ROOT}/tests/lsan.supp:print_suppressions=0"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False,
                          timeout=seconds + 600)
    runs = re.search(r"Done (\d+) runs|number_of_executed_units:\s*(\d+)", done.stderr)
    count = next((g for g in runs.groups() if g), "?") if runs else "?"
    if done.returncode == 0:
        print(f"{name}: {count} inputs in {seconds} s, corpus {len(list(corpus.iterdir()))}, no finding", flush=True)
        return True
    new = sorted(set(findings.iterdir()) - before)
    print(f"{name}: FINDING after {count} inputs: {', '.join(str(p.relative_to(ROOT)) for p in new) or 'no input kept'}")
    print(done.stderr[-6000:], flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TARGETS)}; default all")
    parser.add_argument("--seconds", type=int, default=300, help="for each fuzzer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--reproduce", metavar="FILE", help="run one input of one fuzzer and show the report")
    options = parser.parse_args()
    unknown = [n for n in options.names if n not in TARGETS]
    if unknown:
        print(f"no fuzzer '{unknown[0]}'; there are {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    names = options.names or list(TARGETS)
    binaries = build(names)
    if options.build_only:
        return 0
    if options.reproduce:
        return subprocess.run([str(binaries[names[0]]), options.reproduce], check=False).returncode
    return 0 if all([fuzz(n, binaries[n], options.seconds, options.seed) for n in names]) else 1


if __name__ == "__main__":
    sys.exit(main())
