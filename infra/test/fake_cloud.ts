// A Cloud that remembers what was asked, and answers as CloudFormation does: changes take two looks to complete.
import type { AlarmState, BuildState, Change, Cloud, EndpointState, PolicyState, Quota, StackEvent, StackState } from "../src/cli/cloud.ts";
import type { Terminal } from "../src/cli/terminal.ts";

export class FakeCloud implements Cloud {
  log: string[] = [];
  stacks = new Map<string, StackState>();
  bodies = new Map<string, string>();
  happened = new Map<string, StackEvent[]>();
  objects = new Set<string>();
  bucket: "absent" | "ours" | "foreign" = "absent";
  quotaValue: number | undefined = 10;
  failing: { stack: string; reason: string } | undefined;
  buildStatus = "SUCCEEDED";
  thrown: Error | undefined;
  private pending = new Map<string, string>();

  region(): string { return "us-east-1"; }
  async account(): Promise<string> {
    if (this.thrown) throw this.thrown;
    return "123456789012";
  }
  async stack(name: string): Promise<StackState | undefined> {
    const state = this.stacks.get(name);
    if (!state) return undefined;
    const now = { ...state };
    if (state.status.endsWith("_IN_PROGRESS") && this.happened.get(name)?.some((event) => event.id.startsWith("end"))) {
      state.status = this.failing?.stack === name ? "ROLLBACK_COMPLETE" : state.status.replace("_IN_PROGRESS", "_COMPLETE");
      if (state.status === "DELETE_COMPLETE") this.stacks.delete(name);
    }
    return now;
  }
  async template(name: string): Promise<string | undefined> { return this.bodies.get(name); }
  async prepare(name: string, body: string, adopt = false): Promise<{ changeSet: string; changes: Change[] }> {
    this.log.push(`prepare ${name}${adopt ? " adopting" : ""}`);
    if (this.bodies.get(name) === body) return { changeSet: "", changes: [] };
    this.pending.set(name, body);
    return { changeSet: "set", changes: [{ action: "Add", resource: "Thing", type: "AWS::Thing", replacement: "False" }] };
  }
  async execute(name: string): Promise<void> {
    const next = this.pending.get(name)!;
    this.log.push(`execute ${name}`);
    this.stacks.set(name, { name, status: this.bodies.has(name) ? "UPDATE_IN_PROGRESS" : "CREATE_IN_PROGRESS", reason: "", outputs: {} });
    this.bodies.set(name, next);
    const failed = this.failing?.stack === name ? this.failing.reason : undefined;
    this.event(name, failed ? "CREATE_FAILED" : "CREATE_COMPLETE", failed ?? "");
    if (name === "SpeechFoundationStack" && !failed) this.bucket = "ours";
  }
  private event(name: string, status: string, reason: string): void {
    const all = this.happened.get(name) ?? [];
    all.push({ id: `end${all.length}`, time: 0, resource: "Thing", type: "AWS::Thing", status, reason });
    this.happened.set(name, all);
  }
  async discard(): Promise<void> { /* nothing is kept */ }
  async deleteStack(name: string): Promise<void> {
    this.log.push(`delete ${name}`);
    this.stacks.get(name)!.status = "DELETE_IN_PROGRESS";
    this.bodies.delete(name);
    this.event(name, "DELETE_COMPLETE", "");
  }
  async events(name: string): Promise<StackEvent[]> { return this.happened.get(name) ?? []; }
  async bucketState(): Promise<"absent" | "ours" | "foreign"> { return this.bucket; }
  async hasObject(_: string, key: string): Promise<boolean> { return this.objects.has(key); }
  async putObject(_: string, key: string): Promise<void> {
    this.log.push("put source");
    this.objects.add(key);
  }
  async deleteBucket(bucket: string): Promise<void> { this.log.push(`delete bucket ${bucket}`); }
  async startBuild(project: string): Promise<string> {
    this.log.push(`build ${project}`);
    return "b:1";
  }
  async build(): Promise<BuildState> {
    if (this.buildStatus === "SUCCEEDED") this.objects.add([...this.bodies.values()].join("").match(/models\/kokoro-82m\/[0-9a-f]{64}\//)?.[0] + "manifest.json");
    return { status: this.buildStatus, phase: "BUILD: exit status 1", done: true, log: "" };
  }
  async endpoint(): Promise<EndpointState | undefined> { return undefined; }
  async target(): Promise<{ min: number; max: number; suspended: boolean } | undefined> { return undefined; }
  async policies(): Promise<PolicyState[]> { return []; }
  async alarms(_prefix: string): Promise<AlarmState[]> { return []; }
  async quota(): Promise<Quota | undefined> { return this.quotaValue === undefined ? undefined : { value: this.quotaValue, code: "L-1" }; }
}

export class FakeTerminal implements Terminal {
  said: string[] = [];
  answer = true;
  say(line: string): void { this.said.push(line); }
  progress(): void { /* of no interest */ }
  async confirm(): Promise<boolean> { return this.answer; }
  async sleep(): Promise<void> { /* at once */ }
  text(): string { return this.said.join("\n"); }
}
