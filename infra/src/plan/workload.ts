// The hash by which artifacts name a workload, for the workload and transport that a model file names. The built-in ones are fixed
// texts of tts-bench in its default order, voice and format, so their hashes are constants; a test asks tts-bench for them.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";

// What a request looks like is part of the hash.
interface Sent { body: string; builtIn: Record<string, string> }
const INVOCATION: Sent = {
  body: "application/json\n\n{\"text\":\"{{text}}\",\"voice\":\"af_heart\",\"format\":\"pcm\",\"stream\":true}\n",
  builtIn: { short: "b7ad3f40d1b0232b", agent: "ef6cccbb75510460" },
};
const SESSION: Sent = {
  body: "application/json\n\n{\"text\":\"{{text}}\",\"voice\":\"af_heart\",\"request_id\":\"load\"}\n",
  builtIn: { short: "28c608c94776feb1", agent: "52aafce65bfb0462" },
};

// undefined: the workload cannot be read here, so nothing can be said about its hash.
export function workloadHash(workload: string, transport: string): string | undefined {
  const { body, builtIn } = transport === "bidirectional" ? SESSION : INVOCATION;
  if (!workload.startsWith("file:")) return builtIn[workload];
  const path = workload.slice(5);
  if (!existsSync(path)) return undefined;
  let all = body;
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.trim() === "") continue;
    try {
      const one = JSON.parse(line) as { text?: unknown; t_s?: unknown };
      if (typeof one.text !== "string") return undefined;
      all += one.text + (typeof one.t_s === "number" ? `\t${Math.trunc(one.t_s * 1e9)}` : "") + "\n";
    } catch {
      return undefined;
    }
  }
  return createHash("sha256").update(all).digest("hex").slice(0, 16);
}
