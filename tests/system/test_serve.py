"""tts-serve on the paced engine over real sockets: every refusal, whole and streamed answers, admission, drain."""

import concurrent.futures
import json
import signal
import socket
import struct
import threading

import pytest
import requests
from local_cloud import wait_for
from serve_tools import Serve

PACED = ("--engine", "paced", "--service-ms", "20", "--overhead-ms", "1")


@pytest.fixture(scope="module")
def serve(tmp_path_factory):
    server = Serve(tmp_path_factory.mktemp("serve"), *PACED)
    yield server
    assert server.stop() == 0


def test_a_whole_wav_has_true_sizes_and_a_streamed_one_says_that_its_length_is_unknown(serve):
    whole = serve.say(text="Good morning to you.").content
    assert whole[:4] == b"RIFF" and struct.unpack("<I", whole[40:44])[0] == len(whole) - 44
    streamed = serve.say(text="Good morning to you.", stream=True)
    assert streamed.headers["transfer-encoding"] == "chunked"
    assert streamed.content[40:44] == b"\xff\xff\xff\xff"
    assert streamed.content[44:] == whole[44:]


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000])
def test_every_rate_lasts_as_long(serve, rate):
    base = len(serve.say(text="Good morning.", format="pcm").content) / 2 / 24000
    assert len(serve.say(text="Good morning.", format="pcm", sample_rate=rate).content) / 2 / rate == pytest.approx(base, abs=0.001)


@pytest.mark.parametrize(("body", "status", "code", "names"), [
    (b"{", 400, "invalid_json", "JSON"),
    (b"\xff\xfe", 400, "invalid_json", "JSON"),
    (b"{}", 400, "missing_text", "text"),
    (b'{"text":""}', 400, "missing_text", "text"),
    (b'{"text":"a","voice":"../../etc/passwd"}', 400, "unknown_voice", "../../etc/passwd"),
    (b'{"text":"a","sample_rate":12345}', 400, "unsupported_sample_rate", "12345"),
    (b'{"text":"a","format":"mp4"}', 400, "unsupported_format", "mp4"),
    (b'{"text":"a","format":"exe"}', 400, "unsupported_format", "exe"),
    (b'{"text":"a","speed":9}', 400, "invalid_speed", "9"),
    (json.dumps({"text": "a" * 10_001}).encode(), 413, "text_too_long", "10001"),
])
def test_bad_input_names_the_thing(serve, body, status, code, names):
    answer = requests.post(serve.url + "/invocations", data=body, headers={"content-type": "application/json"}, timeout=20)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (status, code)
    assert names in error["message"] and error["request_id"] == answer.headers["x-request-id"]


def test_sixty_thousand_characters_with_the_limit_raised_lose_nothing(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "0", "--overhead-ms", "0", "--paced-unit", "sentence",
                   "--max-text", "60000", "--max-answer-bytes", "1000000000")
    try:
        sentence = "This sentence is one of very many in a text of the size of a book's chapter. "
        text = (sentence * 800)[:60_000]
        whole = server.say(text=text, format="pcm").content
        assert server.say(text=text, format="pcm", stream=True).content == whole
        # As several requests it lasts as long, but for the pauses between them.
        parts = [server.say(text=sentence * 80, format="pcm").content for _ in range(2)]
        assert len(whole) > 9 * len(parts[0]) and parts[0] == parts[1]
        assert server.say(text=text + "a").status_code == 413
    finally:
        server.stop()


def test_other_types_routes_and_methods_are_refused(serve):
    assert requests.post(serve.url + "/invocations", data="<a/>", headers={"content-type": "text/xml"}, timeout=20).status_code == 415
    assert requests.get(serve.url + "/invocations", timeout=20).status_code == 405
    assert requests.get(serve.url + "/../../etc/passwd", timeout=20).status_code == 404


def test_a_body_over_one_mib_is_refused_before_it_is_read(serve):
    with socket.create_connection((serve.url.split("/")[2].split(":")[0], int(serve.url.rsplit(":", 1)[1])), timeout=20) as link:
        link.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1048577\r\n\r\n")
        assert b"413" in link.recv(4096).split(b"\r\n")[0]  # not a byte of the body was sent


def test_garbage_on_the_socket_gets_a_400_and_the_server_goes_on(serve):
    with socket.create_connection(("127.0.0.1", int(serve.url.rsplit(":", 1)[1])), timeout=20) as link:
        link.sendall(b"\x16\x03\x01\x00garbage\r\n\r\n")
        assert b" 400 " in link.recv(4096).split(b"\r\n")[0]
    assert serve.say(text="Still here.").status_code == 200


def test_the_request_above_the_limit_is_refused_and_the_rest_is_served(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "600", "--max-queue-depth", "4")
    try:
        together = threading.Barrier(12)

        def say(_):
            together.wait()
            return server.say(text="One of twelve.")

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(say, range(12)))
        codes = sorted(answer.status_code for answer in answers)
        # Four fit; a fifth only if the first ended, 600 ms later, before the last one had come.
        assert codes in ([200] * 4 + [503] * 8, [200] * 5 + [503] * 7)
        refused = next(answer for answer in answers if answer.status_code == 503)
        assert refused.json()["error"]["code"] == "queue_saturated" and refused.headers["retry-after"]
        metrics = requests.get(server.url + "/metrics", timeout=20).text
        assert f'headroom_rejections_total{{reason="queue_saturated"}} {codes.count(503)}' in metrics
        assert 'headroom_requests_offered_total{route="/invocations"} 12' in metrics
        assert 'paced="true"' in metrics
    finally:
        server.stop()


def test_a_closed_loop_at_the_limit_is_never_refused(tmp_path):
    """A request stops counting before its last bytes go out, so N clients fit into a limit of N."""
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "3", "--overhead-ms", "0", "--max-queue-depth", "4")

    def client(_):
        with requests.Session() as session:
            return [session.post(server.url + "/invocations", json={"text": "Again.", "stream": True}, timeout=20).status_code
                    for _ in range(60)]

    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            codes = [code for row in pool.map(client, range(4)) for code in row]
        assert set(codes) == {200}
    finally:
        server.stop()


def test_a_stale_request_is_told_so(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2500", "--max-request-age", "600ms")
    try:
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: server.say(text="Late."), range(3)))
        codes = sorted(answer.status_code for answer in answers)
        assert codes == [200, 408, 408]
    finally:
        server.stop()


def test_sigterm_finishes_what_is_in_flight_and_refuses_the_rest(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2000", "--overhead-ms", "0")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = pool.submit(server.say, text="In flight.")
        wait_for(lambda: "headroom_outstanding_requests 1" in requests.get(server.url + "/metrics", timeout=20).text)
        server.process.send_signal(signal.SIGTERM)
        assert running.result().status_code == 200
    assert server.process.wait(30) == 0
    assert "drained: all answered" in server.log()


def test_sigterm_ends_a_start_that_is_not_ready(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "3000", wait=False)  # the warm-up takes as long
    wait_for(lambda: "listening on" in server.log())
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(30) == 0
    assert "stopped while starting" in server.log() and "=== STAGE ready" not in server.log()


def test_clients_that_leave_free_their_places(tmp_path):
    server = Serve(tmp_path, "--engine", "paced", "--service-ms", "2000", "--max-queue-depth", "3")
    try:
        links = []
        for _ in range(3):
            link = socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1])), timeout=20)
            body = b'{"text":"I will not wait.","stream":true}'
            link.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            links.append(link)
        wait_for(lambda: "headroom_outstanding_requests 3" in requests.get(server.url + "/metrics", timeout=20).text)
        for link in links:
            link.close()
        wait_for(lambda: "headroom_outstanding_requests 0" in requests.get(server.url + "/metrics", timeout=20).text)
        assert server.say(text="There is room again.").status_code == 200
    finally:
        server.stop()


def test_starts_that_cannot_work_say_why(tmp_path):
    for options, code, words in [
        (("--engine", "openvino", "--model-dir", str(tmp_path / "nowhere")), 1, ["nowhere", "./dev setup"]),
        (("--engine", "steam"), 2, ["steam", "openvino"]),
        (("--prot", "1"), 2, ["--prot", "--port"]),
        (("--workers", "many"), 2, ["many"]),
    ]:
        server = Serve(tmp_path, *options, wait=False)
        assert server.process.wait(30) == code
        for word in words:
            assert word in server.log()
        server.log_path.unlink()


def test_a_port_in_use_is_named(serve, tmp_path):
    port = serve.url.rsplit(":", 1)[1]
    other = Serve(tmp_path, "--engine", "paced", "--port", port, wait=False)
    assert other.process.wait(30) == 1
    assert port in other.log() and "choose another" in other.log()


def test_stage_lines_come_once_and_in_order(serve):
    stages = [line.split()[2] for line in serve.log().splitlines() if line.startswith("=== STAGE ")]
    assert stages == ["container_start", "weights_fetched", "framework_init", "weights_ready", "warmup_done", "ready"]
