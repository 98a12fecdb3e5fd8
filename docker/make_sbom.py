"""Writes the software bill of materials (CycloneDX 1.5) of an image's tree: Debian packages, OpenVINO, weights, and Headroom itself.

Reads dpkg's database and the tree; the same tree gives the same bytes. Copies the licence text of each Debian package beside it.

    make_sbom.py --sources FILE --tree DIR --out FILE --licences DIR
"""

import argparse
import hashlib
import json
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def owners(paths: list[str]) -> set[str]:
    """The Debian packages of these files; what no package owns is left out (OpenVINO comes from its wheel)."""
    # A merged /usr has two names for one file, and the database knows one of them.
    names = [name for path in paths for name in {path, path.removeprefix("/usr")}]
    done = subprocess.run(["dpkg", "-S", *names], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return {line.split(":")[0] for line in done.stdout.splitlines() if not line.startswith("diversion")}


def debian(package: str) -> dict:
    version, architecture, source = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Version}|${Architecture}|${source:Package}\n", package], check=True, capture_output=True,
        text=True).stdout.splitlines()[0].split("|")
    return {"type": "library", "name": package, "version": version, "purl": f"pkg:deb/debian/{package}@{version}?arch={architecture}",
            "properties": [{"name": "debian:source", "value": source}]}


def tool_version() -> str:
    return re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def pinned(name: str) -> str:
    return re.search(rf"^{name}==(\S+)", (ROOT / "setup" / "requirements-build.txt").read_text(), re.M)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sources", "tree", "out", "licences"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()
    packages = owners(sorted(set(options.sources.read_text().split("\n")) - {""}))
    options.licences.mkdir(parents=True, exist_ok=True)
    components = []
    for package in sorted(packages):
        components.append(debian(package))
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            shutil.copyfile(text, options.licences / package)
    version = pinned("openvino")
    components.append({"type": "library", "name": "openvino", "version": version, "purl": f"pkg:pypi/openvino@{version}",
                       "licenses": [{"license": {"id": "Apache-2.0"}}]})
    for library in (options.tree / "opt" / "headroom" / "lib").glob("libonnxruntime.so.*.*"):
        version = library.name.removeprefix("libonnxruntime.so.")
        components.append({"type": "library", "name": "onnxruntime-gpu", "version": version, "purl": f"pkg:pypi/onnxruntime-gpu@{version}",
                           "licenses": [{"license": {"id": "MIT"}}]})
    manifest = options.tree / "opt" / "ml" / "model" / "manifest.json"
    if manifest.exists():
        digest = hashlib.sha256(manifest.read_bytes()).hexdigest()
        components.append({"type": "machine-learning-model", "name": json.loads(manifest.read_text())["model"], "version": digest[:12],
                           "hashes": [{"alg": "SHA-256", "content": digest}]})
    binary = options.tree / "opt" / "headroom" / "bin" / "tts-serve"
    bom = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
           "metadata": {"component": {"type": "application", "name": "tts-serve", "version": tool_version(),
                                      "licenses": [{"license": {"id": "Apache-2.0"}}],
                                      "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(binary.read_bytes()).hexdigest()}]}},
           "components": components}
    options.out.write_text(json.dumps(bom, indent=1) + "\n")


if __name__ == "__main__":
    main()
