"""What surrounds speech in tts-serve: events, metrics by their golden names, EMF, logs, keys, TLS, CORS."""

import base64
import contextlib
import http.client
import itertools
import json
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import time

import pytest
import requests
from local_cloud import wait_for
from serve_tools import Serve, hear, session
from websockets.sync.client import connect

PACED = ("--engine", "paced", "--service-ms", "10", "--overhead-ms", "0")
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "serve-metrics.txt"


def test_events_of_invocations_carry_start_audio_and_summary(tmp_path):
    server = Serve(tmp_path, *PACED, "--paced-unit", "sentence")
    try:
        plain = server.say(text="One here. Two here.", format="pcm", stream=True).content
        answer = server.say(text="One here. Two here.", format="pcm", transport="sse")
        assert answer.headers["content-type"] == "text/event-stream"
        events = [dict(line.split(": ", 1) for line in block.split("\n")) for block in answer.text.strip().split("\n\n")]
        assert [e["event"] for e in events] == ["synthesis_start", "audio", "audio", "synthesis_complete"]
        assert b"".join(base64.b64decode(json.loads(e["data"])["audio"]) for e in events[1:-1]) == plain
        end = json.loads(events[-1]["data"])
        assert end["duration_s"] == pytest.approx(len(plain) / 48000, abs=1e-3) and len(end["timings"]["segments"]) == 2
        assert server.say(text="x", transport="sse", voice="nobody").status_code == 400
        assert server.say(text="x", transport="fax").json()["error"]["code"] == "invalid_field"
    finally:
        server.stop()


def test_metrics_have_their_golden_names(tmp_path):
    """Dashboards and alarms are built on these names; a change of the list is a change of the interface."""
    server = Serve(tmp_path, *PACED, "--max-queue-depth", "1", "--paced-unit", "sentence")
    try:
        server.say(text="One. Two. Three.", stream=True)
        server.say(text="x", voice="nobody")
        with session(server) as link:
            link.send(json.dumps({"text": "One.", "request_id": "a"}))
            hear(link, "a")
        text = requests.get(server.url + "/metrics", timeout=20).text
        names = sorted(set(re.findall(r"^# TYPE (\S+ \S+)$", text, re.M)))
        assert names == GOLDEN.read_text().splitlines()
        for line in ('headroom_requests_offered_total{route="/invocations"} 2', 'headroom_requests_accepted_total{route="/invocations"} 2',
                     'headroom_requests_total{outcome="ok",route="/invocations-bidirectional-stream"} 1',
                     'headroom_rejections_total{reason="unknown_voice"} 1', "headroom_playback_margin_seconds_count 2",
                     'headroom_stage_seconds{stage="warmup_done"}'):
            assert line in text, line
    finally:
        server.stop()


def test_emf_lines_tell_the_load_of_each_period(tmp_path):
    server = Serve(tmp_path, *PACED, "--max-queue-depth", "2", "--emf",
                   environment={"TTS_ENDPOINT_NAME": "speech", "TTS_VARIANT_NAME": "AllTraffic", "TTS_EMF_FAST": "5"})
    try:
        began = time.time()

        def lines():
            return [json.loads(line) for line in server.log().splitlines() if line.startswith('{"_aws"')]

        def busy():
            return [line for line in lines() if line["OfferedRequests"]]

        wait_for(lines, timeout=40)
        assert lines()[0]["OfferedRequests"] == lines()[0]["OutstandingMaximum"] == 0  # an idle instance tells its load too
        for _ in range(5):
            server.say(text="Counted.")
        wait_for(lambda: sum(line["OfferedRequests"] for line in lines()) == 5 * 5, timeout=40)  # as if 2 s had been 10
        first = busy()[0]
        declared = first["_aws"]["CloudWatchMetrics"][0]
        assert declared["Namespace"] == "Headroom" and declared["Dimensions"] == [["EndpointName", "VariantName"]]
        assert {m["Name"]: (m["Unit"], m["StorageResolution"]) for m in declared["Metrics"]} == {
            name: ("Count", 1) for name in ("OfferedRequests", "AcceptedRequests", "OutstandingMaximum", "OutstandingAverage")}
        assert (first["EndpointName"], first["VariantName"]) == ("speech", "AllTraffic")
        assert sum(line["AcceptedRequests"] for line in lines()) == 5 * 5
        assert first["OutstandingMaximum"] == 1 and 0 < first["OutstandingAverage"] < 1
        assert first["_aws"]["Timestamp"] / 1000 >= began
        # What a session refuses by itself was offered too: 64 may wait, the 65th and 66th may not.
        server.stop()
        (tmp_path / "session").mkdir()
        server = Serve(tmp_path / "session", "--engine", "paced", "--service-ms", "3000", "--emf", "--emf-fast", "10")
        with session(server) as link:
            for number in range(66):
                link.send(json.dumps({"text": "Wait.", "request_id": str(number)}))
            texts = (json.loads(message) for message in iter(lambda: link.recv(timeout=60), None) if isinstance(message, str))
            refused = list(itertools.islice((event for event in texts if event["type"] == "error"), 2))
            assert [(e["request_id"], e["error"]["code"]) for e in refused] == [("64", "queue_saturated"), ("65", "queue_saturated")]
            wait_for(lambda: sum(line["OfferedRequests"] for line in lines()) == 66 * 10, timeout=40)
            text = requests.get(server.url + "/metrics", timeout=20).text
            assert 'headroom_requests_offered_total{route="/invocations-bidirectional-stream"} 66' in text
            assert 'headroom_rejections_total{reason="queue_saturated"} 2' in text
        server.stop(signal.SIGKILL)  # nobody waits for what is being spoken
    finally:
        server.stop()


def test_requests_are_logged_by_their_ids_and_text_only_when_asked(tmp_path):
    (tmp_path / "quiet").mkdir()
    (tmp_path / "loud").mkdir()
    secret = 'My "secret"\nnumber'
    for folder, options, shown in (("quiet", (), False), ("loud", ("--log-text",), True)):
        server = Serve(tmp_path / folder, *PACED, *options)
        requests.post(server.url + "/invocations", json={"text": secret}, headers={"x-request-id": "trace-7"}, timeout=20)
        wait_for(lambda at=server: "id=trace-7" in at.log())
        line = next(row for row in server.log().splitlines() if "id=trace-7" in row)
        for word in ("route=/invocations", "outcome=ok", "voice=af_heart", "characters=18", "queue_ms=", "synthesis_ms=",
                     "first_audio_ms="):
            assert word in line
        assert ('text="My \\"secret\\" number"' in line) == shown
        assert shown or "secret" not in server.log()
        assert server.stop() == 0


def test_keys_are_asked_for_everywhere_but_at_ping(tmp_path):
    (tmp_path / "keys").write_text("# team a\nfirst-key\n\nsecond-key\n")
    server = Serve(tmp_path, *PACED, "--api-key-file", str(tmp_path / "keys"))
    try:
        assert requests.get(server.url + "/health", timeout=20).status_code == 200
        for headers, status in (({}, 401), ({"authorization": "Bearer wrong"}, 401), ({"authorization": "Bearer second-key"}, 200),
                                ({"x-api-key": "first-key"}, 200), ({"authorization": "Basic first-key"}, 401)):
            answer = requests.post(server.url + "/invocations", json={"text": "Hi."}, headers=headers, timeout=20)
            assert answer.status_code == status, headers
        refused = requests.get(server.url + "/metrics", timeout=20)
        assert refused.status_code == 401 and refused.json()["error"]["code"] == "unauthorized" and refused.headers["www-authenticate"]
        with session(server, additional_headers={"authorization": "Bearer first-key"}) as link:
            link.send(json.dumps({"text": "Hi.", "request_id": "a"}))
            assert hear(link, "a").audio
        assert "first-key" not in server.log()
    finally:
        server.stop()


def start_with_tls(tmp_path, *options):
    """The server, its port, and a context that trusts it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / "key.pem",
                    "-out", tmp_path / "cert.pem"], check=True, capture_output=True)
    server = Serve(tmp_path, *options, "--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"), wait=False)
    wait_for(lambda: "=== STAGE ready" in server.log())
    port = re.search(r"listening on 127\.0\.0\.1:(\d+)", server.log()).group(1)
    return server, port, ssl.create_default_context(cafile=tmp_path / "cert.pem")


def test_a_client_that_says_good_bye_under_tls_is_noticed(tmp_path):
    server, port, trust = start_with_tls(tmp_path, "--engine", "paced", "--service-ms", "3000")

    def metrics():
        return requests.get(f"https://127.0.0.1:{port}/metrics", timeout=20, verify=str(tmp_path / "cert.pem")).text

    try:
        body = b'{"text":"I will not wait."}'
        with socket.create_connection(("127.0.0.1", int(port)), timeout=20) as plain:
            link = trust.wrap_socket(plain, server_hostname="127.0.0.1")
            link.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            wait_for(lambda: "headroom_outstanding_requests 1" in metrics())
            link.settimeout(0.05)
            with contextlib.suppress(OSError):
                link.unwrap()  # says good-bye; nobody answers it
            link.close()
        wait_for(lambda: 'headroom_requests_total{outcome="aborted",route="/invocations"} 1' in metrics(), timeout=10)
    finally:
        server.stop()


def test_tls_carries_every_route(tmp_path):
    server, port, trust = start_with_tls(tmp_path, *PACED)
    try:
        base = f"https://127.0.0.1:{port}"
        with requests.Session() as client:
            for stream in (False, True):
                answer = client.post(base + "/invocations", json={"text": "Secret words.", "stream": stream}, timeout=20,
                                     verify=str(tmp_path / "cert.pem"))
                assert answer.status_code == 200 and len(answer.content) > 10_000
        with connect(f"wss://127.0.0.1:{port}/invocations-bidirectional-stream", ssl=trust) as link:
            link.send(json.dumps({"text": "Secret words.", "request_id": "a"}))
            assert hear(link, "a").audio
        # A body that ends with the connection ends with TLS's good-bye; without it the read would raise SSLEOFError.
        with trust.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=20), server_hostname="127.0.0.1",
                               suppress_ragged_eofs=False) as link:
            body = b'{"text":"Secret words.","stream":true}'
            link.sendall(b"POST /invocations HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            old = b"".join(iter(lambda: link.recv(65536), b""))
        assert old.endswith(answer.content)
        with pytest.raises(requests.RequestException):
            requests.get(f"http://127.0.0.1:{port}/ping", timeout=20)
    finally:
        server.stop()


def test_tls_keeps_its_connection_after_a_streamed_answer(tmp_path):
    server, port, trust = start_with_tls(tmp_path, *PACED)
    link = http.client.HTTPSConnection("127.0.0.1", int(port), timeout=20, context=trust)
    try:
        link.connect()
        first = link.sock
        for _ in range(2):
            link.request("POST", "/invocations", b'{"text":"One.","stream":true}')
            answer = link.getresponse()
            assert answer.status == 200 and len(answer.read()) > 10_000
            assert link.sock is first  # http.client would open another one without a word
    finally:
        link.close()
        server.stop()


def test_files_that_cannot_be_used_are_named(tmp_path):
    (tmp_path / "empty").write_text("# nothing\n")
    for options, words in ((("--api-key-file", str(tmp_path / "none")), ["none", "one key a line"]),
                           (("--api-key-file", str(tmp_path / "empty")), ["empty", "no key"]),
                           (("--tls-cert", str(tmp_path / "empty"), "--tls-key", str(tmp_path / "empty")), ["empty", "PEM"]),
                           (("--tls-cert", str(tmp_path / "empty")), ["--tls-key", "both"])):
        server = Serve(tmp_path, *PACED, *options, wait=False)
        assert server.process.wait(30) != 0
        for word in words:
            assert word in server.log(), server.log()
        server.log_path.unlink()


def test_cors_is_off_by_default_and_on_for_listed_origins(tmp_path):
    page, other = "https://app.example", "https://evil.example"
    (tmp_path / "off").mkdir()
    server = Serve(tmp_path / "off", *PACED)
    answer = requests.post(server.url + "/invocations", json={"text": "Hi."}, headers={"origin": page}, timeout=20)
    assert answer.status_code == 200 and not [h for h in answer.headers if h.lower().startswith("access-control")]
    assert requests.options(server.url + "/invocations", headers={"origin": page}, timeout=20).status_code == 405
    server.stop()
    server = Serve(tmp_path, *PACED, "--cors-origin", page)
    try:
        for stream in (False, True):
            answer = requests.post(server.url + "/invocations", json={"text": "Hi.", "stream": stream}, headers={"origin": page},
                                   timeout=20)
            assert answer.headers["access-control-allow-origin"] == page
            assert "x-request-id" in answer.headers["access-control-expose-headers"]
        asked = requests.options(server.url + "/v1/audio/speech", timeout=20,
                                 headers={"origin": page, "access-control-request-method": "POST",
                                  "access-control-request-headers": "authorization,x-stainless-os"})
        assert asked.status_code == 204 and "POST" in asked.headers["access-control-allow-methods"]
        assert asked.headers["access-control-allow-headers"] == "authorization,x-stainless-os"
        assert "content-length" not in asked.headers and asked.headers["access-control-allow-origin"] == page
        assert {name.strip().lower() for name in asked.headers["vary"].split(",")} == {"origin", "access-control-request-headers"}
        assert "access-control-allow-origin" not in requests.get(server.url + "/ping", headers={"origin": other}, timeout=20).headers
        with session(server, origin=page) as link:
            link.send(json.dumps({"text": "Hi.", "request_id": "a"}))
            assert hear(link, "a").audio
    finally:
        server.stop()
