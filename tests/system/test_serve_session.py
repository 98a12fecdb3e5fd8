"""The WebSocket session of tts-serve with the `websockets` client: one request, pipelining, pieces, cancel, close, refusals."""

import concurrent.futures
import contextlib
import json
import signal
import time

import pytest
import requests
from local_cloud import wait_for
from serve_tools import Serve, hear, session
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

PACED = ("--engine", "paced", "--service-ms", "20", "--overhead-ms", "1")


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("serve"), *PACED)
    yield server
    assert server.stop() == 0


def metric(server, line):
    return next((row.rsplit(" ", 1)[1] for row in requests.get(server.url + "/metrics", timeout=20).text.splitlines()
                 if row.startswith(line + " ")), None)


def test_one_request_is_started_spoken_and_completed(serve):
    whole = serve.say(text="Good morning to you.", format="pcm").content
    with session(serve) as link:
        link.send(json.dumps({"text": "Good morning to you.", "voice": "am_adam", "speed": 1, "request_id": "a"}))
        answer = hear(link, "a")
    assert answer.start == {"type": "synthesis_start", "request_id": "a", "voice": "am_adam", "format": "pcm",
                            "content_type": answer.start["content_type"], "sample_rate": 24000}
    assert answer.audio == whole
    assert answer.end["type"] == "synthesis_complete" and not answer.end["cancelled"]
    assert answer.end["duration_s"] == pytest.approx(len(whole) / 48000, abs=1e-3)
    timings = answer.end["timings"]
    assert 0 <= timings["queue_ms"] <= timings["first_audio_ms"] <= timings["total_ms"] and timings["synthesis_ms"] >= 15
    assert timings["segments"][0]["start_s"] == 0 and timings["segments"][-1]["end_s"] == answer.end["duration_s"]
    assert "phonemes" in answer.end


def test_pipelined_requests_are_answered_in_order_and_whole(serve):
    with session(serve) as link:
        for number in range(5):
            link.send(json.dumps({"text": "word " * (number + 1), "request_id": str(number)}))
        lengths = [len(hear(link, str(number)).audio) for number in range(5)]
    assert lengths == sorted(lengths) and len(set(lengths)) == 5


def test_a_slow_reader_holds_back_its_next_requests_and_loses_nothing(serve):
    text = "word " * 60  # about 20 s of audio: 1 MB
    count = 40

    def spoken_s():
        return float(metric(serve, "headroom_audio_seconds_total"))

    before = spoken_s()
    with session(serve, max_queue=1) as link:  # who does not receive() does not read either
        for number in range(count):
            link.send(json.dumps({"text": text, "request_id": str(number)}))
        wait_for(lambda: spoken_s() > before)
        seen = [spoken_s()]
        while len(seen) < 2 or seen[-1] != seen[-2]:  # until nothing more is spoken
            time.sleep(0.3)
            seen.append(spoken_s())
        held = int(metric(serve, "headroom_outstanding_requests"))
        assert held > count // 2
        audio = {len(hear(link, str(number)).audio) for number in range(count)}
    assert len(audio) == 1 and spoken_s() - before == pytest.approx(count * audio.pop() / 48000, rel=0.01)


def test_a_request_without_an_id_gets_one(serve):
    with session(serve) as link:
        link.send(json.dumps({"text": "No name."}))
        assert hear(link, None).end["request_id"]


def test_text_in_pieces_is_spoken_sentence_by_sentence(serve):
    with session(serve) as link:
        for piece in ("Good mor", "ning to you. ", "And"):
            link.send(json.dumps({"type": "text", "request_id": "p", "text": piece, "voice": "af_bella"}))
        assert json.loads(link.recv(timeout=20))["type"] == "synthesis_start"
        first = link.recv(timeout=20)
        assert isinstance(first, bytes)  # the first sentence is heard before the second is there
        link.send(json.dumps({"type": "text", "request_id": "p", "text": " good night", "final": True}))
        rest = hear(link, "p", started=True)
        assert len(rest.audio) > 10_000
        assert [s["characters"] for s in rest.end["timings"]["segments"]] == [len("Good morning to you."), len(" And good night")]
        assert rest.end["characters"] == len("Good morning to you. And good night")


def test_a_sentence_that_nothing_follows_is_spoken_after_a_pause(serve):
    with session(serve) as link:
        link.send(json.dumps({"type": "text", "request_id": "p", "text": "Is that all?"}))
        assert json.loads(link.recv(timeout=20))["type"] == "synthesis_start"
        assert isinstance(link.recv(timeout=20), bytes)
        link.send(json.dumps({"type": "text", "request_id": "p", "final": True}))
        assert hear(link, "p", started=True).end["characters"] == len("Is that all?")


def test_pieces_that_say_nothing_are_an_error_and_the_session_goes_on(serve):
    with session(serve) as link:
        link.send(json.dumps({"type": "text", "request_id": "p", "text": "  ", "final": True}))
        assert json.loads(link.recv(timeout=20))["error"]["code"] in ("unspeakable_text", "missing_text")
        link.send(json.dumps({"text": "Still here.", "request_id": "b"}))
        assert hear(link, "b").audio


def test_cancelled_requests_end_at_once_and_say_nothing_more(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "1000", "--paced-unit", "sentence")
    try:
        with session(server) as link:
            link.send(json.dumps({"text": "One here. Two here. Three here. Four here.", "request_id": "a"}))
            link.send(json.dumps({"text": "Not begun.", "request_id": "b"}))
            link.send(json.dumps({"text": "Last.", "request_id": "c"}))
            assert json.loads(link.recv(timeout=20))["type"] == "synthesis_start"
            link.send(json.dumps({"type": "cancel", "request_id": "b"}))
            link.send(json.dumps({"type": "cancel", "request_id": "a"}))
            ended = []
            while len(ended) < 2:
                message = link.recv(timeout=20)
                if isinstance(message, str):
                    ended.append(json.loads(message))
            assert {(e["request_id"], e["type"], e["cancelled"]) for e in ended} == {
                ("a", "synthesis_complete", True), ("b", "synthesis_complete", True)}
            answer = hear(link, "c")  # nothing of a or b comes before it
            assert len(answer.audio) == len(server.say(text="Last.", format="pcm").content)
            link.send(json.dumps({"type": "cancel", "request_id": "never"}))
            assert json.loads(link.recv(timeout=20))["error"]["code"] == "not_found"
        assert metric(server, 'headroom_requests_total{outcome="cancelled",route="/invocations-bidirectional-stream"}') == "2"
    finally:
        server.stop()


def test_close_finishes_what_was_asked_and_says_1000(serve):
    link = connect(serve.ws_url, legacy=True)
    link.send(json.dumps({"text": "The last words.", "request_id": "a"}))
    link.send(json.dumps({"type": "close"}))
    link.send(json.dumps({"text": "Too late.", "request_id": "b"}))
    messages = []
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            messages.append(link.recv(timeout=20))
    kinds = [json.loads(m)["type"] for m in messages if isinstance(m, str)]
    assert sorted(kinds) == ["error", "synthesis_complete", "synthesis_start"]
    assert any(isinstance(m, bytes) for m in messages)
    assert closed.value.rcvd.code == 1000


@pytest.mark.parametrize(("message", "code"), [
    ("not json", "invalid_json"), ("[]", "invalid_json"), (b"\x00\xff", "invalid_json"), ("[" * 100_000, "invalid_json"),
    ('{"text":""}', "missing_text"), ("{}", "missing_text"), ('{"type":"dance"}', "invalid_field"), ('{"request_id":7}', "invalid_field"),
    ('{"type":"text","text":"no id"}', "invalid_field"), ('{"text":"a","voice":"../x"}', "unknown_voice"),
    ('{"text":"a","speed":%s}' % ("[" * 15 + "]" * 15), "invalid_speed"), ('{"a":%s}' % ("[" * 16 + "]" * 16), "invalid_json"),
    ('{"a":[%s0]}' % ("[]," * 300_000), "invalid_json"), ('{"type":"text","request_id":"x","text":7}', "missing_text"),
    (json.dumps({"text": "a" * 10_001}), "text_too_long"), ('{"type":"cancel","request_id":"x"}', "not_found"),
])
def test_wrong_messages_are_answered_and_the_session_goes_on(serve, message, code):
    with session(serve) as link:
        link.send(message)
        error = json.loads(link.recv(timeout=20))
        assert (error["type"], error["error"]["code"]) == ("error", code)
        link.send(json.dumps({"text": "Fine.", "request_id": "after"}))
        assert hear(link, "after").audio


def test_an_id_in_use_and_too_long_pieces_are_refused(serve):
    with session(serve) as link:
        link.send(json.dumps({"type": "text", "request_id": "a", "text": "One"}))
        link.send(json.dumps({"text": "Two", "request_id": "a"}))
        assert json.loads(link.recv(timeout=20))["error"]["code"] == "invalid_field"
        link.send(json.dumps({"type": "text", "request_id": "a", "text": "x" * 10_000}))
        assert json.loads(link.recv(timeout=20))["error"]["code"] == "text_too_long"
        link.send(json.dumps({"text": "Two", "request_id": "a"}))  # the name is free again
        assert hear(link, "a").audio


def piece(link, request_id, text, **more):
    link.send(json.dumps({"type": "text", "request_id": request_id, "text": text, **more}))


def test_late_pieces_of_a_cancelled_text_open_nothing(serve):
    with session(serve) as link:
        piece(link, "r", "Not a whole sentence")
        link.send(json.dumps({"type": "cancel", "request_id": "r"}))
        assert json.loads(link.recv(timeout=20))["cancelled"]
        piece(link, "r", " and more. And more")
        piece(link, "r", "", voice="no such voice")
        link.send(json.dumps({"text": "Next.", "request_id": "s"}))
        assert hear(link, "s").audio  # and nothing of r, which would have come first
        assert metric(serve, "headroom_outstanding_requests") == "0"
        piece(link, "r", " the end.", final=True)  # dropped too; now the id is free
        piece(link, "r", "Anew.", final=True)
        assert hear(link, "r").end["characters"] == len("Anew.")


def test_late_pieces_of_a_text_that_is_being_spoken_open_nothing(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "300")
    try:
        with session(server) as link:
            piece(link, "r", "One sentence. And")
            wait_for(lambda: metric(server, "headroom_outstanding_requests") == "1")
            link.send(json.dumps({"type": "cancel", "request_id": "r"}))
            piece(link, "r", " another. And")
            link.send(json.dumps({"text": "Whole.", "request_id": "r"}))  # a whole text is a new request
            kinds = []
            while kinds.count("synthesis_complete") < 2:
                message = link.recv(timeout=20)
                if isinstance(message, str):
                    kinds.append(json.loads(message)["type"])
            assert kinds.count("error") == 0
            assert json.loads(message)["characters"] == len("Whole.")
    finally:
        server.stop()


def test_the_rest_of_a_text_that_grew_too_long_is_not_spoken(serve):
    with session(serve) as link:
        piece(link, "r", "x" * 9000)
        piece(link, "r", "y" * 2000)
        piece(link, "r", "The rest.", final=True)
        assert json.loads(link.recv(timeout=20))["error"]["code"] == "text_too_long"
        link.send(json.dumps({"text": "Next.", "request_id": "s"}))
        assert hear(link, "s").audio


def test_pieces_without_text_take_no_place_and_keep_none(tmp_path):
    server = Serve(tmp_path, *PACED, "--max-queue-depth", "2", "--max-request-age", "1s")
    try:
        with session(server) as link:
            for number in range(5):
                piece(link, f"h{number}", " " * (number % 2))
            piece(link, "last", "", final=True)
            error = json.loads(link.recv(timeout=20))  # all of them have been read
            assert (error["request_id"], error["error"]["code"]) == ("last", "missing_text")
            assert metric(server, "headroom_outstanding_requests") == "0"
            assert server.say(text="Over HTTP.").status_code == 200
            piece(link, "a", "Unfinished")
            while error["request_id"] != "a":
                piece(link, "a", " ")
                with contextlib.suppress(TimeoutError):
                    error = json.loads(link.recv(timeout=0.1))
            assert error["error"]["code"] == "request_stale" and "no text came" in error["error"]["message"]
    finally:
        server.stop()


def test_a_text_in_pieces_may_not_go_on_for_ever(tmp_path):
    server = Serve(tmp_path, *PACED, "--max-request-age", "200ms")
    try:
        with session(server) as link:
            error = None
            while not error:
                piece(link, "a", "word ")
                with contextlib.suppress(TimeoutError):
                    error = json.loads(link.recv(timeout=0.05))
            assert error["error"]["code"] == "request_stale" and "has been coming for" in error["error"]["message"]
            assert metric(server, "headroom_outstanding_requests") == "0"
    finally:
        server.stop()


def test_admission_counts_sessions_by_their_requests(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "500", "--max-queue-depth", "2")
    try:
        with contextlib.ExitStack() as stack:
            links = [stack.enter_context(session(server)) for _ in range(6)]  # idle ones count nothing
            for number in range(3):
                links[0].send(json.dumps({"text": "Busy.", "request_id": str(number)}))
            error = json.loads(links[0].recv(timeout=20))
            assert (error["request_id"], error["error"]["code"]) == ("2", "queue_saturated")
            assert server.say(text="Over HTTP.").status_code == 503
            assert hear(links[0], "0").audio and hear(links[0], "1").audio
            assert server.say(text="Over HTTP.").status_code == 200
            assert metric(server, "headroom_websocket_sessions") == "6"
        wait_for(lambda: metric(server, "headroom_websocket_sessions") == "0")
    finally:
        server.stop()


def test_a_client_that_vanishes_frees_its_places(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2000", "--max-queue-depth", "3")
    try:
        link = connect(server.ws_url, legacy=True)
        for number in range(3):
            link.send(json.dumps({"text": "Gone soon.", "request_id": str(number)}))
        wait_for(lambda: metric(server, "headroom_outstanding_requests") == "3")
        link.socket.close()
        wait_for(lambda: metric(server, "headroom_outstanding_requests") == "0")
    finally:
        server.stop()


def test_idle_sessions_are_closed_and_busy_ones_are_not(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "1600", "--session-idle-limit", "1s")
    try:
        with session(server) as link:
            link.send(json.dumps({"text": "Slow.", "request_id": "a"}))
            assert hear(link, "a").audio
            with pytest.raises(ConnectionClosed) as closed:
                link.recv(timeout=20)
            assert closed.value.rcvd.code == 1001
    finally:
        server.stop()


def test_text_that_stops_coming_ends_its_request(tmp_path):
    server = Serve(tmp_path, *PACED, "--max-request-age", "1s")
    try:
        with session(server) as link:
            link.send(json.dumps({"type": "text", "request_id": "a", "text": "Unfinished"}))
            assert json.loads(link.recv(timeout=20))["error"]["code"] == "request_stale"
            assert metric(server, "headroom_outstanding_requests") == "0"
    finally:
        server.stop()


def test_draining_finishes_sessions_with_1001(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2000")
    with connect(server.ws_url) as idle, connect(server.ws_url) as busy:
        busy.send(json.dumps({"text": "In flight.", "request_id": "a"}))
        wait_for(lambda: metric(server, "headroom_outstanding_requests") == "1")
        server.process.send_signal(signal.SIGTERM)
        assert hear(busy, "a").audio
        for link in (idle, busy):
            with pytest.raises(ConnectionClosed) as closed:
                link.recv(timeout=20)
            assert closed.value.rcvd.code == 1001
    assert server.process.wait(30) == 0 and "drained: all answered" in server.log()


def test_plain_requests_and_foreign_pages_are_refused(serve):
    answer = requests.get(serve.url + "/invocations-bidirectional-stream", timeout=20)
    assert answer.status_code == 426 and answer.headers["upgrade"] == "websocket"
    with pytest.raises(InvalidStatus) as refused:
        connect(serve.ws_url, origin="https://evil.example")
    assert refused.value.response.status_code == 403


def test_sixteen_sessions_at_once_hear_the_same(serve):
    def say(number):
        with session(serve) as link:
            link.send(json.dumps({"text": "The same for everybody.", "request_id": str(number)}))
            return hear(link, str(number)).audio

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(say, range(48)))) == 1
