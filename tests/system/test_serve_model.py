"""tts-serve with the real model, where the paced engine cannot stand in: sessions, and one text many times at once."""

import concurrent.futures
import json
import os
import pathlib

import pytest
from local_cloud import SLOW
from serve_tools import Serve, hear, session

pytestmark = [pytest.mark.model, pytest.mark.alone]
CACHE = pathlib.Path(os.environ.get("HEADROOM_CACHE") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
                     / "headroom")
MODEL = CACHE / "models" / "kokoro-82m"


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    assert (MODEL / "manifest.json").is_file(), f"no model directory under {CACHE}; run ./dev setup"
    folder = tmp_path_factory.mktemp("serve")
    server = Serve(folder, "--model-dir", str(MODEL), "--cache-dir", str(folder / "compiled"), wait=False)
    server.wait_ready(timeout=120)
    yield server
    assert server.stop() == 0


def test_a_session_speaks_with_phonemes_and_pieces_sound_whole(serve):
    with session(serve) as link:
        link.send(json.dumps({"text": "Good morning to you.", "request_id": "a"}))
        answer = hear(link, "a")
        assert answer.end["phonemes"] and 0.8 < answer.end["duration_s"] < 4
        assert answer.end["duration_s"] == pytest.approx(len(answer.audio) / 48000, abs=1e-3)
        for piece in ("The first sentence is he", "re. And the sec", "ond one ends it."):
            link.send(json.dumps({"type": "text", "request_id": "b", "text": piece}))
        link.send(json.dumps({"type": "text", "request_id": "b", "final": True}))
        pieces = hear(link, "b")
        assert len(pieces.end["timings"]["segments"]) == 2 and pieces.end["phonemes"].count(".") == 2


@pytest.mark.parametrize("pieces", [("Hello there. ", "[pause:3s] And now ", "we go."),
                                    ("Hello there.\n\n", "[pause:2s]\n\n", "[pause:1s] And now we go."),
                                    ("Hello there. And now we go. ", "[pause:1s]", "\n\n[pause:2s]")])
def test_pauses_of_a_text_in_pieces_are_those_of_the_whole(serve, pieces):
    with session(serve) as link:
        link.send(json.dumps({"text": "".join(pieces), "request_id": "whole"}))
        whole = hear(link, "whole").end
        for text in pieces:
            link.send(json.dumps({"type": "text", "request_id": "pieces", "text": text}))
        link.send(json.dumps({"type": "text", "request_id": "pieces", "final": True}))
        end = hear(link, "pieces").end
    assert whole["duration_s"] > 4
    # The sentences stand alone here and are spoken a little differently; paragraphs pause for 0.2 s longer.
    assert end["duration_s"] == pytest.approx(whole["duration_s"], abs=0.6)


def test_slow_speech_comes_in_segments_no_longer_than_usual(serve):
    text = "The river runs along the old wall and turns to the east behind the mill where the children of the village swim."
    with session(serve) as link:
        link.send(json.dumps({"text": text, "request_id": "slow", "speed": 0.25}))
        end = hear(link, "slow").end
    lengths = [s["end_s"] - s["start_s"] for s in end["timings"]["segments"]]
    assert end["duration_s"] > 20 and sum(s["characters"] for s in end["timings"]["segments"]) >= 0.9 * len(text)
    assert lengths[0] < 16 and max(lengths) < 20, lengths  # as one segment it would last 28 s


@pytest.mark.soak
def test_one_text_sixteen_at_once_five_hundred_times_is_the_same_every_time(serve):
    def say(number):
        if number % 2:
            return serve.say(text="The same words for everybody.", format="pcm", stream=number % 4 == 1, timeout=600).content
        with session(serve, open_timeout=60 * SLOW) as link:
            link.send(json.dumps({"text": "The same words for everybody.", "request_id": str(number)}))
            return hear(link, str(number)).audio

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(say, range(500)))) == 1
