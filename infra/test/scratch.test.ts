// Temporary folders go with the process, however it ends; a folder that cannot be made is an error, not a wait.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Problem } from "../src/problem.ts";
import { makeFolder, scratch } from "../src/scratch.ts";
import { HERE } from "./fixtures.ts";

// What `ending` leaves of the folder that a process made and told.
async function left(ending: string, signal?: NodeJS.Signals): Promise<{ there: boolean; code: number | null }> {
  const source = `import { writeFileSync } from "node:fs"; import { scratch } from "./src/scratch.ts";
    const folder = scratch(); writeFileSync(folder + "/file", "x"); process.stdout.write(folder + "\\n"); ${ending}`;
  const child = spawn(process.execPath, [...process.execArgv.filter((word) => !word.startsWith("--test")), "--input-type=module", "--eval", source],
    { cwd: join(HERE, ".."), stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", (data: Buffer) => {
    said += data.toString();
    if (signal !== undefined && said.endsWith("\n")) child.kill(signal);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  assert.notEqual(said.trim(), "");
  return { there: existsSync(said.trim()), code };
}

test("a temporary folder is gone after a good end, a failure and a signal", async () => {
  assert.deepEqual(await left(""), { there: false, code: 0 });
  assert.deepEqual(await left("throw new Error('x');"), { there: false, code: 1 });
  assert.deepEqual(await left("setTimeout(() => {}, 60000);", "SIGTERM"), { there: false, code: 143 });
});

test("a folder is made with its parents; what cannot hold one is told", () => {
  const folder = join(scratch(), "a", "b");
  makeFolder(folder);
  makeFolder(folder);
  assert.ok(existsSync(folder));
  assert.throws(() => makeFolder("/proc/nowhere/x"), /'\/proc\/nowhere'/);
  writeFileSync(join(folder, "file"), "");
  assert.throws(() => makeFolder(join(folder, "file")), (error: unknown) => error instanceof Problem && /is a file/.test(error.message));
});
