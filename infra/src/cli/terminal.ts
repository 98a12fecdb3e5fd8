// What the commands print and ask. Tests bring one that remembers.
import { createInterface } from "node:readline/promises";
import { EXIT, Problem } from "../problem.ts";

export interface Terminal {
  say(line: string): void;
  progress(line: string): void; // overwritten by the next on a terminal
  confirm(what: string): Promise<boolean>;
  sleep(ms: number): Promise<void>;
}

export function realTerminal(): Terminal {
  const live = process.stderr.isTTY === true;
  let last = "";
  return {
    say(line) {
      if (live && last !== "") process.stderr.write("\r\x1b[K");
      last = "";
      process.stdout.write(`${line}\n`);
    },
    progress(line) {
      if (line === last) return;
      process.stderr.write(live ? `\r\x1b[K${line}` : `${line}\n`);
      last = line;
    },
    async confirm(what) {
      if (process.stdin.isTTY !== true) throw new Problem(`refused to ${what} without a terminal to ask on`, "pass --yes", EXIT.negative);
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      const answer = await reader.question(`${what}? [y/N] `);
      reader.close();
      return /^y(es)?$/i.test(answer.trim());
    },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

// Whose money and which place: said before anything changes.
export function where(account: string, region: string, endpointUrl: string | undefined): string {
  const url = endpointUrl ?? process.env["AWS_ENDPOINT_URL"];
  return `account ${account}  region ${region}${url === undefined || url === "" ? "" : `  at ${url}`}`;
}

// Columns as wide as their longest cell.
export function table(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows.map((row) => row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ").trimEnd());
}
