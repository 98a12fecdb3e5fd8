#!/usr/bin/env python3
"""./dev conformance: the official AWS clients live through an endpoint of tts-local, one after another.

boto3 current and 1.34, AWS CLI v1, the JavaScript SDK v3, the SDK for Go v2 and, for the bidirectional stream, the Rust and the Python SDK.
Tools go into <cache>/conformance, in pinned versions, on first use. A client whose tool chain is missing is skipped and named.
usage: run.py [NAME...]  exit code 0 when every client that ran agrees.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests" / "conformance"
sys.path.insert(0, str(ROOT / "tests" / "system"))
from local_cloud import BIN, CACHE, LocalCloud, make_endpoint  # noqa: E402

TOOLS = CACHE / "conformance"
STEPS = ["create", "invoke", "stream", "scale", "alarm", "metrics", "logs and quotas", "delete"]
OLD_BOTO3, CLI = "boto3==1.34.162", "awscli==1.46.3"
LIMIT_S = 900  # the CLI starts anew for each call
BIDI = "aws-sdk-sagemaker-runtime-http2[awscrt]==0.12.0"


class Missing(Exception):
    """A tool chain that is not there; the message says what to install."""


def make(*command, cwd=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{' '.join(str(c) for c in command)} failed: {(done.stdout + done.stderr).strip()[-400:]}")


def need(program, why):
    found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} is missing; {why}")
    return found


def venv(package, python=sys.executable):
    folder = TOOLS / re.sub(r"\[.*\]", "", package).replace("==", "-")
    if not (folder / "ready").exists():
        make(python, "-m", "venv", "--clear", folder)
        # The pip of older Pythons searches for minutes.
        make(folder / "bin" / "pip", "install", "--quiet", "--upgrade", "pip==26.3")
        make(folder / "bin" / "pip", "install", "--quiet", package)
        (folder / "ready").touch()
    return folder / "bin"


def new_python():
    """A Python of 3.12 or later, which the bidirectional SDK needs."""
    known = sorted(pathlib.Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python3"), reverse=True)
    for candidate in [os.environ.get("HEADROOM_NEW_PYTHON"), "python3.14", "python3.13", "python3.12", *known]:
        found = shutil.which(candidate) if candidate else None
        if found and subprocess.run([found, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"], capture_output=True).returncode == 0:
            return found
    raise Missing("Python 3.12 or later is not at hand; name one in HEADROOM_NEW_PYTHON")


def boto3_current(cloud):
    return [sys.executable, HERE / "life.py", cloud.url, "boto3"], STEPS, {}


def boto3_old(cloud):
    return [venv(OLD_BOTO3) / "python", HERE / "life.py", cloud.url, "boto3-old"], STEPS, {}


def cli(cloud):
    # The CLI has no command for response streams.
    return [HERE / "life.sh", cloud.url, "cli"], [s for s in STEPS if s != "stream"], {"AWS": str(venv(CLI) / "aws")}


def javascript(cloud):
    if not (CACHE / "npm-test" / "node_modules").exists():
        raise Missing("the JavaScript SDK is missing; ./dev setup brings it")
    node = need("node", "./dev setup brings it")
    return [node, HERE / "life.mjs", cloud.url, "javascript"], STEPS, {"HEADROOM_NPM": str(CACHE / "npm-test")}


def copy_sources(name, files):
    folder = TOOLS / name
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        wanted = (HERE / name / file).read_bytes()
        if not (folder / file).exists() or (folder / file).read_bytes() != wanted:
            (folder / file).write_bytes(wanted)
    return folder


def go(cloud):
    compiler = need("go", "see https://go.dev/doc/install")
    folder = copy_sources("go", ["go.mod", "go.sum", "main.go"])
    make(compiler, "build", "-o", "life", ".", cwd=folder)
    return [folder / "life", cloud.url, "go"], [s for s in STEPS if s != "logs and quotas"], {}


def rust(cloud):
    compiler = need("cargo", "see https://rustup.rs")
    folder = copy_sources("rust", ["Cargo.toml", "Cargo.lock", "src/main.rs"])
    make(compiler, "build", "--locked", "--quiet", cwd=folder)
    return speak(cloud, folder / "target" / "debug" / "bidi")


def python_bidi(cloud):
    return speak(cloud, venv(BIDI, new_python()) / "python", HERE / "bidi.py")


def speak(cloud, *command):
    make_endpoint(cloud, "b", environment={"TTS_ENGINE": "paced", "TTS_SERVICE_MS": "20"}, key="AKID", secret="right")
    return ([*command, f"https://localhost:{cloud.bidi_port}", "b"],
            ["bidirectional stream", "refused before the stream"], {"SSL_CERT_FILE": str(cloud.ca)})


CLIENTS = {"boto3": boto3_current, "boto3-1.34": boto3_old, "awscli": cli, "javascript": javascript, "go": go, "rust": rust,
           "python-bidi": python_bidi}


def run(name):
    """One client against a cloud of its own; "ok", or what went wrong."""
    with tempfile.TemporaryDirectory(prefix="headroom-conformance-") as folder:
        cloud = LocalCloud(pathlib.Path(folder) / "state", "--credentials", "AKID:right", "--quota", "8", serve=BIN / "tts-serve")
        try:
            command, steps, env = CLIENTS[name](cloud)
            clean = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=LIMIT_S, env={**clean, **env})
        except subprocess.TimeoutExpired as late:
            return f"was not done within {LIMIT_S} s: {(late.stdout or b'').decode(errors='replace')[-1500:]}"
        finally:
            code = cloud.stop()
        said = [line.removeprefix("ok ") for line in done.stdout.splitlines() if line.startswith("ok ")]
        if done.returncode != 0 or said != steps:
            return f"after {said[-1] if said else 'the start'}: {(done.stdout + done.stderr).strip()[-1500:]}"
        return "ok" if code == 0 else f"tts-local ended with {code}"


def main():
    unknown = [n for n in sys.argv[1:] if n not in CLIENTS]
    if unknown:
        sys.exit(f"no client {', '.join(unknown)}; there are {', '.join(CLIENTS)}")
    failed = False
    for name in sys.argv[1:] or CLIENTS:
        try:
            outcome = run(name)
        except Missing as missing:
            outcome = f"skipped: {missing}"
        print(f"{name:12} {outcome}", flush=True)
        failed = failed or not (outcome == "ok" or outcome.startswith("skipped"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
