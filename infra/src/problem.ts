// Problem: an error for people: what is wrong, and what to do about it. Everything else that is thrown is a fault of ours.

export const EXIT = { good: 0, failed: 1, usage: 2, negative: 3, interrupted: 130 } as const;

export class Problem extends Error {
  readonly remedy: string;
  readonly exitCode: number;

  constructor(message: string, remedy: string, exitCode: number = EXIT.failed) {
    super(message);
    this.name = "Problem";
    this.remedy = remedy;
    this.exitCode = exitCode;
  }
}

// The allowed name nearest to what was typed; undefined where nothing is near enough to be meant.
export function nearest(word: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const name of names) {
    const d = distance(word, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; ++i) {
    const next = [i];
    for (let j = 1; j <= b.length; ++j) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
