// What went wrong at AWS, as cause and remedy. Pure: from an error's name and message to a Problem.
import { Problem } from "../problem.ts";
import { NotOffered } from "./cloud.ts";

interface Cause { matches: RegExp; say: (text: string) => [string, string] }

const CAUSES: Cause[] = [
  { matches: /Region is missing/, say: () => ["no AWS region is set", "pass --region REGION, or set AWS_REGION"] },
  { matches: /Could not resolve credentials|Could not load credentials|CredentialsProviderError/,
    say: () => ["no AWS credentials were found", "aws configure sso (or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), then run it again"] },
  { matches: /ExpiredToken|Token.*expired|RequestExpired|token.*has expired/i,
    say: () => ["the AWS credentials have expired", "sign in again (aws sso login, or new session keys), then run it again; what was deployed stays"] },
  { matches: /InvalidClientTokenId|UnrecognizedClientException|InvalidAccessKeyId|SignatureDoesNotMatch/,
    say: (text) => [`AWS does not accept the credentials (${text})`, "check the profile (aws sts get-caller-identity) and the clock of this machine"] },
  { matches: /AccessDenied|not authorized to perform/,
    say: (text) => [`not allowed: ${text}`, "attach the policies of infra/iam for this command (docs/operations.md, Permissions)"] },
  { matches: /BucketAlreadyExists|bucket name is not available/i,
    say: (text) => [`the bucket's name is taken by another account (${text})`,
      "delete that bucket if it is yours; else deploy in another region: the name is headroom-speech-ACCOUNT-REGION"] },
  { matches: /BucketAlreadyOwnedByYou|already exists/i,
    say: (text) => [`something of that name is already there, outside the stack (${text})`,
      "it is left from an earlier deployment: delete it if it is not needed, or import it into the stack (aws cloudformation create-change-set --change-set-type IMPORT)"] },
  { matches: /ResourceLimitExceeded|service limit|quota/i,
    say: (text) => [`the account's limit is too small (${text})`,
      "ask for more: aws service-quotas request-service-quota-increase --service-code sagemaker (docs/operations.md, Quotas), or lower instance.max"] },
  { matches: /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|TimeoutError|connect timed out/,
    say: (text) => [`the service cannot be reached (${text})`, "check the network, --region and --endpoint-url"] },
  { matches: /Throttling|TooManyRequests|Rate exceeded/, say: () => ["AWS asks to slow down", "wait a minute and run it again; what was deployed stays"] },
];

export function explain(error: unknown): unknown {
  if (error instanceof Problem) return error;
  if (error instanceof NotOffered) {
    return new Problem(error.message, "a local cloud has no CloudFormation: create the endpoint with tts-local up MODEL, and its policy with tts-bench apply");
  }
  if (!(error instanceof Error)) return error;
  if (/^E(ACCES|PERM|ROFS|NOSPC|NOTDIR|ISDIR|NOENT|MFILE)$/.test((error as NodeJS.ErrnoException).code ?? "")) {
    return new Problem(error.message, "check that path, its permissions and the space left there");
  }
  const cause = causeOf(`${error.name}: ${error.message}`);
  if (cause) return new Problem(cause[0], cause[1]);
  return error.name === "Error" || error.name === "TypeError" ? error : new Problem(`${error.name}: ${error.message}`, "see the message; nothing further was changed");
}

// Cause and remedy of a message, of a call or of a stack's event; undefined: not known.
export function causeOf(text: string): [string, string] | undefined {
  const short = text.replace(/\s+/g, " ").slice(0, 400);
  return CAUSES.find(({ matches }) => matches.test(text))?.say(short);
}
