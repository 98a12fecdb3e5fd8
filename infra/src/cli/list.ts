// speech-infra list: the models, and whether a plan may be deployed for each. Files only.
import { makeDeployment } from "../deployment.ts";
import { modelNames } from "../model/model_file.ts";
import { EXIT, Problem } from "../problem.ts";
import type { Options } from "./options.ts";
import { table, type Terminal } from "./terminal.ts";

export function list(options: Options, terminal: Terminal): number {
  const names = options.models.length > 0 ? options.models : modelNames();
  if (names.length === 0) throw new Problem("there are no model files", "write models/NAME.toml");
  const rows = [["MODEL", "ENDPOINT", "INSTANCE", "COUNT", "TRANSPORT", "AUTOSCALING"]];
  let code: number = EXIT.good;
  for (const name of names) {
    try {
      const { model, judgement } = makeDeployment(name, options);
      const scaling = judgement.scaling ? `${judgement.plan.rule}, ${judgement.plan.policy.carrier} (${judgement.path})`
        : `none: ${judgement.failures[0]?.condition} fails`;
      rows.push([model.name, model.endpoint, model.instanceType, `${model.minInstances} to ${model.maxInstances}`, model.transport, scaling]);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      rows.push([name, "-", "-", "-", "-", `wrong: ${error.message}; ${error.remedy}`]);
      code = EXIT.failed;
    }
  }
  for (const line of table(rows)) terminal.say(line);
  return code;
}
