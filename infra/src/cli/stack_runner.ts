// One stack from what stands to what is wanted: states that cannot be deployed over are named, events are told as they come, and a
// failure is traced to the first resource that failed.
import { EXIT, Problem } from "../problem.ts";
import type { Cloud, StackState } from "./cloud.ts";
import { causeOf } from "./problems.ts";
import type { Terminal } from "./terminal.ts";

const POLL_MS = 5000;
export const LIMIT_MS = 90 * 60_000;

// A stack that a deployment cannot continue from: cause and way out.
export function refuseHalfDeployed(state: StackState | undefined, model: string): void {
  if (!state) return;
  const { name, status, reason } = state;
  const because = reason === "" ? "" : `: ${reason}`;
  if (status === "UPDATE_ROLLBACK_FAILED") {
    throw new Problem(`${name} is half-deployed (UPDATE_ROLLBACK_FAILED${because})`,
      `aws cloudformation continue-update-rollback --stack-name ${name}, then deploy again`, EXIT.negative);
  }
  if (["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED"].includes(status)) {
    throw new Problem(`${name} is half-deployed (${status}${because}); CloudFormation can only delete it`,
      `speech-infra destroy ${model}${name === "SpeechFoundationStack" ? " --foundation" : ""}, then deploy again`, EXIT.negative);
  }
  if (status.endsWith("_IN_PROGRESS") && status !== "REVIEW_IN_PROGRESS") {
    throw new Problem(`${name} is being changed (${status})`, `wait until speech-infra status ${model} shows it complete, then deploy again`, EXIT.negative);
  }
}

// What stands now. A stack that has only a change set to review was never deployed, and holds nothing.
export async function deployedTemplate(cloud: Cloud, name: string): Promise<string | undefined> {
  const state = await cloud.stack(name);
  return state === undefined || state.status === "REVIEW_IN_PROGRESS" ? undefined : cloud.template(name);
}

// A stack of this name that others made may be YAML; then everything counts as changed.
export function parseTemplate(text: string): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    return {};
  }
}

export async function deployStack(cloud: Cloud, terminal: Terminal, name: string, body: string, adopt = false): Promise<boolean> {
  const { changeSet, changes } = await cloud.prepare(name, body, adopt);
  if (changes.length === 0) {
    if (changeSet !== "") await cloud.discard(name, changeSet);
    terminal.say(`${name}: nothing to change`);
    return false;
  }
  for (const change of changes) {
    terminal.say(`${name}: will ${change.action.toLowerCase()} ${change.type} ${change.resource}${change.replacement === "True" ? " (replaced)" : ""}`);
  }
  const known = new Set((await cloud.events(name)).map((event) => event.id));
  await cloud.execute(name, changeSet);
  await follow(cloud, terminal, name, known);
  return true;
}

export async function removeStack(cloud: Cloud, terminal: Terminal, name: string): Promise<void> {
  if (!(await cloud.stack(name))) {
    terminal.say(`${name}: not there`);
    return;
  }
  const known = new Set((await cloud.events(name)).map((event) => event.id));
  await cloud.deleteStack(name);
  await follow(cloud, terminal, name, known);
}

async function follow(cloud: Cloud, terminal: Terminal, name: string, known: Set<string>): Promise<void> {
  let firstFailure: string | undefined;
  for (let waited = 0; waited < LIMIT_MS; waited += POLL_MS) {
    const state = await cloud.stack(name);
    if (!state) {
      terminal.say(`${name}: deleted`);
      return;
    }
    for (const event of await cloud.events(name)) {
      if (known.has(event.id)) continue;
      known.add(event.id);
      terminal.say(`${name}: ${event.status} ${event.type} ${event.resource}${event.reason === "" ? "" : ` (${event.reason})`}`);
      const cancelled = /cancelled|canceled/i.test(event.reason);
      if (event.status.endsWith("_FAILED") && !cancelled && event.resource !== name) firstFailure ??= `${event.type} ${event.resource}: ${event.reason}`;
    }
    if (!state.status.endsWith("_IN_PROGRESS")) {
      finish(state, firstFailure);
      terminal.say(`${name}: ${state.status}`);
      return;
    }
    terminal.progress(`${name}: ${state.status}, ${Math.round(waited / 1000)} s`);
    await terminal.sleep(POLL_MS);
  }
  throw new Problem(`${name} is still being changed after ${LIMIT_MS / 60_000} minutes`, "CloudFormation goes on by itself; look at it with speech-infra status");
}

function finish(state: StackState, firstFailure: string | undefined): void {
  if (["CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE", "IMPORT_COMPLETE"].includes(state.status)) return;
  const why = firstFailure ?? state.reason;
  const cause = causeOf(why);
  throw new Problem(`${state.name} ended as ${state.status}: ${cause ? `${cause[0]}` : why}`,
    cause ? cause[1] : "correct what it names and run the command again; speech-infra status shows what stands");
}
