"""Q_max of the real model several times over: have the intervals that the runs state a value in common?

usage: ./dev bench real_qmax [--runs 3] [--budget 540] [--max-hold 240] [--model kokoro-82m-local] [--json FILE]

Starts tts-local with one real instance of the model file, then runs `tts-bench qmax` (the certified search) so often, and
ends it again. Printed are each run's estimate, interval, method and time; exit 1 if the intervals have nothing in
common: one of them then misses the truth, or the machine became another. Needs the machine to itself: what else runs is
in the figures, and shows in the unqueued mean, which should be the same in every run.
"""

import argparse
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "setup"))
import quickstart  # noqa: E402


def measured(run: quickstart.Quickstart, budget: str, hold: str) -> dict:
    code = run.bench("qmax", "--yes", "--budget", budget, "--max-hold", hold, "--records", "none")
    artifact = quickstart.load(run.out / "qmax.json")
    return {"exit": code, "verdict": artifact["verdict"], "q_max": artifact["q_max"], "estimate": artifact["q_max_estimate"],
            "interval": artifact["q_max_interval"], "method": artifact["interval_method"], "seconds": artifact["duration_s"],
            "unqueued_ms": artifact["unqueued"]["mean_ms"],
            "rungs": [{key: rung[key] for key in ("n", "verdict", "p95_ms", "rps", "reason", "repeat")} for rung in artifact["rungs"]]}


def show(rows: list[dict]) -> bool:
    print("\n| run | Q_max | estimate | 95 % interval | method | verdict | seconds | unqueued mean ms |\n|---|---|---|---|---|---|---|---|")
    for number, row in enumerate(rows, 1):
        estimate = "none" if row["estimate"] is None else f"{row['estimate']:.1f}"
        print(f"| {number} | {row['q_max']} | {estimate} | {row['interval']} | {row['method']} | {row['verdict']} | {row['seconds']:.0f} "
              f"| {row['unqueued_ms']:.0f} |")
    known = [row for row in rows if row["interval"] and row["estimate"] is not None]
    if len(known) < len(rows):
        print("not every run ended with an interval")
        return False
    low, high = max(row["interval"][0] for row in known), min(row["interval"][1] for row in known)
    inside = sum(low <= row["estimate"] < high + 1 for row in known)
    if low <= high:
        print(f"the intervals have {low:.0f} to {high:.0f} in common, where {inside} of {len(known)} estimates lie")
    else:
        print("the intervals have nothing in common: the runs DISAGREE")
    return low <= high


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--budget", default="540")
    parser.add_argument("--max-hold", default="240")
    parser.add_argument("--model", default="kokoro-82m-local")
    parser.add_argument("--bin", default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headroom-bench-") as folder:
        run = quickstart.Quickstart(argparse.Namespace(out=folder, model=options.model, bin=options.bin))
        rows = []
        try:
            run.start_cloud()
            for _ in range(options.runs):
                rows.append(measured(run, options.budget, options.max_hold))
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1) + "\n")
        finally:
            run.stop_cloud()
    return 0 if show(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
