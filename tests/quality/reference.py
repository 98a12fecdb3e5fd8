"""The reference for every engine: the corrected float model in ONNX Runtime's Python wheel, and how two sounds compare.

Sounds are float32 arrays at 24 kHz; levels are dB. Bands as the design names them: 0-0.5-1-2-4-8-12 kHz.
"""

import itertools
import json
import pathlib

import numpy as np
import onnxruntime

SAMPLE_RATE = 24000
BAND_EDGES_HZ = (0, 500, 1000, 2000, 4000, 8000, 12000)


class Reference:
    """Speaks phonemes with the reference model."""

    def __init__(self, cache: pathlib.Path):
        model = cache / "models/kokoro-82m"
        self.vocab = json.loads((model / "vocab.json").read_text())["vocab"]
        self.voices = model / "voices"
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            str(cache / "reference/kokoro-82m/model.onnx"), options, providers=["CPUExecutionProvider"])

    def tokens(self, phonemes: str) -> list[int]:
        return [self.vocab[symbol] for symbol in phonemes]

    def speak(self, tokens: list[int], voice: str, speed: float) -> np.ndarray:
        rows = np.fromfile(self.voices / f"{voice}.bin", dtype="<f4").reshape(510, 1, 256)
        feed = {
            "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
            "style": rows[min(len(tokens), 509)],
            "speed": np.array([speed], dtype=np.float32),
        }
        return self.session.run(None, feed)[0]


def loudness_db(sound: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(np.square(sound, dtype=np.float64)) + 1e-20))


def bands_db(sound: np.ndarray) -> np.ndarray:
    """Energy of each band."""
    power = np.abs(np.fft.rfft(sound.astype(np.float64))) ** 2
    frequency = np.fft.rfftfreq(sound.size, 1 / SAMPLE_RATE)
    return np.array([10 * np.log10(power[(frequency >= low) & (frequency < high)].sum() + 1e-20)
                     for low, high in itertools.pairwise(BAND_EDGES_HZ)])


def faults(text: str, sound: np.ndarray, expected: np.ndarray) -> list[str]:
    """What is beyond the limits of every engine: equal durations, loudness within 0.2 dB, each band within 0.5 dB, no NaN."""
    wrong = []
    if not np.isfinite(sound).all():
        wrong.append(f"{text}: a sample is not a number")
    if sound.size != expected.size:
        wrong.append(f"{text}: {sound.size} samples, reference {expected.size}")
    difference = loudness_db(sound) - loudness_db(expected)
    if abs(difference) > 0.2:
        wrong.append(f"{text}: loudness {difference:+.2f} dB")
    bands = bands_db(sound) - bands_db(expected)
    if np.abs(bands).max() > 0.5:
        wrong.append(f"{text}: bands {np.round(bands, 2).tolist()} dB")
    return wrong
