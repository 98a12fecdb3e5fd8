"""A small client of InvokeEndpointWithBidirectionalStream: HTTP/2 over TLS, SigV4, signed event frames.

Written from the captured behaviour of the official clients; `seed` chooses which of the two kinds of payload hash opens the
chain of signatures ("events": as the Python client, "empty": as the Rust client).
"""

import datetime
import hashlib
import hmac
import socket
import ssl
import struct
import time
import zlib

import h2.config
import h2.connection
import h2.events

EVENTS_HASH = "STREAMING-AWS4-HMAC-SHA256-EVENTS"


def string_header(name, value):
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()


def frame(headers, payload):
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def read_frames(data):
    """Every frame of a whole reply as (headers, payload); raises on a bad CRC or a truncated frame."""
    out = []
    while data:
        total, header_size, crc = struct.unpack(">III", data[:12])
        assert zlib.crc32(data[:8]) == crc and len(data) >= total, "a broken or truncated frame"
        assert zlib.crc32(data[:total - 4]) == struct.unpack(">I", data[total - 4:total])[0]
        headers, rest = {}, data[12:12 + header_size]
        while rest:
            name = rest[1:1 + rest[0]].decode()
            rest = rest[1 + rest[0]:]
            assert rest[0] == 7, "only string headers are expected"
            size = struct.unpack(">H", rest[1:3])[0]
            headers[name] = rest[3:3 + size].decode()
            rest = rest[3 + size:]
        out.append((headers, data[12 + header_size:total - 4]))
        data = data[total:]
    return out


class BidiStream:
    """One stream on a connection of its own."""

    def __init__(self, port, ca, endpoint="e", key="local", secret="local", region="us-east-1", seed="events", headers=(),
                 skew_s=0.0, host="localhost", path=None):
        self.secret, self.region, self.skew = secret, region, skew_s
        context = ssl.create_default_context(cafile=ca)
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=30), server_hostname=host)
        assert self.socket.selected_alpn_protocol() == "h2"
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.status, self.headers, self.data, self.ended, self.reset = None, {}, b"", False, None
        path = path or f"/endpoints/{endpoint}/invocations-bidirectional-stream"
        authority = f"{host}:{port}"
        now = self.now()
        self.scope = f"{now:%Y%m%d}/{region}/sagemaker/aws4_request"
        signed = {"host": authority, "content-type": "application/vnd.amazon.eventstream", "x-amz-date": f"{now:%Y%m%dT%H%M%SZ}",
                  **dict(headers)}
        payload = hashlib.sha256(b"").hexdigest()
        if seed == "events":
            payload = signed["x-amz-content-sha256"] = EVENTS_HASH
        names = ";".join(sorted(signed))
        canonical = "\n".join(["POST", path, "", *[f"{n}:{signed[n]}" for n in sorted(signed)], "", names, payload])
        self.prior = self.sign("\n".join(["AWS4-HMAC-SHA256", signed["x-amz-date"], self.scope,
                                          hashlib.sha256(canonical.encode()).hexdigest()])).hex()
        authorization = f"AWS4-HMAC-SHA256 Credential={key}/{self.scope}, SignedHeaders={names}, Signature={self.prior}"
        self.stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(self.stream, [
            (":method", "POST"), (":scheme", "https"), (":path", path + "?"), (":authority", authority),
            *[(n, v) for n, v in signed.items() if n != "host"], ("authorization", authorization)])
        self.flush()

    def now(self):
        return datetime.datetime.fromtimestamp(time.time() + self.skew, datetime.UTC)

    def sign(self, text):
        key = b"AWS4" + self.secret.encode()
        for part in self.scope.split("/"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).digest()

    def event(self, payload, spoil=False):
        """An outer frame around `payload`, signed and chained."""
        at = self.now()
        date = b"\x05:date\x08" + struct.pack(">q", int(at.timestamp() * 1000))
        signature = self.sign("\n".join([
            "AWS4-HMAC-SHA256-PAYLOAD", f"{at:%Y%m%dT%H%M%SZ}", self.scope, self.prior, hashlib.sha256(date).hexdigest(),
            hashlib.sha256(payload).hexdigest()]))
        self.prior = signature.hex()
        if spoil:
            signature = bytes([signature[0] ^ 1]) + signature[1:]
        return frame(date + b"\x10:chunk-signature\x06\x00\x20" + signature, payload)

    def send(self, payload, data_type="UTF8", state="COMPLETE", spoil=False, piece=0):
        headers = string_header(":message-type", "event") + string_header(":event-type", "PayloadPart")
        if data_type:
            headers += string_header("DataType", data_type)
        if state:
            headers += string_header("CompletionState", state)
        headers += string_header(":content-type", "application/octet-stream")
        self.send_raw(self.event(frame(headers, payload), spoil), piece)

    def send_raw(self, data, piece=0):
        """`piece`: bytes in each DATA frame; 0 = as few frames as allowed."""
        while data:
            self.pump(0)
            room = min(self.h2.local_flow_control_window(self.stream), self.h2.max_outbound_frame_size, piece or len(data))
            if room <= 0:
                self.pump(1)
                continue
            self.h2.send_data(self.stream, data[:room])
            data = data[room:]
            self.flush()

    def end(self, signed=True):
        if signed:
            self.send_raw(self.event(b""))
        self.h2.end_stream(self.stream)
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def pump(self, timeout):
        """Takes what arrives within `timeout` seconds; True if something did."""
        self.socket.settimeout(timeout or 0.0001)
        try:
            data = self.socket.recv(65536)
        except (TimeoutError, ssl.SSLWantReadError):
            return False
        if not data:
            self.ended = True
            return True
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                self.headers = dict(event.headers)
                self.status = int(self.headers[":status"])
            elif isinstance(event, h2.events.DataReceived):
                self.data += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, self.stream)
            elif isinstance(event, h2.events.StreamEnded):
                self.ended = True
            elif isinstance(event, h2.events.StreamReset):
                self.reset, self.ended = event.error_code, True
        self.flush()
        return True

    def wait(self, what, timeout=30):
        deadline = time.monotonic() + timeout
        while not what(self):
            assert not self.ended, f"ended before: {self.status} {self.data[-600:]}"
            assert time.monotonic() < deadline, f"waited {timeout} s in vain: {self.status} {len(self.data)} bytes"
            self.pump(0.2)
        return self

    def finish(self, timeout=60):
        return self.wait(lambda s: s.ended, timeout)

    def events(self):
        return read_frames(self.data)

    def close(self):
        self.socket.close()
