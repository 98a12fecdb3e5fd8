"""The container image: what its files say, and its file tree run as SageMaker runs the container, without Docker."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from image_container import MODEL, Container, needs_root, reachable, serves_speaks_and_drains
from local_cloud import BIN, ROOT, SLOW

DOCKER = ROOT / "docker"
HADOLINT = pathlib.Path(sys.executable).parent / "hadolint"
DIGEST = "@sha256:" + "0" * 64


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
    reachable(folder)
    return folder


@pytest.mark.model
@needs_root
def test_the_tree_serves_speaks_and_drains_without_rights_and_network(tree):
    serves_speaks_and_drains(tree)


def test_the_tree_has_a_bill_of_materials_and_every_licence(tree):
    bom = json.loads((tree / "usr" / "share" / "headroom" / "sbom.cdx.json").read_text())
    assert (bom["bomFormat"], bom["metadata"]["component"]["name"]) == ("CycloneDX", "tts-serve")
    names = {one["name"] for one in bom["components"]}
    linked, compiled = {"libc6", "libssl3", "bash"}, {"libboost1.81-dev", "nlohmann-json3-dev", "libcli11-dev", "libexpected-dev"}
    assert {"openvino"} | linked | compiled <= names, names
    assert all(one["version"] for one in bom["components"])
    licences = {path.name for path in (tree / "usr" / "share" / "headroom" / "licences").iterdir()}
    assert names - licences - {"openvino"} == set()
    assert not list((tree / "opt" / "ml" / "model").iterdir()), "no weights are baked in"
    writable = [path for path in tree.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o002 and path != tree / "tmp"]
    assert writable == []
    assert not [path for path in tree.rglob("*") if not path.is_symlink() and path.stat().st_mode & 0o6000]


@pytest.mark.model
@needs_root
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
