#!/usr/bin/env python3
"""A stand-in for tts-serve with faults on demand: the body's "do" says what happens to a request.

ok (default) echoes; slow waits "s" seconds; status answers "code"; cut closes in mid-stream; die ends the process;
stream sends "n" parts "s" seconds apart, or parts of "sizes" bytes, those after the first when the file "gate" exists.
TTS_FAKE_START=fail ends at once, TTS_FAKE_START=hang never answers /ping.
"""

import http.server
import json
import os
import signal
import sys
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_args):
        pass

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200 if os.environ.get("TTS_FAKE_START") != "hang" else 503, b"{}")

    def part(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def sized_parts(self, sizes, gate):
        data = bytes(i % 251 for i in range(sum(sizes)))
        for i, size in enumerate(sizes):
            while i and not os.path.exists(gate):
                time.sleep(0.02)
            self.part(data[:size])
            data = data[size:]

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            order = json.loads(body)
        except ValueError:
            return self.answer(400, b'{"error":{"code":"invalid_json"}}')
        what = order.get("do", "ok")
        print(f"request {what} {self.headers.get('x-request-id')}", flush=True)
        if what == "slow":
            time.sleep(order["s"])
        if what == "status":
            return self.answer(order["code"], b'{"error":{"code":"chosen"}}')
        if what == "die":
            os._exit(9)
        if what in ("stream", "cut", "die-in-stream"):
            self.send_response(200)
            self.send_header("Content-Type", "audio/pcm")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.sized_parts(order.get("sizes", []), order.get("gate"))
            for i in range(0 if "sizes" in order else order.get("n", 3)):
                self.part(b"part-%d" % i)
                time.sleep(order.get("s", 0.02))
            if what == "cut":
                self.close_connection = True
                return None
            if what == "die-in-stream":
                os._exit(9)
            return self.part(b"")
        headers = {k.lower(): v for k, v in self.headers.items()}
        env = {k: v for k, v in os.environ.items()}
        return self.answer(200, json.dumps({"pid": os.getpid(), "headers": headers, "env": env}).encode())


def main():
    if os.environ.get("TTS_FAKE_START") == "fail":
        print("no model in /nowhere", flush=True)
        sys.exit(1)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["SAGEMAKER_BIND_TO_PORT"])), Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    print("=== STAGE ready ===", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
