#!/usr/bin/env python3
"""An instance for bench/proxy.py: answers /ping, and streams "n" chunks of "bytes" bytes "every" seconds on /invocations."""

import asyncio
import json
import os


async def read_request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return head, await reader.readexactly(length)


async def serve(reader, writer):
    try:
        while True:
            head, body = await read_request(reader)
            if head.startswith(b"GET"):
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                continue
            order = json.loads(body)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nTransfer-Encoding: chunked\r\n\r\n")
            chunk = b"%x\r\n%s\r\n" % (order["bytes"], bytes(order["bytes"]))
            for i in range(order["n"]):
                if i and order["every"]:
                    await asyncio.sleep(order["every"])
                writer.write(chunk)
                await writer.drain()
            writer.write(b"0\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["SAGEMAKER_BIND_TO_PORT"]))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
