// The optional Hugging Face source of weights: a repository at one commit that holds a prepared model directory, file by file with
// its SHA-256. Everything is the owner's to fill in; a blank is refused, since nothing unpinned may reach the bucket.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { hereOrRoot } from "../paths.ts";
import { Problem } from "../problem.ts";

export interface HuggingFaceSource {
  repository: string;
  revision: string;
  files: Record<string, string>; // path in the repository and in the model directory: SHA-256
  tokenSecret: string;
}

export function loadHuggingFace(model: string, tokenSecret: string): HuggingFaceSource {
  const path = hereOrRoot(join("models", "huggingface", `${model}.toml`));
  const fill = (what: string): Problem => new Problem(`${what} in ${path}`,
    "fill in repository, revision (the 40 digits of a commit) and the SHA-256 of every file; or leave out --hf-token-secret "
    + "to prepare the weights from the pinned packages");
  if (!existsSync(path)) throw new Problem(`--hf-token-secret needs ${path}, which does not exist`, "write it after models/huggingface/kokoro-82m.toml");
  if (!/^[A-Za-z0-9/_+=.@-]{1,512}$/.test(tokenSecret)) throw new Problem(`'${tokenSecret}' is no name of a secret`, "give the name of a Secrets Manager secret");
  const table = parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  const unknown = Object.keys(table).filter((key) => !["repository", "revision", "files"].includes(key));
  if (unknown.length > 0) throw new Problem(`unknown key '${unknown[0]}' in ${path}`, "allowed are repository, revision, files");
  const { repository, revision } = table;
  if (typeof repository !== "string" || !/^[\w.-]+\/[\w.-]+$/.test(repository)) throw fill("repository is blank or no OWNER/NAME");
  if (typeof revision !== "string" || !/^[0-9a-f]{40}$/.test(revision)) throw fill("revision is blank or not a commit of 40 digits");
  const files = (table["files"] ?? {}) as Record<string, unknown>;
  if (!("manifest.json" in files)) throw fill("files lists no manifest.json");
  for (const [file, sha256] of Object.entries(files)) {
    if (!/^[\w-][\w./-]*$/.test(file) || file.split("/").includes("..")) throw fill(`files has the path '${file}'`);
    if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) throw fill(`the SHA-256 of ${file} is blank or not 64 digits`);
  }
  return { repository, revision, files: files as Record<string, string>, tokenSecret };
}
