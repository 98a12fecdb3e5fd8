// The command line, from one table: options, help and errors. Reads; does nothing.
import { EXIT, nearest, Problem } from "../problem.ts";

export interface Options {
  command: string;
  models: string[];
  all: boolean;
  region: string | undefined;
  profile: string | undefined;
  imageUri: string | undefined;
  weightsInImage: boolean;
  hfTokenSecret: string | undefined;
  plan: string | undefined;
  noPlan: boolean;
  out: string | undefined;
  endpointUrl: string | undefined;
  alarmTopic: string | undefined;
  yes: boolean;
  deleteWeights: boolean;
  foundation: boolean;
  help: boolean;
  version: boolean;
}

interface Row { name: string; value?: string; help: string; commands?: string }

export const COMMANDS: Record<string, string> = {
  list: "the models and whether a plan may be deployed for each; needs no account",
  status: "stacks, endpoint, policies, alarms and age of the plan, in one table",
  synth: "writes the templates; needs no account and no network",
  diff: "what a deployment would change",
  deploy: "creates or updates the stacks, in order, and fills the bucket with weights",
  destroy: "removes the stacks of the models; keeps the bucket unless told otherwise",
};

const ROWS: Row[] = [
  { name: "all", help: "every model of models/" },
  { name: "region", value: "REGION", help: "AWS region; default: AWS_REGION, or the profile's" },
  { name: "profile", value: "NAME", help: "profile of the shared AWS configuration" },
  { name: "image-uri", value: "URI", help: "container image, best by digest; default: container.image of the model file" },
  { name: "weights-in-image", help: "the image holds the weights (docker/build-image.sh --with-weights): no model cache, no download at start" },
  { name: "hf-token-secret", value: "NAME", help: "take the weights from models/huggingface/MODEL.toml, with the token in this secret" },
  { name: "plan", value: "FILE", help: "the plan to deploy; default: artifacts/<endpoint>/plan.json" },
  { name: "no-plan", help: "deploy without autoscaling, whatever plan lies there" },
  { name: "out", value: "DIR", help: "where synth writes the templates; default: infra/cdk.out of the checkout" },
  { name: "endpoint-url", value: "URL", help: "another address for every AWS service; default: AWS_ENDPOINT_URL" },
  { name: "alarm-topic", value: "ARN", help: "SNS topic that the informative alarms tell" },
  { name: "yes", help: "do not ask" },
  { name: "delete-weights", help: "destroy: also empty and delete the bucket, when the foundation goes" },
  { name: "foundation", help: "destroy: also remove what all models share, when no other model's stack is left" },
  { name: "help", help: "this text" },
  { name: "version", help: "the version" },
];

const camel = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

export function usage(): string {
  const wide = (rows: [string, string][]): string => rows.map(([left, right]) => `  ${left.padEnd(27)}${right}`).join("\n");
  return [
    "Deploys speech endpoints: three CloudFormation stacks, and autoscaling exactly as a measured plan says.",
    "",
    "Usage: speech-infra COMMAND MODEL... | --all [options]",
    "",
    "Commands:",
    wide(Object.entries(COMMANDS)),
    "",
    "Options:",
    wide(ROWS.map((row) => [`--${row.name}${row.value ? ` ${row.value}` : ""}`, row.help])),
    "",
    "Exit codes: 0 good, 1 failed, 2 usage, 3 refused, 130 interrupted.",
  ].join("\n");
}

const wrong = (message: string, remedy = "speech-infra --help lists what there is"): Problem => new Problem(message, remedy, EXIT.usage);

export function parseOptions(words: string[]): Options {
  const found: Record<string, string | boolean> = {};
  const rest: string[] = [];
  for (let i = 0; i < words.length; ++i) {
    const word = words[i] ?? "";
    if (!word.startsWith("-") || word === "-") {
      rest.push(word);
      continue;
    }
    const [name, inline] = word === "-h" ? ["help"] : [word.replace(/^--?/, "").split("=")[0] ?? "", word.includes("=") ? word.slice(word.indexOf("=") + 1) : undefined];
    const row = ROWS.find((one) => one.name === name);
    if (!row) {
      const near = nearest(name ?? "", ROWS.map((one) => one.name));
      throw wrong(`unknown option '${word}'${near ? `; did you mean --${near}?` : ""}`);
    }
    if (!row.value) {
      if (inline !== undefined) throw wrong(`--${row.name} takes no value`);
      found[camel(row.name)] = true;
      continue;
    }
    const value = inline ?? words[++i];
    if (value === undefined || value === "" || (inline === undefined && value.startsWith("--"))) throw wrong(`--${row.name} needs a value: ${row.value}`);
    if (found[camel(row.name)] !== undefined) throw wrong(`--${row.name} is given twice`);
    found[camel(row.name)] = value;
  }
  const [command = "", ...models] = rest;
  if (command === "help" || command === "version") found[command] = true;
  const options = { all: false, weightsInImage: false, noPlan: false, yes: false, deleteWeights: false, foundation: false, help: false, version: false,
    ...found, command, models } as unknown as Options;
  if (options.help || options.version) return options;
  checkWords(options);
  return options;
}

function checkWords(options: Options): void {
  const { command, models, all } = options;
  if (command === "") throw wrong("no command is given", `give one of: ${Object.keys(COMMANDS).join(", ")}`);
  if (!(command in COMMANDS)) {
    const near = nearest(command, Object.keys(COMMANDS));
    throw wrong(`there is no command '${command}'${near ? `; did you mean '${near}'?` : ""}`, `give one of: ${Object.keys(COMMANDS).join(", ")}`);
  }
  if (all && models.length > 0) throw wrong("--all and names of models are given", "give one of the two");
  if (command !== "list" && !all && models.length === 0) throw wrong(`${command} needs a model`, `speech-infra ${command} MODEL..., or --all`);
  if (new Set(models).size !== models.length) throw wrong("a model is named twice", "name each once");
  if (options.plan !== undefined && (all || models.length > 1)) {
    throw wrong("--plan is one model's plan, and several models are named", "name one model, or leave plans in artifacts/<endpoint>/plan.json");
  }
  if (options.plan !== undefined && options.noPlan) throw wrong("--plan and --no-plan are given", "give one of the two");
  if (options.imageUri !== undefined && (all || models.length > 1)) {
    throw wrong("--image-uri is given for several models", "name one model, or set container.image in each model file");
  }
  if (options.region !== undefined && !/^[a-z]{2}(-[a-z]+)+-\d$/.test(options.region)) {
    throw wrong(`'${options.region}' is no AWS region`, "give one such as us-east-1");
  }
  if (options.alarmTopic !== undefined && !/^arn:[\w-]+:sns:[a-z0-9-]+:\d{12}:[\w-]+$/.test(options.alarmTopic)) {
    throw wrong(`'${options.alarmTopic}' is no SNS topic's ARN`, "give arn:aws:sns:REGION:ACCOUNT:NAME");
  }
  if ((options.deleteWeights || options.foundation) && command !== "destroy") throw wrong("--foundation and --delete-weights belong to destroy");
  if (options.weightsInImage && options.hfTokenSecret !== undefined) throw wrong("--weights-in-image and --hf-token-secret are given", "give one of the two");
  if (options.deleteWeights && !options.foundation) throw wrong("--delete-weights needs --foundation: the bucket is all models'");
}
