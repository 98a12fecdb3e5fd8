"""The load driver against servers that stop, reset, refuse and hang, and on a core that is not its own."""

import csv
import http.server
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
from bench_tools import without_its_core
from fault_server import FaultServer
from local_cloud import BIN, ROOT, SLOW, wait_for

pytestmark = pytest.mark.alone

BENCH = BIN / "tts-bench"
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "TTS_"))}


def bench(folder: pathlib.Path, *words, timeout: float = 60) -> subprocess.CompletedProcess:
    return subprocess.run([BENCH, *words, "--out", folder], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout * SLOW)


def load(folder: pathlib.Path, *words, codes=(0, 4), timeout: float = 60) -> dict:
    done = bench(folder, "load", "--json", *words, timeout=timeout)
    assert done.returncode in codes, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    out = json.loads(done.stdout)
    assert out["started"] == out["ok"] + out["rejected"] + out["failed"] + out["timed_out"] + out["aborted"]
    return out


def requests_of(folder: pathlib.Path, out: dict) -> list:
    done = bench(folder, "export", out["requests"])
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


class KnownDelay:
    """The server of known delay as a process, so that it can be stopped."""

    def __init__(self, *options):
        self.process = subprocess.Popen([BENCH, "selftest", "--serve", *options], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        self.url = "http://" + re.search(r"listening on (\S+)", self.process.stdout.readline()).group(1)

    def __enter__(self) -> "KnownDelay":
        return self

    def __exit__(self, *_) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()

    def wait_for_client(self, timeout: float = 30) -> None:
        local = f":{int(self.url.rsplit(':', 1)[1]):04X}"
        deadline = time.monotonic() + timeout * SLOW
        while time.monotonic() < deadline:
            rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
            if any(row[1].endswith(local) and row[3] == "01" for row in rows):  # established
                return
            time.sleep(0.01)
        raise AssertionError("no client came")

    def stats(self) -> dict:
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=20)[0])


def test_a_stopped_server_is_seen_from_the_planned_starts(tmp_path):
    with KnownDelay("--first", "20ms", "--chunks", "1") as server:
        stopped = []

        def stop() -> None:
            server.wait_for_client()
            time.sleep(1.5)
            server.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            time.sleep(2)
            server.process.send_signal(signal.SIGCONT)
            stopped.append(time.monotonic() - began)
        stopper = threading.Thread(target=stop)
        stopper.start()
        out = load(tmp_path, "--http", server.url, "--rate", "50", "--duration", "6")
        stopper.join()
    # A third of the run stood still; a client that waits with the server would have sent one request in that time.
    assert out["started"] == 300 and out["ok"] == 300
    assert out["ttfab_ms"]["max"] > 1900
    assert out["ttfab_ms"]["p90"] > 1100  # 300 planned, 100 in the stop, waits falling from 2 s to 0: p90 is about 1.4 s
    late = sum(float(r["first_byte_ms"]) > 500 for r in requests_of(tmp_path, out))
    planned = 50 * (stopped[0] - 0.5)  # those planned in the stop, but for its last half second
    assert abs(late - planned) <= 15, (late, planned)


def test_never_more_than_n_and_the_wait_for_room_is_said(tmp_path):
    with KnownDelay("--first", "20ms", "--gap", "5ms", "--chunks", "3") as server:
        out = load(tmp_path, "--http", server.url, "--n", "40", "--duration", "2", "--driver-threads", "2")
        assert out["in_flight"]["over_limit"] == 0 and out["in_flight"]["max"] <= 40 and out["in_flight"]["samples"] >= 10
        assert server.stats()["most_outstanding"] <= 40
    with KnownDelay("--first", "100ms", "--chunks", "1") as server:
        out = load(tmp_path, "--http", server.url, "--rate", "60", "--most-outstanding", "2", "--patience", "500ms", "--duration", "3")
        assert server.stats()["most_outstanding"] <= 2
    assert out["dropped"] > 60  # 60 a second asked, 20 served
    assert out["cap_wait_ms"]["p95"] > 300
    assert out["ttfab_ms"]["p95"] >= out["cap_wait_ms"]["p95"]  # in the latency, and said apart


def test_resets_are_counted_each_and_the_run_ends(tmp_path):
    with FaultServer(delay=0.05, every=100, fault="reset") as server:
        out = load(tmp_path, "--http", server.url, "--n", "128", "--duration", "2")
    rows = requests_of(tmp_path, out)  # the window of the report leaves out what started after it
    assert len(rows) == server.requests and server.faults > 5
    failed = [r for r in rows if r["outcome"] == "failed"]
    assert len(failed) == server.faults and all("reset" in r["error"] for r in failed)
    assert all(r["outcome"] == "ok" for r in rows if r not in failed)
    assert out["failed"] > 0 and "reset" in next(iter(out["errors"]))


def test_a_body_cut_short_is_no_success(tmp_path):
    with FaultServer(every=10, fault="cut") as server:
        out = load(tmp_path, "--http", server.url, "--n", "4", "--duration", "1")
    failed = [r for r in requests_of(tmp_path, out) if r["outcome"] == "failed"]
    assert len(failed) == server.faults > 0 and all("middle of the answer" in r["error"] for r in failed)


def test_fast_refusals_leave_the_latency_of_successes_alone(tmp_path):
    with FaultServer(delay=0.1, every=5, fault="refuse") as server:
        out = load(tmp_path, "--http", server.url, "--n", "10", "--duration", "2")
    assert out["rejected"] > 5 and out["failed"] == 0
    assert out["ttfab_ms"]["p50"] >= 100  # no refusal, which took no time, is among them
    rows = requests_of(tmp_path, out)
    assert sum(r["outcome"] == "rejected" for r in rows) == server.faults
    ok = [r for r in rows if r["outcome"] == "ok"]
    assert min(float(r["first_byte_ms"]) for r in ok) >= 99
    assert out["rps"] <= out["ok"] / 2 + 0.01  # throughput of successes only


def test_what_hangs_at_the_end_is_aborted_with_its_age(tmp_path):
    with FaultServer(delay=0.02, every=20, fault="hang") as server:
        out = load(tmp_path, "--http", server.url, "--n", "10", "--duration", "2", "--grace", "200ms")
    assert 1 <= out["aborted"] <= 10 and out["timed_out"] == 0
    aborted = [r for r in requests_of(tmp_path, out) if r["outcome"] == "aborted"]
    assert max(float(r["end_s"]) - float(r["start_s"]) for r in aborted) > 0.5
    assert all(r["first_byte_ms"] == "" for r in aborted)


def test_nothing_successful_is_said_and_is_valid(tmp_path):
    with FaultServer(delay=30) as server:
        done = bench(tmp_path, "load", "--json", "--http", server.url, "--n", "3", "--duration", "2500ms", "--request-timeout", "1")
    assert done.returncode == 1 and "no successful request" in done.stderr
    out = json.loads(done.stdout)
    assert out["ok"] == 0 and out["timed_out"] >= 3 and out["ttfab_ms"] is None and out["rps"] == 0


def test_a_client_without_its_core_judges_nothing(tmp_path):
    with KnownDelay("--first", "30ms", "--chunks", "1") as server:
        process = subprocess.Popen([BENCH, "qmax", "--http", server.url, "--method", "ladder", "--rungs", "2", "--hold", "3", "--judge",
                                    "3", "--idle", "0", "--out", tmp_path], env=ENVIRONMENT, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        text = without_its_core(process)
    assert process.returncode == 4, text
    rungs = json.loads((tmp_path / "qmax.json").read_text())["rungs"]
    assert rungs and all(rung["verdict"] == "client_bound" for rung in rungs), text


def test_cancellation_rate(tmp_path):
    with FaultServer(delay=0.01, pieces=3, gap=0.02) as server:
        out = load(tmp_path, "--http", server.url, "--n", "8", "--duration", "2", "--cancel-share", "0.25")
    share = out["aborted"] / out["started"]
    assert 0.15 < share < 0.35 and out["failed"] == 0, out


def test_audio_is_read_while_it_streams(tmp_path):
    # 0.1 s of audio every 0.2 s: a player with 200 ms in its buffer runs dry; each piece is silent for its first half.
    with FaultServer(delay=0.01, pieces=6, gap=0.2) as server:
        out = load(tmp_path, "--http", server.url, "--n", "2", "--duration", "3")
    assert out["underruns"] >= out["ok"] > 0
    assert out["first_audible_ms"]["p50"] == pytest.approx(out["ttfab_ms"]["p50"], abs=1)
    row = requests_of(tmp_path, out)[0]
    assert float(row["audio_s"]) == pytest.approx(0.6) and int(row["chunks"]) >= 1


def test_any_container_by_a_body_template(tmp_path):
    template = tmp_path / "body.xml"
    template.write_text("<speak voice='{{voice}}'>{{text}}</speak>")

    def right(line: str, headers: dict, body: bytes) -> bool:
        return line == "POST /tts HTTP/1.1" and headers["content-type"] == "application/ssml+xml" \
            and headers.get("x-key") == "k" and re.fullmatch(rb"<speak voice='af_heart'>.{5,}</speak>", body) is not None

    with FaultServer(delay=0.02, check=right) as server:
        done = bench(tmp_path, "qmax", "--http", server.url + "/tts", "--body-template", template, "--content-type", "application/ssml+xml",
                     "--header", "X-Key: k", "--method", "ladder", "--rungs", "1,2", "--hold", "1", "--judge", "1", "--idle", "0")
    assert done.returncode in (0, 4), done.stdout + done.stderr
    assert server.requests > 10 and not server.wrong
    artifact = json.loads((tmp_path / "qmax.json").read_text())
    assert artifact["fingerprint"]["transport"] == "template over http" and artifact["rungs"][0]["ok"] > 0
    assert "X-Key" not in json.dumps(artifact)  # a header may be a secret


def test_what_cannot_work_is_named(tmp_path):
    done = bench(tmp_path, "drift", "--http", "http://127.0.0.1:1")
    assert done.returncode == 2 and "bare server" in done.stderr
    done = bench(tmp_path, "load", "--http", "http://127.0.0.1:1")
    assert done.returncode == 1 and "cannot connect" in done.stderr and "is it running" in done.stderr
    plain = tmp_path / "no_place"
    plain.write_text("{}")
    done = bench(tmp_path, "load", "--http", "http://127.0.0.1:1", "--body-template", plain)
    assert done.returncode == 2 and "{{text}}" in done.stderr


@pytest.mark.parametrize("command", ["export", "cost"])
def test_a_result_that_could_not_be_printed_is_a_failure(tmp_path, command):
    if command == "export":
        with KnownDelay("--first", "5ms", "--chunks", "1") as server:
            words = ["export", load(tmp_path, "--http", server.url, "--n", "1", "--duration", "1", "--warm-up", "0s")["requests"]]
    else:
        (tmp_path / "e").mkdir()
        (tmp_path / "e" / "qmax.json").write_text((ROOT / "tests" / "golden" / "qmax-published.json").read_text())
        words = ["cost", "--artifacts", tmp_path]
    assert bench(tmp_path, *words).returncode == 0
    with open("/dev/full", "w") as full:
        done = subprocess.run([BENCH, *words], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                              text=True, timeout=60 * SLOW)
    assert done.returncode == 1 and "could not all be written to standard output" in done.stderr, done.stderr


@pytest.fixture
def full_disk(tmp_path):
    """A file of requests that breaks at its first block."""
    wanted = tmp_path / "r.gz"
    partial = tmp_path / "r.gz.partial"
    partial.symlink_to("/dev/full")
    yield wanted
    assert partial.is_symlink() and not wanted.exists() and not wanted.is_symlink()


@pytest.mark.parametrize("words", [("load", "--duration", "1"), ("latency", "--count", "2")])
def test_a_load_is_reported_though_its_requests_could_not_be_written(tmp_path, full_disk, words):
    with KnownDelay("--first", "5ms", "--chunks", "1") as server:
        done = bench(tmp_path, *words, "--http", server.url, "--records", full_disk)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"warning: the requests could not all be written; what there is lies in '{full_disk}.partial'" in done.stderr
    report = json.loads((tmp_path / f"{words[0]}.json").read_text())
    assert report["ok"] > 0 and "requests" not in report and "could not all be written" in report["requests_note"]


def test_qmax_notes_that_its_requests_could_not_be_written(tmp_path, full_disk):
    with KnownDelay("--first", "5ms", "--chunks", "1") as server:
        done = bench(tmp_path, "qmax", "--method", "ladder", "--rungs", "1", "--hold", "1", "--judge", "1", "--idle", "0s",
                     "--http", server.url, "--records", full_disk)
    assert "warning: the requests could not all be written" in done.stderr
    assert any("could not all be written" in note for note in json.loads((tmp_path / "qmax.json").read_text())["notes"])


def test_an_unbounded_queue_cannot_be_required_of_a_bare_server(tmp_path):
    done = bench(tmp_path, "qmax", "--http", "http://127.0.0.1:9", "--require-unbounded-queue")
    assert done.returncode == 2 and "--require-unbounded-queue" in done.stderr


def test_a_trace_sends_each_text_at_its_own_time(tmp_path):
    heard = []

    class Listener(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            heard.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"\1\0")

        def log_message(self, *_):
            pass

    trace = tmp_path / "trace.jsonl"
    trace.write_text("".join(json.dumps({"text": text, "t_s": at}) + "\n"
                             for text, at in [("third", 0.6), ("never", 5), ("first", 0.2), ("second", 0.4)]))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=server.serve_forever).start()
    try:
        out = load(tmp_path, "--http", f"http://127.0.0.1:{server.server_port}", "--workload", f"file:{trace}",
                   "--arrivals", "trace", "--duration", "1")
    finally:
        server.shutdown()
    assert heard == ["first", "second", "third"] and out["ok"] == 3
    assert [row["index"] for row in requests_of(tmp_path, out)] == ["2", "3", "0"]


def test_a_command_without_an_endpoint_ends_at_a_signal_like_any_program(tmp_path):
    path = tmp_path / "requests.jsonl.gz"
    os.mkfifo(path)
    run = subprocess.Popen([BENCH, "export", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def reads():  # only then the other end can be opened
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    other_end = wait_for(reads)
    run.send_signal(signal.SIGINT)
    assert run.wait(10 * SLOW) == -signal.SIGINT, run.stdout.read()
    run.stdout.close()
    os.close(other_end)
