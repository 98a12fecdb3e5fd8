#!/usr/bin/env python3
"""./dev bench simulation: what tts-bench simulate predicts against what tts-local does, side by side.

Paced instances (a queue without a model) under tts-local --fast, measured, planned, applied; each load is sent to them and then
simulated with the very same arrivals. One line a policy and load: when the fleet grew, how much of the time its size was the same,
and the p95 of the first audio. Service times are not compressed by --fast; tests/system/live_twin.py says how that is reckoned
with. usage: bench/simulation.py [--fast N] [--seconds S] [--seed N] [--loads step,spike,square]
[--policies native,offered-rate]
"""

import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
os.environ.setdefault("HEADROOM_BIN", str(ROOT / "build" / "release" / "bin"))
from live_twin import Twin  # noqa: E402

# The published rule is left out: it sizes a fleet that does not carry its peak, which apply refuses.
POLICIES = ["native", "offered-rate"]
PEAK_RPS = 40
LOADS = {  # cloud seconds, requests a second in real time
    "step": [(200, 5), (400, 16), (700, 4)],
    "spike": [(200, 5), (60, 24), (800, 5)],
    "square": [(150, 4), (240, 16), (240, 4), (240, 16), (400, 4)],
}


def number(value, form: str) -> str:
    return "never" if value is None else form.format(value)


def compared(arguments, carrier: str, load: list) -> dict:
    """In a cloud of its own: cooldowns and alarms of a load before would be those of the live fleet alone."""
    with tempfile.TemporaryDirectory() as folder:
        twin = Twin(pathlib.Path(folder), arguments.fast, 60)
        try:
            twin.measure(arguments.seconds)
            twin.plan("recommended", carrier, trough_rps=4, peak_rps=PEAK_RPS)
            return twin.compare(load, arguments.seed)
        finally:
            twin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=6, help="how long each rung of the instance is measured")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument("--policies", default=",".join(POLICIES))
    arguments = parser.parse_args()
    print("| policy | load | scales out at, s: predicted / seen | fleet equal, % of periods | p95 ms: predicted / seen | "
          "within SLO, %: predicted / seen | driver late, p95 ms |")
    print("|---|---|---|---|---|---|---|")
    for carrier in arguments.policies.split(","):
        for name in arguments.loads.split(","):
            r = compared(arguments, carrier, LOADS[name])
            out = f"{number(r['predicted_out_s'], '{:.0f}')} / {number(r['observed_out_s'], '{:.0f}')}"
            p95 = f"{r['predicted_p95_ms']:.0f} / {r['observed_p95_ms']:.0f}"
            share = f"{100 * r['predicted_share']:.2f} / {100 * r['observed_share']:.2f}"
            equal, late = f"{100 * r['equal_share']:.1f}", f"{r['lag_p95_ms']:.1f}"
            print(f"| recommended {carrier} | {name} | {out} | {equal} | {p95} | {share} | {late} |", flush=True)


if __name__ == "__main__":
    main()
