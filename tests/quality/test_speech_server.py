"""tts-serve with real Kokoro: heard word for word, long and hostile texts, the same samples whatever the concurrency."""

import concurrent.futures
import io
import os
import shutil
import wave

import av
import numpy
import pytest
from serve_tools import Serve
from whisper_check import transcribe, wer

pytestmark = pytest.mark.model
CODED = {"mp3": 1152, "opus": 960, "flac": 1920, "aac": 1024}  # samples of a frame, at most
SENTENCES = [
    "The quick brown fox jumps over the lazy dog, while the children play in the garden.",
    "Please call me back this evening, because the meeting starts tomorrow morning.",
    "Dr. Smith's third visit cost $5.3 billion, which surprised everyone in the room.",
]


@pytest.fixture(scope="module")
def serve(cache, tmp_path_factory):
    folder = tmp_path_factory.mktemp("speech")
    server = Serve(folder, "--model-dir", str(cache / "models" / "kokoro-82m"), "--cache-dir", str(folder / "compiled"))
    yield server
    assert server.stop() == 0


def speak(serve, text, **more):
    answer = serve.say(text=text, timeout=240, **more)
    assert answer.status_code == 200, answer.text
    return answer.content


def samples(pcm: bytes) -> numpy.ndarray:
    return numpy.frombuffer(pcm, "<i2").astype(numpy.float32) / 32768


def decode(data: bytes) -> tuple[numpy.ndarray, int]:
    """What a player gets: mono samples and their rate."""
    with av.open(io.BytesIO(data)) as file:
        frames = [f for f in file.decode(audio=0)]
        rate = frames[0].sample_rate
        parts = [f.to_ndarray().reshape(-1) for f in frames]
    whole = numpy.concatenate(parts)
    return (whole / numpy.iinfo(whole.dtype).max if whole.dtype.kind == "i" else whole).astype(numpy.float32), rate


def gaps(sound: numpy.ndarray, rate: int, least_s: float = 0.12) -> list[tuple[int, int]]:
    """Silences (below -50 dBFS) inside the speech: first and last sample of each."""
    loud = numpy.flatnonzero(numpy.abs(sound) > 0.00316)
    steps = numpy.flatnonzero(numpy.diff(loud) > least_s * rate)
    return [(int(loud[i]), int(loud[i + 1])) for i in steps]


@pytest.mark.parametrize("text", SENTENCES)
def test_whisper_hears_every_word(serve, tmp_path, text):
    path = tmp_path / "spoken.wav"
    path.write_bytes(speak(serve, text))
    with wave.open(str(path)) as wav:
        assert wav.getframerate() == 24000 and wav.getnframes() > 24000
    heard = transcribe(path)
    assert wer(text, heard) <= 0.04, heard


def test_a_british_voice_a_blend_and_a_slow_one_are_heard(serve, tmp_path):
    for extra in ({"voice": "bf_emma"}, {"voice": "af_heart(2)+am_adam(1)"}, {"speed": 0.8, "sample_rate": 48000}):
        path = tmp_path / "spoken.wav"
        path.write_bytes(speak(serve, SENTENCES[1], **extra))
        heard = transcribe(path)
        assert wer(SENTENCES[1], heard) <= 0.1, (extra, heard)


def test_streamed_and_whole_speech_are_the_same_samples(serve):
    text = " ".join(SENTENCES)
    assert speak(serve, text, stream=True, format="pcm") == speak(serve, text, format="pcm")


@pytest.fixture(scope="module")
def pcm(serve):
    """pcm(text, rate): the samples themselves, asked for once."""
    known: dict = {}

    def get(text: str, rate: int) -> numpy.ndarray:
        if (text, rate) not in known:
            known[text, rate] = samples(speak(serve, text, format="pcm", sample_rate=rate))
        return known[text, rate]

    return get


@pytest.mark.parametrize("format", CODED)
def test_one_word_in_every_format_lasts_as_long_as_its_pcm(serve, pcm, format):
    for rate, stream in ((24000, False), (24000, True), (8000, True)):
        meant = pcm("Yes.", rate)
        decoded, decoded_rate = decode(speak(serve, "Yes.", format=format, sample_rate=rate, stream=stream))
        frame_s = CODED[format] / (48000 if format == "opus" else rate)
        assert abs(len(decoded) / decoded_rate - len(meant) / rate) <= frame_s + 1e-3, (rate, stream)
        # The same sound at the same place: where the first and the last loud samples are.
        for place in (0, -1):
            there = numpy.flatnonzero(numpy.abs(decoded) > 0.05)[place] / decoded_rate
            here = numpy.flatnonzero(numpy.abs(meant) > 0.05)[place] / rate
            assert abs(there - here) <= frame_s + 0.01, (rate, stream, place)


@pytest.mark.parametrize("format", CODED)
def test_a_sentence_sounds_the_same_in_every_format_from_first_to_last(serve, pcm, format):
    decoded, rate = decode(speak(serve, SENTENCES[1], format=format, stream=True))

    def loudness(sound: numpy.ndarray, sound_rate: int) -> numpy.ndarray:
        step = sound_rate // 50
        return numpy.sqrt((sound[:len(sound) // step * step].reshape(-1, step) ** 2).mean(axis=1))

    meant, heard = loudness(pcm(SENTENCES[1], 24000), 24000), loudness(decoded, rate)
    n = min(len(meant), len(heard)) - 4
    shifts = [numpy.corrcoef(meant[2:n], heard[2 + d:n + d])[0, 1] for d in (-2, -1, 0, 1, 2)]
    assert max(shifts) > 0.97, shifts


@pytest.mark.parametrize("speed", [0.5, 2])
def test_first_and_last_words_are_heard_at_every_speed(serve, tmp_path, speed):
    path = tmp_path / "spoken.wav"
    path.write_bytes(speak(serve, SENTENCES[0], speed=speed))
    words = transcribe(path).lower().replace(",", "").rstrip(".").split()
    assert "quick" in words[:3] and words[-1] == "garden", words  # Whisper guesses at a "the" that opens a text


def test_pauses_at_joins_are_as_long_as_the_models_own_and_do_not_click(serve):
    # A short sentence stays in one segment with its neighbour: there the model makes the pause itself.
    own = []
    for text in ("We are open every day. Call us at any time.", "The shop is open now. Please come in at once."):
        sound = samples(speak(serve, text, format="pcm"))
        own.append(max((b - a) / 24000 for a, b in gaps(sound, 24000)))
    model_pause = sum(own) / len(own)
    sound = samples(speak(serve, " ".join(SENTENCES[:2] * 2), format="pcm"))
    longest = sorted(gaps(sound, 24000), key=lambda g: g[0] - g[1])[:3]  # three ends of sentences
    for a, b in longest:
        assert 0.5 * model_pause <= (b - a) / 24000 <= 1.5 * model_pause, ((b - a) / 24000, own)
        for edge in (a, b):
            around = sound[edge - 480:edge + 480]
            assert numpy.abs(numpy.diff(around)).max() < 0.05, edge / 24000
    # Nothing cut off hard at the very ends either.
    assert abs(sound[0]) < 0.01 and abs(sound[-1]) < 0.01
    assert numpy.flatnonzero(numpy.abs(sound) > 0.00316)[0] <= 0.11 * 24000  # no silence to wait for


def test_texts_of_more_than_510_tokens_are_spoken_whole(serve):
    words = " ".join(["wonderful"] * 58)  # one sentence without punctuation, about 580 tokens
    one = len(speak(serve, "wonderful", format="pcm"))
    assert len(speak(serve, words, format="pcm", stream=True)) > 15 * one


@pytest.mark.parametrize("text", [" ", "!", "...", "\n\n", "\u00a0", "\t", "😀😀", "\u200b\u200d", "\u0000"])
def test_nothing_to_speak_is_a_400(serve, text):
    answer = serve.say(text=text)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unspeakable_text"), answer.text


@pytest.mark.parametrize("text", [
    "button kitten written", "«Bonjour»", "naïve café", "مرحبا hello", "2.0.1 at 9:30PM, 40-60 C", "gryzzk", "http://example.com/a?b=c",
    "me@example.org", "1" * 50])
def test_odd_texts_are_spoken(serve, text):
    assert len(speak(serve, text)) > 10_000


def test_japanese_and_mandarin_are_refused_by_name(serve):
    answer = serve.say(text="こんにちは", lang="ja")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported_language")


def test_the_same_text_gives_the_same_samples_whatever_the_concurrency(serve):
    alone = speak(serve, "Exactly the same, every single time.", format="pcm")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        texts = ["Exactly the same, every single time." if i % 2 else f"Number {i} differs." for i in range(12)]
        answers = list(pool.map(lambda text: speak(serve, text, format="pcm"), texts))
    assert all(answer == alone for answer in answers[1::2])


def link_or_copy(source, target):
    """A hard link costs nothing; between two file systems there is none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def test_a_damaged_model_file_is_named(cache, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(cache / "models" / "kokoro-82m", model, copy_function=link_or_copy)
    vocab = model / "vocab.json"
    content = vocab.read_bytes()
    vocab.unlink()
    vocab.write_bytes(content[:-1] + b" ")
    server = Serve(tmp_path, "--model-dir", str(model), wait=False)
    assert server.process.wait(60) == 1
    assert "vocab.json" in server.log() and "./dev setup" in server.log()
    server.log_path.unlink()
    vocab.unlink()
    server = Serve(tmp_path, "--model-dir", str(model), wait=False)
    assert server.process.wait(60) == 1
    assert "vocab.json" in server.log()
