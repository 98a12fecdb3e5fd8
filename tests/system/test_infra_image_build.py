"""The Dockerfiles built by a real builder, buildah, which needs no daemon: the final stages here, a whole build in the soak run."""

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from image_container import reachable, serves_speaks_and_drains
from local_cloud import BIN, ROOT, SLOW

DOCKER = ROOT / "docker"
BASE = os.environ.get("HEADROOM_BASE_IMAGE", "")  # a Debian 12 by digest, with what the registries of this machine need
pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("buildah"), reason="building images here needs root and buildah")


class Builder:
    """buildah with a store of its own."""

    def __init__(self, folder):
        store = os.environ.get("HEADROOM_IMAGE_STORE", folder / "images")
        (folder / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{store}"\n')
        self.environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf")}

    def call(self, *words, timeout: int = 300) -> str:
        done = subprocess.run([*words], env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
        assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout

    def final_stage(self, kind: str, build, *words) -> None:
        """Everything after the build stage, which the folder `build` stands for."""
        file = DOCKER / f"Dockerfile.{kind}"
        self.call("buildah", "build", "--format", "docker", "--build-context", f"build={build}", "--file", file, "--ignorefile",
                  f"{file}.dockerignore", "--build-arg", "BASE_IMAGE=scratch", "--tag", "made", *words, ROOT)

    def config(self, image: str = "made") -> dict:
        return json.loads(self.call("buildah", "inspect", "--type", "image", image))["Docker"]["config"]

    def mounted(self, image: str = "made"):
        container = self.call("buildah", "from", "--pull-never", image).split()[-1]
        return self.call("buildah", "mount", container).strip()


def is_what_sagemaker_runs(config: dict, **ours: str) -> None:
    assert config["Labels"]["com.amazonaws.sagemaker.capabilities.bidirectional-streaming"] == "true"
    assert (config["User"], config["Entrypoint"], config["Cmd"]) == ("10001:10001", ["/usr/local/bin/tts-serve"], ["serve"])
    assert config["Healthcheck"]["Test"] == ["CMD", "/usr/local/bin/healthcheck"] and config["StopSignal"] == "SIGTERM"
    assert "8080/tcp" in config["ExposedPorts"] and config["Labels"]["headroom.sbom"] == "/usr/share/headroom/sbom.cdx.json"
    environment = dict(one.split("=", 1) for one in config["Env"] if not one.startswith(("PATH=", "LANG=", "LD_LIBRARY_PATH=")))
    assert environment == ours, "something of the builder is left in it"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """What the build stage ends with."""
    build = tmp_path_factory.mktemp("stage") / "build"
    command = [DOCKER / "build-tree.sh", "--out", build / "tree", "--binary", BIN / "tts-serve"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=300)
    yield build
    shutil.rmtree(build)


@pytest.fixture
def builder(tmp_path):
    yield Builder(tmp_path)
    shutil.rmtree(tmp_path / "images", ignore_errors=True)  # a gigabyte


def test_the_cpu_image_is_the_tree_and_its_settings(builder, built):
    builder.final_stage("cpu", built)
    is_what_sagemaker_runs(builder.config())
    image = builder.mounted()
    listing = ["find", ".", "-not", "-type", "d", "-printf", "%P %m %U %G %l %s\\n", "-o", "-path", "./tmp", "-printf", "%P %m\\n"]
    want, got = (sorted(subprocess.run(listing, cwd=where, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines())
                 for where in (built / "tree", image))
    assert got == want


def cuda_image(builder, tmp_path, built) -> None:
    """The final stage over what stands for a CUDA runtime: a C library, a shell, and nothing of ours."""
    ours = shutil.ignore_patterns("opt", "local", "headroom", "espeak-ng-data")
    shutil.copytree(built / "tree", tmp_path / "runtime" / "tree", symlinks=True, ignore=ours)
    (tmp_path / "runtime" / "Dockerfile").write_text("FROM scratch\nCOPY tree/ /\n")
    builder.call("buildah", "build", "--tag", "runtime", tmp_path / "runtime")
    stage = tmp_path / "stage"
    subprocess.run(["cp", "-al", built, stage], check=True)
    for library in (stage / "tree" / "usr" / "lib" / "x86_64-linux-gnu").glob("*.so*"):
        library.unlink()  # as the build stage does
    builder.final_stage("cuda", stage, "--build-arg", "CUDA_IMAGE=localhost/runtime")
    is_what_sagemaker_runs(builder.config(), TTS_ENGINE="onnxruntime", TTS_DEVICE="cuda")
    shutil.rmtree(stage)


@pytest.mark.skipif(SLOW > 1, reason="a sanitizer's runtime does not find its way in another root")
def test_the_cuda_image_lays_the_program_over_its_base_and_runs(builder, tmp_path, built):
    cuda_image(builder, tmp_path, built)
    image = pathlib.Path(builder.mounted())
    for path in ("opt/headroom/bin/tts-serve", "usr/lib/x86_64-linux-gnu/espeak-ng-data/phontab", "usr/lib/x86_64-linux-gnu/libc.so.6",
                 "usr/local/bin/healthcheck", "usr/share/headroom/sbom.cdx.json"):
        assert (image / path).exists(), path
    environment = dict(one.split("=", 1) for one in builder.config()["Env"])
    said = subprocess.run(["chroot", "--userspec=10001:10001", image, "/usr/local/bin/tts-serve", "--version"], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert said.returncode == 0 and "tts-serve" in said.stdout, said.stdout


@pytest.mark.soak
@pytest.mark.model
@pytest.mark.skipif(not BASE, reason="HEADROOM_BASE_IMAGE names no base image")
def test_the_whole_image_builds_and_runs(builder):
    builder.call(DOCKER / "build-image.sh", "cpu", "--with", "buildah", "--base", BASE, "--tag", "whole", timeout=3 * 3600)
    is_what_sagemaker_runs(builder.config("whole"))
    image = pathlib.Path(builder.mounted("whole"))
    reachable(image)
    serves_speaks_and_drains(image)
