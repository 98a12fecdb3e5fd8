"""Policies against loads: the table of docs/policies.md, by `tts-bench simulate` on the published instance.

Each load is met by the policies sized for its own trough, peak and growth. Prints one line a load: share within
the SLO / instance-hours over the least / turns per hour. `--traces DIR` adds recorded arrivals (CSV files), each
arrival fifteen times within two seconds. Deterministic by seed; nothing is measured on this machine.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADS = ["step:1.25", "step:2", "step:5", "ramp:2:2", "ramp:2:4", "day:7", "square:2:0.5", "square:2:1", "square:2:2", "markov:60:120"]


def simulate(tool: pathlib.Path, extra: list[str], seed: int, headroom: str) -> dict:
    with tempfile.TemporaryDirectory() as out:
        command = [
            str(tool), "simulate", "--endpoint", "published", "--out", out, "--quiet", "--seed", str(seed),
            "--qmax", str(ROOT / "tests/golden/qmax-published.json"), "--ttotal", str(ROOT / "tests/golden/ttotal-published.json"),
            *(["--headroom", headroom] if headroom else []), *extra,
        ]
        # The file asks for a planned load too, which the load itself replaces; its rates only scale the words.
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"policies: {done.stderr.strip()}")
        return json.loads((pathlib.Path(out) / "simulate.json").read_text())


def short(name: str) -> str:
    """The published rule takes no headroom of 1.5 or more and is then planned with its own; one column for both."""
    return "published" if name.startswith("published") else name


def cell(row: dict) -> str:
    share = row["share_within_slo"]
    return "unknown" if share is None else f"{100 * share:.2f}/{row['vs_clairvoyant']:.2f}/{row['turns_per_hour']:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / "build/release/bin/tts-bench")
    parser.add_argument("--traces", type=pathlib.Path, help="folder with CSV files of arrivals")
    parser.add_argument("--headroom", default="", help="growth to plan for; default: each load's own")
    parser.add_argument("--base-rps", default="90")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rates = ["--base-rps", arguments.base_rps]
    runs = [(load, ["--load", load, *rates]) for load in LOADS]
    for trace in sorted(arguments.traces.glob("*.csv")) if arguments.traces else []:
        runs.append((trace.stem, ["--trace", str(trace), "--trace-copies", "15", "--trace-jitter", "2"]))
    names: list[str] = []
    for load, extra in runs:
        result = simulate(arguments.tool, extra, arguments.seed, arguments.headroom)
        if not names:
            names = [short(row["name"]) for row in result["rows"]]
            print("| load (growth) | " + " | ".join(names) + " |")
            print("|---|" + "---|" * len(names))
        growth = result["load"]["growth"]
        cells = {short(row["name"]): cell(row) for row in result["rows"]}
        shown = "unknown" if growth is None else f"{growth:.2f}"
        print(f"| {load} ({shown}) | " + " | ".join(cells.get(name, "none") for name in names) + " |", flush=True)


if __name__ == "__main__":
    main()
