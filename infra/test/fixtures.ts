// Plans and deployments for tests: small, whole, and changed one field at a time.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import { type Deployment, makeDeployment } from "../src/deployment.ts";
import type { Plan } from "../src/plan/plan_file.ts";
import { scratch as temporary } from "../src/scratch.ts";

export { temporary };

export const HERE = dirname(fileURLToPath(import.meta.url));
// Stands for the weights' manifest, so that new weights change no snapshot.
export const MANIFEST = "0123456789abcdef".repeat(4);
export type Form = "published" | "native" | "offered-rate";

// What tts-bench plan wrote for models/kokoro-82m.toml from the published run.
export function plan(form: Form): Plan & Record<string, unknown> {
  return JSON.parse(readFileSync(join(HERE, "fixtures", `plan-${form}.json`), "utf8")) as Plan & Record<string, unknown>;
}

export function planFile(content: unknown): string {
  const path = join(temporary(), "plan.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

// models/kokoro-82m.toml with some lines changed, under its own name.
export function modelFile(change: (text: string) => string = (text) => text): string {
  const path = join(temporary(), "kokoro-82m.toml");
  const kept = readFileSync(join(HERE, "..", "..", "models", "kokoro-82m.toml"), "utf8");
  const text = change(kept.replace(/^manifest_sha256 = ".*"/m, `manifest_sha256 = "${MANIFEST}"`));
  parse(text);
  writeFileSync(path, text);
  return path;
}

export const deployment = (content?: unknown, change?: (text: string) => string, more: object = {}): Deployment =>
  makeDeployment(modelFile(change), { ...(content === undefined ? {} : { plan: planFile(content) }), ...more });
