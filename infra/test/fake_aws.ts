// An AWS of a few services on a local port, in the wire forms that the official clients speak. State is what deploy and destroy touch.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface FakeStack { status: string; body: string; set?: string | undefined }

export class FakeAws {
  stacks = new Map<string, FakeStack>();
  objects = new Map<string, Buffer>(); // "bucket/key"
  calls: string[] = [];
  expired = false;
  foreignBucket = false;
  private server: Server | undefined;

  async start(): Promise<string> {
    this.server = createServer((request, response) => void this.answer(request, response));
    await new Promise<void>((resolve) => this.server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const service = /Credential=[^/]+\/\d+\/[^/]+\/([^/]+)\//.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const send = (status: number, text: string, type = "text/xml"): void => void response.writeHead(status, { "content-type": type }).end(text);
    if (this.expired) return send(403, "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code><Message>The security token included in the request is expired</Message></Error></ErrorResponse>");
    if (service === "s3") return this.s3(request, body, send);
    if (service === "cloudformation" || service === "sts") {
      const form = new URLSearchParams(body.toString());
      const action = form.get("Action") ?? "";
      this.calls.push(`${service}:${action}`);
      return service === "sts" ? send(200, wrap(action, "<Account>123456789012</Account><Arn>a</Arn><UserId>u</UserId>")) : this.formation(action, form, send);
    }
    const action = String(request.headers["x-amz-target"] ?? "").split(".").at(-1) ?? "";
    this.calls.push(`${service}:${action}`);
    return send(200, JSON.stringify(this.json(action)), "application/x-amz-json-1.1");
  }

  private json(action: string): object {
    if (action === "ListServiceQuotas") return { Quotas: [{ QuotaName: "ml.g5.xlarge for endpoint usage", QuotaCode: "L-1", Value: 4 }] };
    if (action === "StartBuild") return { build: { id: "b:1" } };
    const prefix = /models\/kokoro-82m\/[0-9a-f]{64}\//.exec(this.stacks.get("SpeechModelCacheStack-kokoro-82m")?.body ?? "")?.[0];
    this.objects.set(`headroom-speech-123456789012-us-east-1/${prefix}manifest.json`, Buffer.from("{}")); // the build has run
    return { builds: [{ id: "b:1", buildStatus: "SUCCEEDED", buildComplete: true, currentPhase: "COMPLETED" }] };
  }

  private s3(request: IncomingMessage, body: Buffer, send: (status: number, text: string) => void): void {
    const url = new URL(request.url ?? "/", "http://x");
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split("/");
    const key = rest.join("/");
    const there = this.stacks.has("SpeechFoundationStack");
    this.calls.push(`s3:${request.method} ${key === "" ? "bucket" : "object"}${url.searchParams.has("versions") ? " versions" : ""}`);
    if (request.method === "HEAD" && key === "") return send(this.foreignBucket ? 403 : there ? 200 : 404, "");
    if (request.method === "HEAD") return send(this.objects.has(`${bucket}/${key}`) ? 200 : 404, "");
    if (request.method === "PUT") {
      this.objects.set(`${bucket}/${key}`, body);
      return send(200, "");
    }
    if (request.method === "GET") {
      const rows = [...this.objects.keys()].map((name) => `<Version><Key>${name.slice((bucket ?? "").length + 1)}</Key><VersionId>v1</VersionId></Version>`);
      return send(200, `<ListVersionsResult><IsTruncated>false</IsTruncated>${rows.join("")}</ListVersionsResult>`);
    }
    if (request.method === "POST") {
      for (const [, name] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) this.objects.delete(`${bucket}/${name}`);
      return send(200, "<DeleteResult></DeleteResult>");
    }
    return send(204, "");
  }

  private formation(action: string, form: URLSearchParams, send: (status: number, text: string) => void): void {
    const name = form.get("StackName") ?? "";
    const stack = this.stacks.get(name);
    const visible = stack && (stack.body !== "" || stack.status === "REVIEW_IN_PROGRESS");
    if (action === "CreateChangeSet") {
      if ((form.get("ChangeSetType") === "UPDATE") !== (visible && stack.status !== "REVIEW_IN_PROGRESS" ? true : false)) {
        return send(400, failure("ValidationError", `Stack [${name}] is not what the change set's type says`));
      }
      const fresh = stack ?? { status: "REVIEW_IN_PROGRESS", body: "" };
      this.stacks.set(name, { ...fresh, set: form.get("TemplateBody") ?? "" });
      return send(200, wrap(action, `<Id>${name}/set</Id><StackId>s</StackId>`));
    }
    if (!visible) return send(400, failure("ValidationError", `Stack with id ${name} does not exist`));
    if (action === "DescribeStacks") {
      return send(200, wrap(action, `<Stacks><member><StackName>${name}</StackName><StackStatus>${stack.status}</StackStatus>`
        + `<CreationTime>2026-11-29T00:00:00Z</CreationTime></member></Stacks>`));
    }
    if (action === "DescribeChangeSet") {
      if (stack.set === stack.body) {
        return send(200, wrap(action, "<Status>FAILED</Status><StatusReason>The submitted information didn't contain changes.</StatusReason>"));
      }
      return send(200, wrap(action, "<Status>CREATE_COMPLETE</Status><Changes><member><Type>Resource</Type><ResourceChange><Action>Add</Action>"
        + "<LogicalResourceId>R</LogicalResourceId><ResourceType>AWS::X::Y</ResourceType></ResourceChange></member></Changes>"));
    }
    if (action === "ExecuteChangeSet" && stack.set !== undefined) {
      this.stacks.set(name, { status: stack.body === "" ? "CREATE_COMPLETE" : "UPDATE_COMPLETE", body: stack.set });
      return send(200, wrap(action, ""));
    }
    if (action === "GetTemplate") return send(200, wrap(action, `<TemplateBody>${stack.body.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</TemplateBody>`));
    if (action === "DeleteStack") {
      this.stacks.delete(name);
      return send(200, wrap(action, ""));
    }
    if (action === "DescribeStackEvents") {
      return send(200, wrap(action, `<StackEvents><member><EventId>e-${name}-${stack.status}</EventId><StackId>s</StackId><StackName>${name}</StackName>`
        + `<LogicalResourceId>R</LogicalResourceId><ResourceType>AWS::X::Y</ResourceType><ResourceStatus>CREATE_COMPLETE</ResourceStatus>`
        + "<Timestamp>2026-11-29T00:00:00Z</Timestamp></member></StackEvents>"));
    }
    return send(200, wrap(action, ""));
  }
}

const wrap = (action: string, inner: string): string => `<${action}Response><${action}Result>${inner}</${action}Result></${action}Response>`;
const failure = (code: string, message: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
