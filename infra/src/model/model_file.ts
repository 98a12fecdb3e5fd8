// The model file, checked against docs/schemas/model.schema.json. The same rules as tts-bench has: a test over shared samples
// keeps both in agreement. Unknown keys are refused, naming the allowed ones.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { hereOrRoot, ROOT, SCHEMAS } from "../paths.ts";
import { EXIT, nearest, Problem } from "../problem.ts";

export interface ModelFile {
  name: string; // of the file, without .toml
  named: string; // as a person names it to a command: the name, or the path of a file elsewhere
  path: string;
  endpoint: string;
  instanceType: string;
  minInstances: number;
  maxInstances: number;
  pricePerHourUsd: number | undefined;
  sloMs: number;
  workload: string;
  transport: string;
  image: string;
  environment: Record<string, string>;
  manifestSha256: string;
}

interface Node {
  type: string;
  description?: string;
  properties?: Record<string, Node>;
  additionalProperties?: boolean | Node;
  required?: string[];
  enum?: string[];
  pattern?: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

type Table = Record<string, unknown>;

const MAX_BYTES = 1 << 20;
const schema = (): Node => JSON.parse(readFileSync(join(SCHEMAS, "model.schema.json"), "utf8")) as Node;

function keysOf(node: Node, prefix = ""): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
    child.properties ? keysOf(child, `${prefix}${name}.`) : [`${prefix}${name}`]);
}

const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

// Whether the value is what the schema node wants. Whole numbers arrive as BigInt, so that 1.0 is no whole number.
function fits(value: unknown, node: Node): boolean {
  if (node.type === "string") {
    return typeof value === "string" && (!node.enum || node.enum.includes(value)) &&
      (!node.pattern || new RegExp(node.pattern, "u").test(value)) && (node.maxLength === undefined || value.length <= node.maxLength);
  }
  if (node.type === "integer" || node.type === "number") {
    if (typeof value !== "bigint" && (node.type === "integer" || typeof value !== "number")) return false;
    const number = Number(value);
    return Number.isFinite(number) && number >= (node.minimum ?? -Infinity) && number <= (node.maximum ?? Infinity);
  }
  const each = node.additionalProperties;
  return isTable(value) && (typeof each !== "object" || Object.values(value).every((one) => fits(one, each)));
}

// The line on which a key is written; TOML readers do not keep it.
function at(text: string, path: string, key: string): string {
  const last = key.split(".").at(-1) ?? key;
  const line = text.split("\n").findIndex((one) => new RegExp(`^\\s*("?${last.replace(/[^\w-]/g, ".")}"?\\s*[=.]|\\[\\s*${last.replace(/[^\w-]/g, ".")})`).test(one));
  return line < 0 ? path : `${path}:${line + 1}`;
}

function check(table: Table, node: Node, prefix: string, text: string, path: string, all: string[]): void {
  for (const [key, value] of Object.entries(table)) {
    const name = prefix + key;
    const child = node.properties?.[key];
    if (!child || (child.properties && !isTable(value))) {
      const near = nearest(name, all);
      throw new Problem(`${at(text, path, name)}: unknown key '${name}'${near ? ` (did you mean '${near}'?)` : ""}`,
        `allowed are ${all.join(", ")}`);
    }
    if (child.properties) {
      check(value as Table, child, `${name}.`, text, path, all);
    } else if (!fits(value, child)) {
      throw new Problem(`${at(text, path, name)}: ${name}: expected ${child.description}`, "correct the value");
    }
  }
}

export function parseModelFile(text: string, path: string): ModelFile {
  let table: Table;
  try {
    table = parse(text, { integersAsBigInt: true }) as Table;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "");
    throw new Problem(`${path}:${error.line}: not valid TOML: ${reason}`, "correct the line");
  }
  const rules = schema();
  check(table, rules, "", text, path, keysOf(rules));
  const at2 = (group: string, key: string): unknown => (isTable(table[group]) ? (table[group] as Table)[key] : undefined);
  const number = (group: string, key: string): number | undefined => {
    const value = at2(group, key);
    return value === undefined ? undefined : Number(value);
  };
  const string = (group: string, key: string, fallback: string): string => (at2(group, key) as string | undefined) ?? fallback;
  if (table["endpoint"] === undefined) throw new Problem(`${path}: the key 'endpoint' is missing`, "add the endpoint's name");
  const model: ModelFile = {
    name: basename(path, ".toml"),
    named: path,
    path,
    endpoint: table["endpoint"] as string,
    instanceType: string("instance", "type", ""),
    minInstances: number("instance", "min") ?? 1,
    maxInstances: number("instance", "max") ?? 1,
    pricePerHourUsd: number("instance", "price_per_hour_usd"),
    sloMs: number("slo", "p95_first_audio_ms") ?? 3000,
    workload: string("load", "workload", "short"),
    transport: string("transport", "kind", "response-stream"),
    image: string("container", "image", ""),
    environment: (at2("container", "environment") as Record<string, string> | undefined) ?? {},
    manifestSha256: string("weights", "manifest_sha256", ""),
  };
  const [peak, trough] = [number("load", "peak_rps"), number("load", "trough_rps")];
  if (model.maxInstances < model.minInstances) {
    throw new Problem(`${path}: instance.max ${model.maxInstances} is below instance.min ${model.minInstances}`, "correct one of them");
  }
  if (peak !== undefined && trough !== undefined && peak < trough) {
    throw new Problem(`${path}: load.peak_rps ${peak} is below load.trough_rps ${trough}`, "correct one of them");
  }
  return model;
}

const folders = (): string[] => [...new Set(["models", join(ROOT, "models")])];

export function modelNames(): string[] {
  const names = folders().flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".toml")).map((name) => name.slice(0, -5)) : []);
  return [...new Set(names)].sort();
}

// A name of models/NAME.toml, in the caller's folder or in this checkout, or the path of a .toml file.
export function loadModelFile(name: string): ModelFile {
  const isPath = name.endsWith(".toml");
  if (!isPath && !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
    throw new Problem(`'${name}' is no model name: it may hold letters, digits, '.', '-' and '_'`,
      "name one of `speech-infra list`, or the path of a .toml file", EXIT.usage);
  }
  const path = isPath ? name : hereOrRoot(join("models", `${name}.toml`));
  if (!existsSync(path)) {
    const names = modelNames();
    const near = nearest(name, names);
    throw new Problem(`there is no model '${name}' (no file ${path})${near ? `; did you mean '${near}'?` : ""}`,
      `name one of: ${names.join(", ") || "none yet, write models/NAME.toml"}`, EXIT.usage);
  }
  const bytes = readFileSync(path);
  if (bytes.length > MAX_BYTES) throw new Problem(`${path} is larger than 1 MiB`, "name a model file");
  return { ...parseModelFile(bytes.toString("utf8"), path), named: name };
}
