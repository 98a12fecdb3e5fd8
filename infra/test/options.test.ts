// The command line: what is taken, what is refused and how.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseOptions, usage } from "../src/cli/options.ts";
import { Problem } from "../src/problem.ts";

test("options come in both forms, with the models in order", () => {
  const options = parseOptions(["deploy", "a", "--region=eu-west-1", "b", "--profile", "p", "--yes"]);
  assert.deepEqual([options.command, options.models, options.region, options.profile, options.yes], ["deploy", ["a", "b"], "eu-west-1", "p", true]);
});

const wrong: [string[], RegExp][] = [
  [[], /no command/],
  [["synht", "a"], /did you mean 'synth'/],
  [["synth"], /needs a model/],
  [["synth", "a", "--all"], /--all and names/],
  [["synth", "a", "a"], /named twice/],
  [["synth", "a", "--pln", "x"], /did you mean --plan/],
  [["synth", "a", "--plan"], /needs a value/],
  [["synth", "a", "--plan", "--yes"], /needs a value/],
  [["synth", "a", "--plan", "x", "--plan", "y"], /twice/],
  [["synth", "a", "b", "--plan", "x"], /several models/],
  [["synth", "--all", "--image-uri", "x"], /several models/],
  [["synth", "a", "--plan", "x", "--no-plan"], /--no-plan/],
  [["deploy", "a", "--weights-in-image", "--hf-token-secret", "x"], /--weights-in-image and/],
  [["synth", "a", "--yes=1"], /takes no value/],
  [["synth", "a", "--region", "Mars"], /no AWS region/],
  [["synth", "a", "--alarm-topic", "x"], /no SNS topic/],
  [["deploy", "a", "--delete-weights"], /belong to destroy/],
  [["destroy", "a", "--delete-weights"], /needs --foundation/],
];
for (const [words, said] of wrong) {
  test(`refused: ${words.join(" ") || "nothing"}`, () => {
    assert.throws(() => parseOptions(words), (error: unknown) => error instanceof Problem && error.exitCode === 2 && said.test(error.message) && error.remedy !== "");
  });
}

test("help and version are taken as words too", () => {
  assert.ok(parseOptions(["help"]).help && parseOptions(["version"]).version);
});

test("the help names every command and option", () => {
  for (const word of ["list", "status", "synth", "diff", "deploy", "destroy", "--all", "--region", "--profile", "--image-uri",
    "--hf-token-secret", "--plan", "--out", "--endpoint-url"]) assert.ok(usage().includes(word), word);
});
