// The official OpenAI client for JavaScript against tts-serve: node openai_client.mjs NPM_FOLDER BASE_URL; prints JSON.
import { createRequire } from "node:module";
import path from "node:path";

const [folder, baseURL] = process.argv.slice(2);
const require = createRequire(path.join(folder, "package.json"));
const OpenAI = require("openai").default ?? require("openai");
const client = new OpenAI({ baseURL, apiKey: "sk-test", maxRetries: 0 });

const out = {};
const speak = (body) => client.audio.speech.create({ model: "gpt-4o-mini-tts", voice: "alloy", input: "Good morning to you.", ...body });

const wav = await speak({ response_format: "wav" });
out.wav_type = wav.headers.get("content-type");
out.wav_magic = Buffer.from(await wav.arrayBuffer()).subarray(0, 4).toString();
out.pcm_bytes = (await (await speak({ response_format: "pcm", speed: 2 })).arrayBuffer()).byteLength;
out.default_type = (await speak({})).headers.get("content-type");

out.events = [];
const events = await speak({ stream_format: "sse", response_format: "pcm" });
for (const line of (await events.text()).split("\n")) {
  if (line.startsWith("data: ")) out.events.push(JSON.parse(line.slice(6)).type);
}

out.models = (await client.models.list()).data.map((model) => model.id);
try {
  await speak({ voice: "nobody" });
} catch (error) {
  out.error = { name: error.constructor.name, status: error.status, code: error.code };
}
console.log(JSON.stringify(out));
