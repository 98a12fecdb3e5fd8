// Cloud: what the commands ask of an account, as plain values. aws_cloud.ts speaks to AWS; tests bring a fake of their own.

export interface StackState { name: string; status: string; reason: string; outputs: Record<string, string> }
export interface StackEvent { id: string; time: number; resource: string; type: string; status: string; reason: string }
export interface Change { action: string; resource: string; type: string; replacement: string }
export interface EndpointState { status: string; failureReason: string; desired: number | undefined; current: number | undefined; instanceType: string | undefined }
export interface PolicyState { name: string; type: string; alarms: number }
export interface AlarmState { name: string; state: string }
export interface BuildState { status: string; phase: string; done: boolean; log: string }
export interface Quota { value: number; code: string }

export interface Cloud {
  region(): string;
  account(): Promise<string>;
  // CloudFormation; undefined: there is no such stack
  stack(name: string): Promise<StackState | undefined>;
  template(name: string): Promise<string | undefined>;
  // Makes a change set and returns what it would do; empty: nothing. The change set is deleted unless it is executed.
  // `adopt`: named resources that already exist outside any stack become the stack's.
  prepare(name: string, body: string, adopt: boolean): Promise<{ changeSet: string; changes: Change[] }>;
  execute(name: string, changeSet: string): Promise<void>;
  discard(name: string, changeSet: string): Promise<void>;
  deleteStack(name: string): Promise<void>;
  events(name: string): Promise<StackEvent[]>; // oldest first
  // weights
  bucketState(bucket: string): Promise<"absent" | "ours" | "foreign">;
  hasObject(bucket: string, key: string): Promise<boolean>;
  putObject(bucket: string, key: string, body: Uint8Array): Promise<void>;
  deleteBucket(bucket: string): Promise<void>; // with all that lies in it
  startBuild(project: string): Promise<string>;
  build(id: string): Promise<BuildState>;
  // what runs
  endpoint(name: string): Promise<EndpointState | undefined>;
  target(resource: string): Promise<{ min: number; max: number; suspended: boolean } | undefined>;
  policies(resource: string): Promise<PolicyState[]>;
  alarms(prefix: string): Promise<AlarmState[]>;
  quota(instanceType: string): Promise<Quota | undefined>;
}

// A service that the other side does not offer at all, as a local cloud may not.
export class NotOffered extends Error {}
