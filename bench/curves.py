"""Latency over outstanding requests of tts-serve and of fastkokoro 0.7.0, both measured by `tts-bench qmax --http URL --api openai`.

usage: ./dev bench curves [--rungs 1,2,3,4,6,8,10,12] [--hold 25] [--judge 20] [--slo-ms 3000] [--json FILE]

The same requests to both, nothing in the tool knows which one it talks to. Servers, voices and weights are those of
./dev bench serve; one server at a time. The ladder holds all rungs, also those
beyond the SLO, which is what a curve needs. Prints a table as Markdown.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import serve


def curve(name: str, folder: pathlib.Path, options: argparse.Namespace) -> dict:
    server = serve.Server(name, folder)
    out = folder / f"curve-{name}"
    try:
        done = subprocess.run(
            [serve.BIN / "tts-bench", "qmax", "--http", f"http://127.0.0.1:{server.port}", "--api", "openai", "--method", "ladder",
             "--rungs", options.rungs, "--hold", options.hold, "--judge", options.judge, "--idle", "2s", "--slo-ms", options.slo_ms,
             "--records", "none", "--out", out, "--yes"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    finally:
        server.stop()
    if not (out / "qmax.json").is_file():
        raise SystemExit(f"bench: {name} was not measured (exit {done.returncode}):\n{done.stdout[-1500:]}")
    print(f"{name}: exit {done.returncode}\n{done.stdout}", flush=True)
    return json.loads((out / "qmax.json").read_text())


def cell(rung: dict | None) -> str:
    if rung is None or rung["p95_ms"] is None:
        return "none | | "
    return f"{rung['p50_ms']:.0f} | {rung['p95_ms']:.0f} | {rung['rps']:.2f}"


def show(curves: dict[str, dict]) -> None:
    print("| outstanding | " + " | ".join(f"{name} p50 ms | p95 ms | requests/s" for name in curves) + " |")
    print("|---|" + "---|---|---|" * len(curves))
    by_n = {name: {rung["n"]: rung for rung in artifact["rungs"] if not rung["repeat"]} for name, artifact in curves.items()}
    for n in sorted({n for rungs in by_n.values() for n in rungs}):
        print(f"| {n} | " + " | ".join(cell(rungs.get(n)) for rungs in by_n.values()) + " |")
    for name, artifact in curves.items():
        print(f"{name}: {artifact['sentence']} Knee at {artifact['knee_n']}.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rungs", default="1,2,3,4,6,8,10,12")
    parser.add_argument("--hold", default="25")
    parser.add_argument("--judge", default="20")
    parser.add_argument("--slo-ms", default="3000")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    serve.install_peer()
    with tempfile.TemporaryDirectory(prefix="headroom-bench-") as name:
        folder = pathlib.Path(name)
        serve.Server("tts-serve", folder).stop()  # fills the compile cache
        curves = {server: curve(server, folder, options) for server in ("tts-serve", "fastkokoro")}
    if options.json:
        options.json.write_text(json.dumps(curves, indent=1) + "\n")
    show(curves)
    return 0


if __name__ == "__main__":
    sys.exit(main())
