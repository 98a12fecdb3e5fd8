"""The container image: what its files say, and its file tree run as SageMaker runs the container, without Docker."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from local_cloud import BIN, ROOT, SLOW

DOCKER = ROOT / "docker"
HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
MODEL = pathlib.Path(os.environ.get("HEADROOM_CACHE", CACHE)) / "models" / "kokoro-82m"
HADOLINT = pathlib.Path(sys.executable).parent / "hadolint"
DIGEST = "@sha256:" + "0" * 64
TTS = {"text": "The tree speaks.", "format": "wav", "stream": False}
# Runs inside the container's network: its only way in.
CLIENT = """
import json, sys, urllib.error, urllib.request
method, path, body = sys.argv[1], sys.argv[2], sys.argv[3].encode() or None
request = urllib.request.Request("http://127.0.0.1:8080" + path, data=body, method=method, headers={"Content-Type": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=60) as answer:
        data = answer.read()
        print(json.dumps({"status": answer.status, "bytes": len(data), "head": data[:12].hex()}))
except urllib.error.HTTPError as error:
    print(json.dumps({"status": error.code}))
except OSError as error:
    print(json.dumps({"status": 0, "error": str(error)}))
"""


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_dockerfile_is_as_sagemaker_and_a_cautious_owner_want_it(kind):
    text = (DOCKER / f"Dockerfile.{kind}").read_text()
    final = text[text.rindex("\nFROM "):]
    assert "com.amazonaws.sagemaker.capabilities.bidirectional-streaming=true" in final
    assert re.search(r"^USER 10001:10001$", final, re.M) and 'CMD ["serve"]' in final and "HEALTHCHECK" in final
    assert final.index("USER ") > final.rindex("COPY ") and "STOPSIGNAL SIGTERM" in final
    assert "ARG WITH_WEIGHTS=0" in text, "weights are not baked in unless asked for"
    stages = re.findall(r"^FROM (\S+)", text, re.M)
    assert all(stage == "scratch" or stage.startswith("${") for stage in stages), "base images are build arguments, by digest"
    linted = subprocess.run([HADOLINT, "--no-color", DOCKER / f"Dockerfile.{kind}"], text=True, stdout=subprocess.PIPE, timeout=60)
    assert linted.returncode == 0, linted.stdout


def build_image(*words) -> subprocess.CompletedProcess:
    return subprocess.run([DOCKER / "build-image.sh", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)


def test_base_images_without_a_digest_are_refused():
    for words in (["cpu"], ["cpu", "--base", "debian:12"], ["cuda", "--base", f"debian{DIGEST}"], ["cpu", "--base", "debian@sha256:0"]):
        done = build_image(*words, "--dry-run")
        assert done.returncode == 2 and "by digest" in done.stdout, done.stdout
    assert build_image("gpu").returncode == 2
    done = build_image("cuda", "--base", f"debian{DIGEST}", "--cuda-base", f"cuda{DIGEST}", "--with-weights", "--dry-run")
    assert done.returncode == 0 and f"CUDA_IMAGE=cuda{DIGEST}" in done.stdout and "WITH_WEIGHTS=1" in done.stdout, done.stdout


def test_each_builder_makes_one_image_that_sagemaker_takes():
    docker = build_image("cpu", "--base", f"debian{DIGEST}", "--with", "docker", "--dry-run").stdout
    assert "--provenance=false" in docker and "--platform linux/amd64" in docker, docker
    buildah = build_image("cpu", "--base", f"debian{DIGEST}", "--with", "buildah", "--dry-run").stdout
    assert "--format docker" in buildah and "Dockerfile.cpu.dockerignore" in buildah and "--platform linux/amd64" in buildah, buildah
    wrong = build_image("cpu", "--base", f"debian{DIGEST}", "--with", "kaniko", "--dry-run")
    assert wrong.returncode == 2 and "docker or buildah" in wrong.stdout


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    folder = tmp_path_factory.mktemp("image") / "tree"
    done = subprocess.run([DOCKER / "build-tree.sh", "--out", folder, "--binary", BIN / "tts-serve"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 0, done.stdout
    # The tests' own folders are closed to others; the container's user must reach its root.
    for parent in folder.parents:
        if parent.stat().st_uid == os.getuid() and str(parent).startswith("/tmp/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    return folder


class Container:
    """`serve` in the tree: own network without a route, own processes, user 10001."""

    def __init__(self, tree: pathlib.Path, model: pathlib.Path):
        apart = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child"]
        self.process = subprocess.Popen(
            [*apart, HERE / "image_tree.sh", tree, model, "/usr/local/bin/tts-serve", "serve"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={"PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"})
        self.main = 0

    def find(self) -> None:
        """The server itself, which unshare has forked and which has become tts-serve."""
        deadline = time.monotonic() + 30 * SLOW
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(FileNotFoundError):  # it may end between two looks
                children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
                if children and pathlib.Path(f"/proc/{children[0]}/comm").read_text().startswith("tts-serve"):
                    self.main = int(children[0])
                    return
            time.sleep(0.1)
        raise AssertionError(f"it did not start: {self.process.stdout.read() if self.process.poll() is not None else 'still starting'}")

    def inside(self, *words) -> subprocess.CompletedProcess:
        enter = ["nsenter", "--target", str(self.main), "--net"]
        return subprocess.run([*enter, *words], text=True, stdout=subprocess.PIPE, timeout=90 * SLOW)

    def ask(self, method: str, path: str, body: dict | None = None) -> dict:
        return json.loads(self.inside(sys.executable, "-c", CLIENT, method, path, json.dumps(body) if body else "").stdout)

    def healthy(self) -> bool:
        enter = ["nsenter", "--target", str(self.main), "--net", "--root", "--wd", "/usr/local/bin/healthcheck"]
        return subprocess.run(enter, stderr=subprocess.DEVNULL, env={}).returncode == 0


@pytest.mark.model
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="a chroot with a network of its own needs root")
def test_the_tree_serves_speaks_and_drains_without_rights_and_network(tree):
    container = Container(tree, MODEL)
    try:
        container.find()
        status = pathlib.Path(f"/proc/{container.main}/status").read_text()
        assert re.search(r"^Uid:\s+10001\s+10001\s+10001\s+10001$", status, re.M), status
        assert re.search(r"^CapEff:\s+0+$", status, re.M) and re.search(r"^NoNewPrivs:\s+1$", status, re.M)
        deadline = time.monotonic() + 180 * SLOW
        while container.ask("GET", "/ping")["status"] != 200:
            assert time.monotonic() < deadline and container.process.poll() is None, "not ready in time"
            time.sleep(0.5)
        assert container.healthy()
        answer = container.ask("POST", "/invocations", TTS)
        assert answer["status"] == 200 and answer["head"].startswith(b"RIFF".hex()) and answer["bytes"] > 24000, answer
        os.kill(container.main, signal.SIGTERM)
        output = container.process.communicate(timeout=60 * SLOW)[0]
        assert container.process.returncode == 0, output
        for stage in ("container_start", "weights_fetched", "framework_init", "weights_ready", "warmup_done", "ready"):
            assert output.count(f"=== STAGE {stage} ") == 1, output
    finally:
        if container.process.poll() is None:
            container.process.kill()
            container.process.wait()


def test_the_tree_has_a_bill_of_materials_and_every_licence(tree):
    bom = json.loads((tree / "usr" / "share" / "headroom" / "sbom.cdx.json").read_text())
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "tts-serve")
    names = {one["name"] for one in bom["components"]}
    assert {"openvino", "libc6", "libssl3", "bash"} <= names, names
    assert all(one["version"] for one in bom["components"])
    licences = {path.name for path in (tree / "usr" / "share" / "headroom" / "licences").iterdir()}
    assert names - licences - {"openvino"} == set()
    assert not list((tree / "opt" / "ml" / "model").iterdir()), "no weights are baked in"
    writable = [path for path in tree.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o002 and path != tree / "tmp"]
    assert writable == []
    assert not [path for path in tree.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o6000]


@pytest.mark.model
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="a chroot with a network of its own needs root")
def test_damaged_weights_never_become_ready(tree, tmp_path):
    damaged = tmp_path / "model"
    shutil.copytree(MODEL, damaged)
    voice = damaged / "voices" / "af_heart.bin"
    data = bytearray(voice.read_bytes())
    data[100] ^= 1
    voice.write_bytes(data)
    container = Container(tree, damaged)
    output = container.process.communicate(timeout=120 * SLOW)[0]
    assert container.process.returncode != 0 and "voices/af_heart.bin" in output and "STAGE ready" not in output, output
