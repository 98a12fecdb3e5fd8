// Names of stacks and of what they hold. Fixed names, no exports: each stack can be deployed, mended and removed on its own.
export const FOUNDATION_STACK = "SpeechFoundationStack";
export const REPOSITORY = "headroom-tts-serve";
export const BUCKET_PATTERN = "headroom-speech-${AWS::AccountId}-${AWS::Region}";
export const ROLE_PATTERN = "headroom-speech-execution-${AWS::Region}";

// Stack names hold letters, digits and hyphens.
export function stackPart(model: string): string {
  return model.replace(/[^A-Za-z0-9-]/g, "-");
}
export const cacheStack = (model: string): string => `SpeechModelCacheStack-${stackPart(model)}`;
export const endpointStack = (model: string): string => `SpeechEndpointStack-${stackPart(model)}`;
export const cacheProject = (model: string): string => `headroom-model-cache-${stackPart(model)}`;

export const bucketOf = (account: string, region: string): string => `headroom-speech-${account}-${region}`;

// Weights lie under the hash of their manifest: a deployment never finds other bytes than the model file names.
export const weightsPrefix = (model: string, manifestSha256: string): string => `models/${model}/${manifestSha256}/`;
// The preparation scripts lie under the hash of their archive.
export const sourceKey = (sha256: string): string => `source/${sha256}.zip`;

export const ownPrefix = (endpoint: string, variant: string): string => `headroom-${endpoint}-${variant}-`;
