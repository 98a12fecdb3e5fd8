"""ONNX Runtime as the engine: the reference's sound, the same samples whatever runs beside it, a spoken request, clear refusals.

The GPU is tried where there is one: HEADROOM_ONNXRUNTIME_GPU names libonnxruntime.so of the package onnxruntime-gpu.
"""

import glob
import json
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest
import reference
from local_cloud import wait_for
from serve_tools import Serve
from whisper_check import transcribe, wer

pytestmark = pytest.mark.model

# A few: the graph is the reference's own, so that more of them would tell nothing new.
SENTENCES = [json.loads(line) for line in
             (pathlib.Path(__file__).parent / "sentences.jsonl").read_text().splitlines()][::8]
GPU_LIBRARY = os.environ.get("HEADROOM_ONNXRUNTIME_GPU", "")
needs_gpu = pytest.mark.skipif(not glob.glob("/dev/nvidia[0-9]*") or not GPU_LIBRARY,
                               reason="no NVIDIA GPU here, or HEADROOM_ONNXRUNTIME_GPU names no libonnxruntime.so for it")


@pytest.fixture(scope="module")
def model(cache) -> pathlib.Path:
    if not (cache / "onnxruntime-1.32.0/include").is_dir():
        pytest.skip("./dev setup could not fetch ONNX Runtime's headers, so this build has no such engine")
    return cache / "models/kokoro-82m-onnx"


@pytest.fixture
def start(tmp_path_factory):
    """start(option, ...): a ready server; none outlives its test."""
    servers = []

    def begin(*options: str, wait: bool = True) -> Serve:
        servers.append(Serve(tmp_path_factory.mktemp("serve"), "--engine", "onnxruntime", *options, wait=False))
        if wait:
            servers[-1].wait_ready(timeout=120)
        return servers[-1]

    yield begin
    for server in servers:
        server.stop()


def refused(program, *words) -> tuple[int, str]:
    done = subprocess.run([program("tts-serve"), "serve", "--port", "0", "--engine", "onnxruntime", *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
    return done.returncode, done.stdout


def test_the_sound_is_that_of_the_reference(cache, model, program, tmp_path):
    speaker = reference.Reference(cache)
    lines = [{"tokens": speaker.tokens(s["phonemes"]), "voice": s["voice"], "speed": s["speed"], "out": str(tmp_path / f"{i}.f32")}
             for i, s in enumerate(SENTENCES)]
    done = subprocess.run([program("engine_probe"), model, "1", "2", "", "auto", "onnxruntime"], text=True, capture_output=True,
                          input="".join(json.dumps(line) + "\n" for line in lines), timeout=300, check=False)
    assert done.returncode == 0 and "error" not in done.stdout, done.stdout + done.stderr
    wrong = []
    for sentence, line in zip(SENTENCES, lines):
        expected = speaker.speak(line["tokens"], line["voice"], line["speed"])
        wrong += reference.faults(sentence["text"], np.fromfile(line["out"], dtype="<f4"), expected)
    assert len(SENTENCES) >= 3 and not wrong, "\n".join(wrong)


def test_samples_are_the_same_whatever_runs_beside(model, program):
    done = subprocess.run(
        [program("engine_model_test"), "--gtest_brief=1", "--gtest_filter=*HasFiftyFour*:*GivesTheSame*:*Refuses*"],
        capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "HEADROOM_MODEL": str(model), "HEADROOM_ENGINE": "onnxruntime"})
    assert done.returncode == 0 and re.search(r"3 tests? from", done.stdout), done.stdout + done.stderr


def test_a_request_is_spoken_and_a_second_start_does_not_calibrate_again(model, start, tmp_path):
    text = "Please call me back this evening."
    options = ["--model-dir", str(model), "--cache-dir", str(tmp_path / "cache")]
    first = start(*options)
    answer = first.say(text=text, timeout=240)
    assert answer.status_code == 200, answer.text
    path = tmp_path / "spoken.wav"
    path.write_bytes(answer.content)
    assert wer(text, transcribe(path)) <= 0.04
    assert first.stop() == 0
    log = first.log()
    assert re.search(r"engine=onnxruntime device=cpu precision=f32 workers=\d+ threads=\d+ \(", log), log
    assert [log.count(f"STAGE {stage} ") for stage in ("weights_fetched", "framework_init", "weights_ready", "ready")] == [1] * 4, log
    several = len(os.sched_getaffinity(0)) > 1 and "(calibrated in" in log
    second = start(*options)
    assert second.stop() == 0
    again = second.log()
    assert ("(calibrated before: " in again) == several and "(calibrated in" not in again, again


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core leaves nothing to calibrate")
def test_a_signal_while_calibrating_ends_the_start_and_keeps_nothing(model, start, tmp_path):
    server = start("--model-dir", str(model), "--cache-dir", str(tmp_path / "cache"), "--calibrate", "force", wait=False)
    wait_for(lambda: "STAGE framework_init " in server.log(), timeout=120)  # the first of the engines that are measured
    assert server.stop() == 0
    log = server.log()
    assert "stopped while starting" in log and "STAGE ready " not in log, log
    assert not list((tmp_path / "cache").glob("calibration-*")), log


def test_what_is_missing_is_named_with_the_remedy(cache, model, program, tmp_path):
    code, said = refused(program, "--model-dir", str(model), "--onnxruntime-library", "/nowhere/libonnxruntime.so")
    assert code == 1 and "/nowhere/libonnxruntime.so" in said and "./dev setup" in said, said
    code, said = refused(program, "--model-dir", str(cache / "models/kokoro-82m"))
    assert code == 1 and "onnx/model.onnx" in said and "kokoro-82m-onnx" in said, said
    code, said = refused(program, "--model-dir", str(model), "--device", "cuda")
    assert code == 2 and "CPU only" in said and "--onnxruntime-library" in said, said


@needs_gpu
def test_the_gpu_speaks_and_says_the_same_each_time(model, start, tmp_path):
    text = "Please call me back this evening."
    server = start("--device", "cuda", "--onnxruntime-library", GPU_LIBRARY, "--model-dir", str(model))
    answers = [server.say(text=text, timeout=240).content for _ in range(3)]
    assert server.stop() == 0
    assert answers[0] == answers[1] == answers[2]
    path = tmp_path / "spoken.wav"
    path.write_bytes(answers[0])
    assert wer(text, transcribe(path)) <= 0.04
