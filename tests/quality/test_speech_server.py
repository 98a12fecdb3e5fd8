"""tts-serve with real Kokoro: heard word for word, long and hostile texts, the same samples whatever the concurrency."""

import concurrent.futures
import os
import shutil
import wave

import pytest
from serve_tools import Serve
from whisper_check import transcribe, wer

pytestmark = pytest.mark.model
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


def test_a_damaged_model_file_is_named(cache, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(cache / "models" / "kokoro-82m", model, copy_function=os.link)
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
