"""Memory of tts-serve with the real model over many different sentences and many streams that are dropped half way.

HEADROOM_SOAK_S bounds each test (900 s by default), HEADROOM_SOAK_SENTENCES the sentences (5,000); what was done and seen
is printed (pytest -s) and stands in soak.json of the test's folder.
"""

import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import statistics
import time

import pytest
import requests
from local_cloud import CACHE, SLOW
from serve_tools import Serve

pytestmark = [pytest.mark.alone,
              pytest.mark.skipif(SLOW > 1, reason="a sanitizer keeps what was freed, so its memory tells nothing of ours")]

MODEL = CACHE / "models" / "kokoro-82m"
MOST_MB = 1.2 * 1024  # resident, two workers
BUDGET_S = float(os.environ.get("HEADROOM_SOAK_S", "900"))
SENTENCES = int(os.environ.get("HEADROOM_SOAK_SENTENCES", "5000"))
WORDS = ("river castle morning quiet thunder begin seven orange window music captain winter pencil travel question station little "
         "yesterday because through enough photograph rhythm island knowledge temperature extraordinary a I of and gryzzk Łódź").split()


def resident_mb(server: Serve) -> float:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def sentence(dice: random.Random) -> str:
    """1 to 500 characters, short ones more often, of words, numbers, money and marks."""
    length = round(500 ** dice.random())
    text = ""
    while len(text) < length:
        word = dice.choice([str(dice.randrange(10_000)), f"${dice.randrange(500)}.{dice.randrange(10, 99)}", *dice.choices(WORDS, k=30)])
        text += (dice.choice([" "] * 12 + [", ", ", ", ". ", "; "]) if text else "") + word
    return (text[:length].strip(" ,.;$") or "a") + dice.choice(["", ".", "!", "?"])


def requests_of(dice: random.Random, voices: list[str]):
    """Every voice in turn, each fourth a blend; speeds, formats and both ways of answering mixed."""
    for number, voice in enumerate(itertools.cycle(voices)):
        if number % 4 == 3:
            voice = f"{voice}({dice.randint(1, 3)})+{dice.choice(voices)}({dice.randint(1, 3)})"
        yield {"text": sentence(dice), "voice": voice, "speed": dice.choice([0.5, 0.8, 1, 1, 1, 1.3, 2]), "stream": number % 2 == 0,
               "format": dice.choice(["wav", "pcm", "mp3", "opus", "flac", "aac"])}


def judge(readings: list[tuple[int, float]], folder: pathlib.Path, allowed_mb: float = 0) -> None:
    """Memory over work done: the fitted growth of the last 80 % is no more than the noise around the line, or than what is allowed,
    and there is never more than two workers may take."""
    late = readings[len(readings) // 5:]
    fit = statistics.linear_regression([n for n, _ in late], [mb for _, mb in late])
    growth = fit.slope * (late[-1][0] - late[0][0])
    noise = statistics.pstdev([mb - fit.slope * n - fit.intercept for n, mb in late])
    seen = {"done": readings[-1][0], "first_mb": late[0][1], "last_mb": late[-1][1], "most_mb": max(mb for _, mb in readings),
            "kb_each": round(fit.slope * 1024, 2), "growth_mb": round(growth, 1), "noise_mb": round(noise, 1)}
    (folder / "soak.json").write_text(json.dumps({**seen, "readings": readings}))
    print(seen)
    assert growth <= max(3 * noise, 0.02 * late[0][1], allowed_mb), seen
    assert seen["most_mb"] <= MOST_MB, seen


def in_rounds(server: Serve, round_of_work, most: int) -> list[tuple[int, float]]:
    """Runs rounds until `most` pieces of work are done or the time is up: (pieces done, resident MB) after each."""
    readings, done, end = [], 0, time.monotonic() + BUDGET_S
    while done < most and (time.monotonic() < end or len(readings) < 10):
        done += round_of_work()
        readings.append((done, resident_mb(server)))
    return readings


@pytest.fixture
def model_server(tmp_path):
    assert (MODEL / "manifest.json").is_file(), f"no model directory under {CACHE}; run ./dev setup"
    server = Serve(tmp_path, "--model-dir", str(MODEL), "--cache-dir", str(tmp_path / "compiled"), "--workers", "2", wait=False)
    server.wait_ready(timeout=300)
    yield server
    assert server.stop() == 0


def talk(server: Serve, dice: random.Random, tmp_path: pathlib.Path, most: int, allowed_mb: float = 0) -> None:
    voices = [v for v in requests.get(server.url + "/v1/audio/voices", timeout=30).json()["voices"] if v[0] not in "jz"]
    todo = requests_of(dice, voices)

    def say(body):
        answer = server.say(timeout=900, **body)
        assert answer.status_code == 200 and answer.content, (body, answer.text[:200])

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        judge(in_rounds(server, lambda: len(list(pool.map(say, itertools.islice(todo, 20)))), most), tmp_path, allowed_mb)


@pytest.mark.model
@pytest.mark.soak
def test_thousands_of_different_sentences_leave_memory_flat(model_server, tmp_path):
    talk(model_server, random.Random(5), tmp_path, SENTENCES)


@pytest.mark.model
@pytest.mark.soak
def test_eight_streams_with_four_dropped_leave_the_models_memory_flat(model_server, tmp_path):
    text = "The first sentence of this little text is spoken at once. The second one follows it. And here comes the end of it."

    def listen(number):
        with requests.post(model_server.url + "/invocations", json={"text": text, "stream": True, "format": "pcm"}, stream=True,
                           timeout=900 * SLOW) as answer:
            parts = answer.iter_content(8192)
            return (next(parts), None)[1] if number % 2 else b"".join(parts)

    heard = set()

    def eight():
        heard.update(audio for audio in pool.map(listen, range(8)) if audio is not None)
        assert len(heard) == 1  # the same every time, whoever leaves meanwhile
        return 8

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        judge(in_rounds(model_server, eight, 8 * 200), tmp_path)
    assert model_server.say(text="The next one is fine.").status_code == 200


@pytest.mark.parametrize(("most", "allowed_mb"), [(1200, 24), pytest.param(20_000, 0, marks=pytest.mark.soak)])
def test_different_sentences_leave_memory_flat_without_a_model(tmp_path, most, allowed_mb):
    """The same on the paced engine: requests, coders, sessions of the server itself.

    Resident memory goes up and down by 6 MB (standard deviation over 10,000 requests, whose slope is -0.07 kB each), which so
    short a run takes for a slope: it finds only what leaks 25 kB a request, less than one chunk of audio; the long one finds the rest.
    """
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "1", "--overhead-ms", "0", "--paced-unit", "sentence")
    try:
        talk(server, random.Random(7), tmp_path, most, allowed_mb)
    finally:
        assert server.stop() == 0
