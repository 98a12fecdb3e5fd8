// Deployment: all that the stacks of one model are made from. Read from files and options; no account is needed.
import { join } from "node:path";
import { type ModelFile, loadModelFile } from "./model/model_file.ts";
import { type HuggingFaceSource, loadHuggingFace } from "./model/hugging_face.ts";
import { hereOrRoot } from "./paths.ts";
import { type Judgement, judge } from "./plan/judge.ts";
import { readPlan } from "./plan/plan_file.ts";
import { Problem } from "./problem.ts";
import { preparationSource, type PreparationSource } from "./model/preparation.ts";

export interface Deployment {
  model: ModelFile;
  judgement: Judgement;
  planPath: string;
  image: string; // "": the template asks for it
  weightsInImage: boolean;
  alarmTopic: string | undefined;
  huggingFace: HuggingFaceSource | undefined;
  source: PreparationSource;
}

export interface DeploymentOptions {
  imageUri?: string | undefined;
  weightsInImage?: boolean | undefined;
  plan?: string | undefined;
  noPlan?: boolean | undefined;
  alarmTopic?: string | undefined;
  hfTokenSecret?: string | undefined;
}

const IMAGE = /^[a-zA-Z0-9][\w.:/@-]{0,511}$/;

export const speaks = (model: ModelFile): boolean => model.environment["TTS_ENGINE"] !== "paced"; // the paced engine has no weights
export const onGpu = (model: ModelFile): boolean => model.environment["TTS_DEVICE"] === "cuda";
// Machines with an NVIDIA GPU are of the families g and p ("Amazon SageMaker AI pricing").
export const GPU_TYPE = /^ml\.[gp]\d/;
// Weights that the stacks bring: not those that the image holds.
export const bringsWeights = ({ model, weightsInImage }: Deployment): boolean => speaks(model) && !weightsInImage;

export function makeDeployment(name: string, options: DeploymentOptions): Deployment {
  const model = loadModelFile(name);
  if (model.instanceType === "") {
    throw new Problem(`${model.path} names no instance type`, "set instance.type, for instance \"ml.g5.xlarge\"");
  }
  if (speaks(model) && model.manifestSha256 === "") {
    throw new Problem(`weights.manifest_sha256 is blank in ${model.path}: nothing would say which weights may be served`,
      "fill in the SHA-256 of manifest.json (./dev setup prints it; sha256sum MODEL_DIR/manifest.json)");
  }
  if (onGpu(model) && !GPU_TYPE.test(model.instanceType)) {
    throw new Problem(`${model.path} asks for a GPU (TTS_DEVICE = "cuda"), and ${model.instanceType} has none`,
      "set instance.type to one such as ml.g5.xlarge, or leave TTS_DEVICE out");
  }
  const image = options.imageUri ?? (model.image === "local" ? "" : model.image);
  if (image !== "" && !IMAGE.test(image)) {
    throw new Problem(`'${image}' is no image URI`, "give ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY@sha256:... or :TAG");
  }
  const planPath = options.plan ?? hereOrRoot(join("artifacts", model.endpoint, "plan.json"));
  const read = options.noPlan ? ({ state: "absent", path: "(--no-plan)" } as const) : readPlan(planPath);
  if (options.plan !== undefined && read.state === "absent" && !options.noPlan) {
    throw new Problem(`there is no file ${options.plan}`, "correct --plan, or leave it out to use artifacts/<endpoint>/plan.json");
  }
  return {
    model,
    judgement: judge(model, read),
    planPath,
    image,
    weightsInImage: options.weightsInImage === true,
    alarmTopic: options.alarmTopic,
    huggingFace: options.hfTokenSecret === undefined ? undefined : loadHuggingFace(model.name, options.hfTokenSecret),
    source: preparationSource(),
  };
}
