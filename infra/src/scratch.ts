// Folders for what nobody asked to keep, and folders that somebody names. Two runs at once do not meet.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { EXIT, Problem } from "./problem.ts";

const made: string[] = [];
let watched = false;

function removeAll(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

// A signal ends the process as an exit does, so that what "exit" removes is removed then too. SIGINT is answered by the command.
const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: 143, SIGHUP: 129 } as const;

// A folder of its own, removed when the process ends: well, badly or by a signal.
export function scratch(): string {
  if (!watched) {
    watched = true;
    process.on("exit", removeAll);
    for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => process.exit(code));
  }
  const folder = mkdtempSync(join(tmpdir(), "speech-infra-"));
  made.push(folder);
  return folder;
}

// Like mkdir -p. Node's own recursive form never returns where a parent is there and takes no folder (/proc/x).
export function makeFolder(path: string): void {
  if (existsSync(path) && !statSync(path).isDirectory()) throw new Problem(`${path} is a file, no folder`, "name a folder");
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    try {
      mkdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error; // made meanwhile, by another run
    }
  }
}
