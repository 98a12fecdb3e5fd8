// Opens a response stream, has the instance killed after the first chunk, and prints what the SDK raised.
// node stream_killed.mjs URL ENDPOINT BODY; the SDK lies in $HEADROOM_NPM.
import { createRequire } from "node:module";

const require = createRequire(process.env.HEADROOM_NPM + "/package.json");
const { SageMakerRuntimeClient, InvokeEndpointWithResponseStreamCommand } = require("@aws-sdk/client-sagemaker-runtime");
const [url, endpoint, body] = process.argv.slice(2);
const client = new SageMakerRuntimeClient({
  endpoint: url, region: "us-east-1", maxAttempts: 1, credentials: { accessKeyId: "local", secretAccessKey: "local" },
});
const reply = await client.send(new InvokeEndpointWithResponseStreamCommand({
  EndpointName: endpoint, ContentType: "application/json", Body: body,
}));
let first = true;
try {
  for await (const event of reply.Body) {
    if (!event.PayloadPart || !first) continue;
    first = false;
    console.log("first-chunk");
    await new Promise((r) => setTimeout(r, 300)); // the rest fills the buffers up to the instance
    await fetch(url + "/_local/faults", {
      method: "POST", headers: { "x-tts-local-token": "t" }, body: JSON.stringify({ kill: { endpoint } }),
    });
  }
  console.log("ended-silently");
} catch (error) {
  console.log(error.name);
}
