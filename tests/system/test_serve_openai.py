"""The OpenAI routes with OpenAI's own clients, Python and JavaScript, on the paced engine."""

import base64
import io
import json
import os
import pathlib
import shutil
import subprocess
import wave

import openai
import pytest
import requests
from local_cloud import ROOT
from serve_tools import Serve

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "headroom"
NPM = CACHE / "npm-test"


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("serve"), "--engine", "paced", "--service-ms", "10", "--overhead-ms", "0")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def client(serve):
    return openai.OpenAI(base_url=serve.url + "/v1", api_key="sk-test", max_retries=0)


def test_speech_in_every_format(serve, client):
    magics = {"wav": b"RIFF", "flac": b"fLaC", "opus": b"OggS", "mp3": (b"ID3", b"\xff\xfb", b"\xff\xf3"),
              "aac": (b"\xff\xf1", b"\xff\xf9")}
    types = {"wav": "audio/wav", "flac": "audio/flac", "opus": "audio/ogg", "mp3": "audio/mpeg", "aac": "audio/aac"}
    for name, magic in magics.items():
        answer = client.audio.speech.create(model="tts-1", voice="nova", input="Good morning.", response_format=name)
        assert answer.content.startswith(magic), name
        assert answer.response.headers["content-type"].startswith(types[name])
    default = client.audio.speech.create(model="tts-1-hd", voice="onyx", input="Good morning.")
    assert default.response.headers["content-type"] == "audio/mpeg"
    pcm = client.audio.speech.create(model="kokoro", voice="af_heart", input="Good morning.", response_format="pcm").content
    assert pcm == serve.say(text="Good morning.", format="pcm").content


def test_streaming_and_saving_as_the_documentation_shows(client, tmp_path):
    with client.audio.speech.with_streaming_response.create(
            model="gpt-4o-mini-tts", voice="coral", input="Today is a wonderful day.", instructions="Be cheerful.",
            response_format="wav") as answer:
        answer.stream_to_file(tmp_path / "speech.wav")
    with wave.open(io.BytesIO((tmp_path / "speech.wav").read_bytes())) as sound:
        assert (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) == (24000, 1, 2)


def test_events_carry_the_same_audio(client):
    plain = client.audio.speech.create(model="tts-1", voice="echo", input="One. Two. Three.", response_format="pcm").content
    with client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="echo", input="One. Two. Three.", response_format="pcm", stream_format="sse") as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        events = [json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: ")]
    assert {e["type"] for e in events[:-1]} == {"speech.audio.delta"} and events[-1]["type"] == "speech.audio.done"
    assert b"".join(base64.b64decode(e["audio"]) for e in events[:-1]) == plain
    assert events[-1]["usage"]["total_tokens"] == len("One. Two. Three.")


def test_models_and_voices(serve, client):
    assert {"kokoro", "tts-1", "tts-1-hd", "gpt-4o-mini-tts"} == {model.id for model in client.models.list()}
    assert client.models.retrieve("tts-1").owned_by == "headroom"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")
    voices = requests.get(serve.url + "/v1/audio/voices", timeout=20).json()
    assert "af_heart" in voices["voices"] and voices["aliases"]["alloy"] in voices["voices"]


def test_every_voice_of_openai_is_an_alias(client):
    for voice in ("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin", "nova", "onyx", "sage", "shimmer", "verse"):
        assert client.audio.speech.create(model="tts-1", voice=voice, input="Hi.", response_format="pcm").content


@pytest.mark.parametrize(("changed", "kind", "code"), [
    ({"voice": "nobody"}, openai.BadRequestError, "unknown_voice"),
    ({"response_format": "ogg"}, openai.BadRequestError, "unsupported_format"),
    ({"speed": 9}, openai.BadRequestError, "invalid_speed"),
    ({"input": ""}, openai.BadRequestError, "missing_text"),
    ({"stream_format": "fax"}, openai.BadRequestError, "invalid_field"),
    ({"model": "gpt-9"}, openai.NotFoundError, "not_found"),
    ({"input": "a" * 10_001}, openai.APIStatusError, "text_too_long"),
])
def test_refusals_reach_the_client_as_its_own_exceptions(client, changed, kind, code):
    with pytest.raises(kind) as refused:
        client.audio.speech.create(**{"model": "tts-1", "voice": "alloy", "input": "Hello.", **changed})
    assert refused.value.code == code


def test_the_javascript_client(serve):
    node = shutil.which("node", path=f"{CACHE / 'node' / 'bin'}:{os.environ['PATH']}")
    if node is None or not (NPM / "node_modules" / "openai").exists():
        pytest.skip("the npm test clients are not set up; ./dev setup brings them")
    done = subprocess.run([node, ROOT / "tests" / "system" / "openai_client.mjs", NPM, serve.url + "/v1"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)
    assert out["wav_type"] == "audio/wav" and out["wav_magic"] == "RIFF" and out["default_type"] == "audio/mpeg"
    assert out["pcm_bytes"] == len(serve.say(text="Good morning to you.", format="pcm", speed=2).content)
    assert out["events"][0] == "speech.audio.delta" and out["events"][-1] == "speech.audio.done"
    assert "kokoro" in out["models"]
    assert out["error"] == {"name": "BadRequestError", "status": 400, "code": "unknown_voice"}
