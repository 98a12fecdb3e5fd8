// The command speech-infra: options, wiring, exit code, nothing else.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cloud } from "./cli/cloud.ts";
import { type Options, parseOptions, usage } from "./cli/options.ts";
import { explain } from "./cli/problems.ts";
import { realTerminal, type Terminal } from "./cli/terminal.ts";
import { makeDeployment } from "./deployment.ts";
import { modelNames } from "./model/model_file.ts";
import { FOUNDATION_STACK } from "./names.ts";
import { ROOT } from "./paths.ts";
import { EXIT, Problem } from "./problem.ts";

// Only the commands that ask an account load the clients, and only those that make templates load the CDK: list stays quick.
async function cloudFor(options: Options): Promise<Cloud> {
  const { awsCloud } = await import("./cli/aws_cloud.ts");
  return awsCloud(options);
}

async function run(options: Options, terminal: Terminal): Promise<number> {
  if (options.command === "list") return (await import("./cli/list.ts")).list(options, terminal);
  const names = options.all ? modelNames() : options.models;
  const deployments = names.map((name) => makeDeployment(name, options));
  const models = deployments.map(({ model }) => model.name);
  switch (options.command) {
    case "synth": return (await import("./cli/synth.ts")).synth(deployments, options, terminal);
    case "status": return (await import("./cli/status.ts")).status(deployments, await cloudFor(options), terminal);
    case "diff": return (await import("./cli/synth.ts")).diff(deployments, options, await cloudFor(options), terminal);
    case "destroy": {
      const others = modelNames().filter((name) => !models.includes(name));
      return (await import("./cli/destroy.ts")).destroy(models, others, options, await cloudFor(options), terminal);
    }
    default: {
      const { refusePlans, withoutLocal } = await import("./cli/checks.ts");
      const { deploy } = await import("./cli/deploy.ts");
      const remote = withoutLocal(deployments, options.all, terminal);
      refusePlans(remote); // before anything slower
      const cloud = await cloudFor(options);
      // What would stop it at once is asked before the slower synthesis: credentials, and whether there is CloudFormation at all.
      await cloud.account();
      await cloud.stack(FOUNDATION_STACK);
      await (await import("./cli/images.ts")).keepImages(remote, cloud);
      const { synthesise } = await import("./app.ts");
      const { scratch } = await import("./scratch.ts");
      return deploy(remote, synthesise(remote, options.out ?? scratch()), options, cloud, terminal);
    }
  }
}

async function main(words: string[]): Promise<number> {
  const options = parseOptions(words);
  if (options.help) {
    process.stdout.write(`${usage()}\n`);
    return EXIT.good;
  }
  if (options.version) {
    const { version } = JSON.parse(readFileSync(join(ROOT, "infra", "package.json"), "utf8")) as { version: string };
    process.stdout.write(`speech-infra ${version}\n`);
    return EXIT.good;
  }
  return run(options, realTerminal());
}

process.on("SIGINT", () => {
  process.stderr.write("\nspeech-infra: interrupted; what CloudFormation has begun goes on by itself (speech-infra status shows it)\n");
  process.exit(EXIT.interrupted);
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (thrown) {
  const error = explain(thrown);
  if (!(error instanceof Problem)) throw error;
  process.stderr.write(`speech-infra: ${error.message} -> ${error.remedy}\n`);
  process.exitCode = error.exitCode;
}
