// Model files: what is taken, what is refused and how it is named. tts-bench is held to the same samples by tests/system.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadHuggingFace } from "../src/model/hugging_face.ts";
import { loadModelFile, modelNames, parseModelFile } from "../src/model/model_file.ts";
import { Problem } from "../src/problem.ts";
import { deployment, HERE, temporary } from "./fixtures.ts";

const samples = (kind: string): string[] => readdirSync(join(HERE, "models", kind)).map((name) => join(HERE, "models", kind, name));

for (const path of samples("good")) {
  test(`taken: ${path.split("/").at(-1)}`, () => {
    assert.ok(parseModelFile(readFileSync(path, "utf8"), path).endpoint.length > 0);
  });
}
for (const path of samples("bad")) {
  test(`refused: ${path.split("/").at(-1)}`, () => {
    const text = readFileSync(path, "utf8");
    const said = text.split("\n")[0]!.replace("# says: ", "");
    assert.throws(() => parseModelFile(text, path), (error: unknown) => error instanceof Problem && error.message.includes(said) && error.message.includes(path));
  });
}

test("an unknown key is named with its line, the nearest one and all that are allowed", () => {
  assert.throws(() => parseModelFile('endpoint = "e"\n[instance]\ntyp = "x"\n', "m.toml"), (error: unknown) => {
    assert.ok(error instanceof Problem);
    assert.match(error.message, /^m\.toml:3: unknown key 'instance\.typ' \(did you mean 'instance\.type'\?\)/);
    assert.match(error.remedy, /endpoint, instance\.type, .*weights\.manifest_sha256/);
    return true;
  });
});

test("every model of the checkout is good, and the name is the file's", () => {
  assert.ok(modelNames().length >= 3);
  for (const name of modelNames()) assert.equal(loadModelFile(name).name, name);
});

test("blanks that a deployment needs are refused", () => {
  assert.throws(() => deployment(undefined, (text) => text.replace(/manifest_sha256 = ".*"/, 'manifest_sha256 = ""'), { noPlan: true }), /manifest_sha256 is blank/);
  assert.throws(() => deployment(undefined, (text) => text.replace(/^type = .*$/m, ""), { noPlan: true }), /no instance type/);
});

test("a GPU is asked for only where there is one", () => {
  const gpu = (type: string) => (text: string): string => text.replace(/^environment = .*$/m, 'environment = { TTS_ENGINE = "onnxruntime", TTS_DEVICE = "cuda" }')
    .replace('type = "ml.g5.xlarge"', `type = "${type}"`);
  assert.equal(deployment(undefined, gpu("ml.g6.xlarge"), { noPlan: true }).model.instanceType, "ml.g6.xlarge");
  assert.throws(() => deployment(undefined, gpu("ml.c7i.xlarge"), { noPlan: true }), (error: unknown) =>
    error instanceof Problem && /ml\.c7i\.xlarge has none/.test(error.message) && /ml\.g5\.xlarge/.test(error.remedy));
});

test("a Hugging Face source is refused while revision or a hash is blank, and taken when all is filled in", () => {
  assert.throws(() => loadHuggingFace("kokoro-82m", "token"), /repository is blank/);
  const folder = join(temporary(), "models", "huggingface");
  mkdirSync(folder, { recursive: true });
  process.chdir(join(folder, "..", ".."));
  const write = (text: string): void => writeFileSync(join(folder, "m.toml"), text);
  const hash = "0".repeat(64);
  write(`repository = "o/n"\nrevision = ""\n[files]\n"manifest.json" = "${hash}"\n`);
  assert.throws(() => loadHuggingFace("m", "token"), /revision is blank/);
  write(`repository = "o/n"\nrevision = "main"\n[files]\n"manifest.json" = "${hash}"\n`);
  assert.throws(() => loadHuggingFace("m", "token"), /not a commit/);
  write(`repository = "o/n"\nrevision = "${"a".repeat(40)}"\n[files]\n"manifest.json" = ""\n`);
  assert.throws(() => loadHuggingFace("m", "token"), /SHA-256 of manifest\.json is blank/);
  write(`repository = "o/n"\nrevision = "${"a".repeat(40)}"\n[files]\n"manifest.json" = "${hash}"\n"../x" = "${hash}"\n`);
  assert.throws(() => loadHuggingFace("m", "token"), /'\.\.\/x'/);
  write(`repository = "o/n"\nrevision = "${"a".repeat(40)}"\n[files]\n"manifest.json" = "${hash}"\n`);
  assert.equal(loadHuggingFace("m", "token").revision, "a".repeat(40));
});
