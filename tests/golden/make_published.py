#!/usr/bin/env python3
"""Builds qmax-published.json and ttotal-published.json from a file of the published run, whose `ladder` becomes `rungs`.

Usage: make_published.py published-run.json OUTPUT_FOLDER
"""
import json
import pathlib
import sys

run = json.loads(pathlib.Path(sys.argv[1]).read_text())
out = pathlib.Path(sys.argv[2])
qmax = {
    "schema": "headroom/qmax",
    "version": 1,
    "slo_ms": run["slo_ms"],
    "transport": run["transport"],
    "rungs": run["ladder"],
    "q_max": run["q_max"],
    "unqueued": run["unqueued"],
}
ttotal = {"schema": "headroom/ttotal", "version": 1, "transport": run["transport"], "stages": run["stages"]}
for key in ("measured_total_s", "policy_lag_bound_s", "total_s"):
    ttotal[key] = ttotal["stages"].pop(key)
for name, artifact in (("qmax", qmax), ("ttotal", ttotal)):
    (out / f"{name}-published.json").write_text(json.dumps(artifact, indent=1) + "\n")
