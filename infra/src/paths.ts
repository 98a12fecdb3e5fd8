// Where things lie: relative to the caller's folder first, then in this checkout, so that the command works from any folder.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const SCHEMAS = join(ROOT, "docs", "schemas");

// The caller's file if there is one, else the checkout's, else where the caller's would be.
export function hereOrRoot(relative: string): string {
  if (existsSync(relative)) return relative;
  const inRoot = join(ROOT, relative);
  return existsSync(inRoot) ? inRoot : relative;
}
