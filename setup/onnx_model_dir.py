"""Makes the model directory for ONNX Runtime beside the one for OpenVINO: the same voices and text data, the whole float graph.

Files are hard links where the file system allows them, so that it costs no space. Needs only the Python that Debian ships.
The directory appears whole or not at all, and the same inputs give the same manifest.

    onnx_model_dir.py --model models/kokoro-82m --graph reference/kokoro-82m/model.onnx --out models/kokoro-82m-onnx
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import sys

GRAPH = "onnx/model.onnx"


def place(source: pathlib.Path, target: pathlib.Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def graph_entry(graph: pathlib.Path, weights: dict) -> dict:
    digest = hashlib.sha256()
    with graph.open("rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return {"path": GRAPH, "bytes": graph.stat().st_size, "sha256": digest.hexdigest(),
            "source": weights["source"], "licence": weights["licence"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("model", "graph", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()

    manifest = json.loads((options.model / "manifest.json").read_bytes())
    weights = next(entry for entry in manifest["files"] if entry["path"].startswith("ir/"))
    kept = [entry for entry in manifest["files"] if not entry["path"].startswith("ir/")]
    work = options.out.with_name(f".{options.out.name}.part")
    shutil.rmtree(work, ignore_errors=True)
    for entry in kept:
        place(options.model / entry["path"], work / entry["path"])
    place(options.graph, work / GRAPH)
    manifest["files"] = sorted([*kept, graph_entry(options.graph, weights)], key=lambda entry: entry["path"])
    with (work / "manifest.json").open("w") as f:
        f.write(json.dumps(manifest, indent=1) + "\n")
        f.flush()
        os.fsync(f.fileno())
    shutil.rmtree(options.out, ignore_errors=True)
    work.rename(options.out)


if __name__ == "__main__":
    sys.exit(main())
