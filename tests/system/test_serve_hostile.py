"""Clients that behave badly on purpose leave tts-serve serving: slow, half closed, oversized, early, broken, deaf."""

import base64
import concurrent.futures
import json
import os
import random
import re
import signal
import socket
import struct
import time

import pytest
import requests
from local_cloud import SLOW, wait_for
from serve_tools import Serve, hear, session

memory_is_ours = pytest.mark.skipif(SLOW > 1, reason="a sanitizer keeps what was freed, so its memory tells nothing of ours")

@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("serve"), "--engine", "paced", "--service-ms", "5", "--overhead-ms", "0",
                   "--max-queue-depth", "32")
    yield server
    assert server.stop() == 0
    assert "dropped" not in server.log()


@pytest.fixture(autouse=True)
def still_serving(serve):
    yield
    assert serve.say(text="Still here.").status_code == 200
    wait_for(lambda: figure(serve, "headroom_outstanding_requests") == 0)


def figure(server, name):
    text = requests.get(server.url + "/metrics", timeout=20 * SLOW).text
    return float(re.search(rf"^{name} (\S+)$", text, re.M).group(1))


def link_to(serve):
    return socket.create_connection(("127.0.0.1", int(serve.url.rsplit(":", 1)[1])), timeout=20 * SLOW)


def answer_to(serve, *parts, pause=0.0):
    with link_to(serve) as link:
        for part in parts:
            link.sendall(part)
            time.sleep(pause)
        return read_all(link)


def read_all(link):
    out = b""
    try:
        while part := link.recv(65536):
            out += part
    except ConnectionResetError:
        pass
    return out


def post(body=b'{"text":"Hi."}', extra=b""):
    return b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n" % (len(body), extra) + body


UPGRADE = (b"GET /invocations-bidirectional-stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + base64.b64encode(bytes(16)) + b"\r\n")


def frame(first, payload, mask=bytes(4), length=None):
    size = len(payload) if length is None else length
    head = bytes([first]) + (bytes([0x80 | size]) if size < 126 else struct.pack(">BH", 0xFE, size) if size < 65536
                             else struct.pack(">BQ", 0xFF, size))
    return head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(payload))


def raw_session(serve):
    link = link_to(serve)
    link.sendall(UPGRADE + b"\r\n")
    head = b""
    while b"\r\n\r\n" not in head:
        head += link.recv(1)
    assert b" 101 " in head
    return link


def test_slow_lorises_hold_nobody_up(serve):
    lorises = [link_to(serve) for _ in range(200)]
    for number, link in enumerate(lorises):
        link.sendall(b"POST /invocations HTTP/1.1\r\nX-%d: " % number)
    for _ in range(3):
        for link in lorises:
            link.sendall(b"a")
        assert serve.say(text="In between.").status_code == 200
    for link in lorises:
        link.close()


def test_a_half_closed_client_is_taken_as_gone_and_frees_its_place(serve):
    with link_to(serve) as link:
        link.sendall(post())
        link.shutdown(socket.SHUT_WR)
        read_all(link)


@pytest.mark.parametrize("bytes_", [
    b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 20_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: a\r\n" % i for i in range(4000)) + b"\r\n",
])
def test_oversized_headers_get_431(serve, bytes_):
    assert answer_to(serve, bytes_).split(b"\r\n")[0].split(b" ")[1] == b"431"


@memory_is_ours
@pytest.mark.parametrize("start", [b"1;", b"0\r\nx: "])
def test_what_frames_a_body_is_limited_too(serve, start):
    before = figure(serve, "headroom_resident_memory_bytes")
    with link_to(serve) as link:
        link.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + start)
        with pytest.raises(OSError):
            for _ in range(60):
                link.sendall(b"x" * (1 << 20))
            link.settimeout(0.1)
            read_all(link)  # where nothing ends it, nothing answers either
        assert figure(serve, "headroom_resident_memory_bytes") - before < 20e6


def test_a_get_may_be_a_head_and_may_name_the_host(serve):
    with link_to(serve) as link:
        link.sendall(b"HEAD /ping HTTP/1.1\r\nHost: x\r\n\r\nGET http://x/ping?a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        head, get, body = read_all(link).split(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ") and get.startswith(b"HTTP/1.1 200 ")
    assert body and head.lower().endswith(b"content-length: %d" % len(body))


@pytest.mark.parametrize("bytes_", [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 4,
    b"GET / HTTP/9.9\r\n\r\n", b"G\x00T / HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\nnothing\r\n\r\n",
    b"POST /invocations HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /invocations HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /invocations HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}{}",
    b"POST /invocations HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /invocations HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    b"POST /invocations HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc",
])
def test_broken_requests_get_a_refusal_and_the_end(serve, bytes_):
    first = answer_to(serve, bytes_).split(b"\r\n")[0]
    assert first.split(b" ")[1] in (b"400", b"413", b"408"), first


def test_random_bytes_end_no_process(serve):
    rng = random.Random(20)
    for _ in range(200):
        with link_to(serve) as link:
            try:
                link.sendall(rng.randbytes(rng.randrange(1, 600)) + b"\r\n\r\n")
            except OSError:
                pass


def test_pipelined_requests_are_answered_one_after_another(serve):
    answer = answer_to(serve, post() * 19 + post(extra=b"Connection: close\r\n"))
    assert answer.count(b"HTTP/1.1 200") == 20


def old_client(server, **body):
    """A connection on which HTTP/1.0 has asked for speech."""
    link = link_to(server)
    link.sendall(post(json.dumps(body).encode()).replace(b"HTTP/1.1", b"HTTP/1.0"))
    return link


def test_old_clients_get_bare_bytes_up_to_a_good_end(serve):
    body = {"text": "One here. Two here.", "format": "pcm"}
    meant = serve.say(**body).content
    for stream in (True, False):
        answer = b""
        with old_client(serve, stream=stream, **body) as link:
            while part := link.recv(65536):  # a reset would raise
                answer += part
        head, _, sound = answer.partition(b"\r\n\r\n")
        assert sound == meant and b"transfer-encoding" not in head.lower(), head
        assert (b"content-length" in head.lower()) != stream, head


def test_old_clients_see_a_broken_end_as_a_reset(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "1000", "--overhead-ms", "0", "--paced-unit", "sentence")
    with old_client(server, text="One here. " * 30, stream=True, format="pcm") as link:
        assert link.recv(65536).startswith(b"HTTP/1.1 200 ")
        server.stop(signal.SIGKILL)
        with pytest.raises(ConnectionResetError):
            while link.recv(65536):
                pass


def test_chunked_bodies_arrive(serve):
    body = b'{"text":"In chunks."}'
    chunks = b"".join(b"1\r\n%c\r\n" % c for c in body) + b"0\r\n\r\n"
    head = b"POST /invocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    assert b" 200 " in answer_to(serve, head, chunks).split(b"\r\n")[0]


@pytest.mark.parametrize("extra", [b"", b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
                                   b"Connection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Version: 13\r\n",
                                   b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n",
                                   b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n"])
def test_bad_upgrades_get_426(serve, extra):
    answer = answer_to(serve, b"GET /invocations-bidirectional-stream HTTP/1.1\r\nHost: x\r\n" + extra + b"\r\n\r\n")
    assert answer.split(b"\r\n")[0].split(b" ")[1] == b"426"


def test_who_speaks_before_the_handshake_is_answered_is_cut(serve):
    assert b" 101 " not in answer_to(serve, UPGRADE + b"\r\n" + frame(0x81, b'{"text":"early"}')).split(b"\r\n")[0]


@pytest.mark.parametrize(("bytes_", "code"), [
    (b"\x81\x05hello", 1002), (frame(0x83, b"x"), 1002), (frame(0xF1, b"x"), 1002), (frame(0x80, b"x"), 1002),
    (frame(0x89, b"x" * 126), 1002), (frame(0x81, b"\xc3\x28"), 1007), (frame(0x81, b"", length=1 << 62), 1009),
    (frame(0x82, b"x" * ((1 << 20) + 1)), 1009), (frame(0x88, b"\x03"), 1002), (frame(0x88, struct.pack(">H", 1005)), 1002),
])
def test_broken_frames_end_the_session_with_their_code(serve, bytes_, code):
    with raw_session(serve) as link:
        link.sendall(bytes_[:1000])  # the head of a frame says how long it is; its end is not waited for
        answer = read_all(link)
    assert answer[0] == 0x88 and struct.unpack(">H", answer[2:4])[0] == code


def test_masks_and_fragments_are_understood(serve):
    message = json.dumps({"text": "In three parts.", "request_id": "f"}).encode()
    with raw_session(serve) as link:
        link.sendall(frame(0x01, message[:9], b"mask") + frame(0x89, b"ping", b"1234") + frame(0x00, message[9:20], os.urandom(4))
                     + frame(0x80, message[20:], b"\xff\x00\xff\x00"))
        heard = b""
        while b"synthesis_start" not in heard:
            part = link.recv(4096)
            assert part, heard
            heard += part
        assert heard.startswith(b"\x8a\x04ping")


def test_hundreds_of_sessions_come_and_go(serve):
    def visit(number):
        with raw_session(serve) as link:
            link.sendall(frame(0x81, json.dumps({"text": "Hello and goodbye.", "request_id": str(number)}).encode()))
            if number % 2:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends with a reset

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(visit, range(400)))
    wait_for(lambda: figure(serve, "headroom_websocket_sessions") == 0)


@memory_is_ours
def test_a_deaf_client_costs_little_memory_and_its_own_time_only(tmp_path):
    """Nothing more is spoken for a stream whose client takes nothing; the buffers stay small."""
    text = " ".join(f"This is sentence number {n} of a very long tale." for n in range(600))
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "0", "--overhead-ms", "0", "--paced-unit", "sentence",
                   "--max-text", "100000")
    try:
        before = figure(server, "headroom_resident_memory_bytes")
        links = []
        for _ in range(4):  # each would be some 190 MB of audio
            link = socket.socket()
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            link.connect(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
            link.sendall(post(json.dumps({"text": text, "stream": True, "format": "pcm", "sample_rate": 48000}).encode()))
            links.append(link)
        with session(server, close_timeout=0.2) as deaf:
            for number in range(3):
                deaf.send(json.dumps({"text": text, "request_id": str(number)}))

            def spoken():
                first = figure(server, "headroom_audio_seconds_total")
                time.sleep(0.3)
                return figure(server, "headroom_audio_seconds_total") == first

            wait_for(spoken)
            assert figure(server, "headroom_resident_memory_bytes") - before < 60e6
            assert figure(server, "headroom_audio_seconds_total") < 0.5 * 5 * len(text) / 15
            assert server.say(text="The others are served.", timeout=20).status_code == 200
            deaf.send(json.dumps({"type": "cancel", "request_id": "0"}))
        for link in links:
            link.close()
        wait_for(lambda: figure(server, "headroom_outstanding_requests") == 0)
    finally:
        server.stop()


@memory_is_ours
def test_slow_readers_of_whole_answers_hold_no_more_than_the_limit(tmp_path):
    """Their requests have ended, so no limit of requests counts them; the oldest give way to those who read."""
    text = " ".join(f"This is sentence number {n} of a very long tale." for n in range(190))
    body = json.dumps({"text": text, "format": "pcm", "sample_rate": 24000}).encode()
    limit = 80_000_000
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "0", "--overhead-ms", "0", "--paced-unit", "sentence",
                   "--max-unsent-bytes", str(limit))
    try:
        before = figure(server, "headroom_resident_memory_bytes")
        links = []
        for _ in range(10):  # some 28 MB each
            link = link_to(server)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            link.sendall(post(body))
            assert link.recv(1) == b"H"  # it is ready, and its client reads no more of it
            links.append(link)
            assert figure(server, "headroom_outstanding_requests") == 0
        wait_for(lambda: figure(server, "headroom_unsent_answer_bytes") <= limit)
        assert figure(server, "headroom_cut_answers_total") >= 7
        assert figure(server, "headroom_resident_memory_bytes") - before < 200e6
        assert len(server.say(text=text, format="pcm").content) > 20_000_000
        with pytest.raises(ConnectionResetError):
            while links[0].recv(65536):
                pass
        for link in links:
            link.close()
        wait_for(lambda: figure(server, "headroom_unsent_answer_bytes") == 0)
    finally:
        assert server.stop() == 0


def test_who_talks_and_never_listens_is_cut_before_its_errors_fill_the_memory(serve):
    before = figure(serve, "headroom_resident_memory_bytes")
    garbage = frame(0x81, b"x") * 5_000
    with raw_session(serve) as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        with pytest.raises(OSError):
            for _ in range(500):
                link.sendall(garbage)
    wait_for(lambda: figure(serve, "headroom_websocket_sessions") == 0)
    assert figure(serve, "headroom_resident_memory_bytes") - before < 120e6


@memory_is_ours
@pytest.mark.parametrize("times", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_eight_streams_with_four_dropped_many_times_leave_memory_flat(tmp_path, times):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2", "--overhead-ms", "0", "--paced-unit", "sentence")
    text = " ".join(f"Sentence number {n}." for n in range(12))

    def listen(number):
        with requests.post(server.url + "/invocations", json={"text": text, "stream": True}, stream=True, timeout=60 * SLOW) as answer:
            got = b""
            for part in answer.iter_content(8192):
                got += part
                if number % 2:
                    return None  # leaves after the first part
            return got

    try:
        sizes = []
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(times):
                heard = list(pool.map(listen, range(8)))
                assert len({part for part in heard if part is not None}) == 1
                sizes.append(figure(server, "headroom_resident_memory_bytes"))
        tenth = times // 10
        assert max(sizes[-tenth:]) - max(sizes[tenth:3 * tenth]) < 8e6
        assert server.say(text="The next one is fine.").status_code == 200
        with session(server) as link:
            link.send(json.dumps({"text": "This way too.", "request_id": "a"}))
            assert hear(link, "a").audio
    finally:
        server.stop()
