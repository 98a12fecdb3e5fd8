"""InvokeEndpointWithBidirectionalStream through the AWS SDK for Python (pre-alpha, Python 3.12 or later): bidi.py URL ENDPOINT.

Prints a line per step. Run with the Python of a virtual environment that has aws-sdk-sagemaker-runtime-http2[awscrt].
"""

import asyncio
import json
import sys

from aws_sdk_sagemaker_runtime_http2.client import AsyncSageMakerRuntimeHTTP2Client
from aws_sdk_sagemaker_runtime_http2.config import AsyncSageMakerRuntimeHTTP2Config
from aws_sdk_sagemaker_runtime_http2.models import (
    InvokeEndpointWithBidirectionalStreamInput,
    RequestPayloadPart,
    RequestStreamEventPayloadPart,
    ResponseStreamEventPayloadPart,
)
from smithy_core.exceptions import CallError
from smithy_http.aio.crt import AWSCRTHTTPClient


async def open_stream(url, endpoint, secret):
    # The default transport, aiohttp, speaks no HTTP/2.
    config = await AsyncSageMakerRuntimeHTTP2Config.resolve(
        endpoint_uri=url, region="us-east-1", aws_access_key_id="AKID", aws_secret_access_key=secret, transport=AWSCRTHTTPClient())
    client = AsyncSageMakerRuntimeHTTP2Client(config=config)
    return await client.invoke_endpoint_with_bidirectional_stream(InvokeEndpointWithBidirectionalStreamInput(endpoint_name=endpoint))


def part(message):
    return RequestStreamEventPayloadPart(
        RequestPayloadPart(bytes_=json.dumps(message).encode(), data_type="UTF8", completion_state="COMPLETE"))


async def speak(url, endpoint):
    stream = await open_stream(url, endpoint, "right")
    await stream.input_stream.send(part({"text": "Hello there.", "request_id": "r1"}))
    output, events = await stream.await_output()
    assert output.invoked_production_variant == "AllTraffic", output
    spoken = received = 0
    async for event in events:
        assert isinstance(event, ResponseStreamEventPayloadPart), event
        data = event.value.bytes_
        if event.value.data_type == "BINARY":
            received += len(data)
        elif b"synthesis_complete" in data:
            spoken += 1
            if spoken == 1:
                await stream.input_stream.send(part({"text": "And again.", "request_id": "r2"}))
            else:
                await stream.input_stream.close()
    assert spoken == 2 and received > 10_000, (spoken, received)
    print("ok bidirectional stream", flush=True)


async def be_refused(url, endpoint):
    stream = await open_stream(url, endpoint, "wrong")
    try:
        await stream.await_output()
    except CallError as error:
        assert "InvalidSignatureException" in str(error) or "signature" in str(error).lower(), repr(error)
        print("ok refused before the stream", flush=True)
        return
    raise AssertionError("a wrong secret was taken")


async def main():
    await asyncio.wait_for(speak(*sys.argv[1:3]), 60)
    await asyncio.wait_for(be_refused(*sys.argv[1:3]), 60)


asyncio.run(main())
