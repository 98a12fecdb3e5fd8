// What AWS does not change in place, and the template in between that lacks it. Pure.
// A policy keeps its name and changes its type: PutScalingPolicy refuses. An instance type changes while a scalable target stands:
// UpdateEndpoint refuses (SageMaker Developer Guide, "Update endpoints that use auto scaling").
import { parseTemplate } from "./stack_runner.ts";

interface Resource { Type: string; Properties?: Record<string, unknown>; DependsOn?: string | string[] }
interface Template { Resources?: Record<string, Resource> }

const POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy";
const TARGET = "AWS::ApplicationAutoScaling::ScalableTarget";

function typesByName(template: Template): Map<string, string> {
  return new Map(Object.values(template.Resources ?? {}).filter((one) => one.Type === POLICY)
    .map((one) => [String(one.Properties?.["PolicyName"]), String(one.Properties?.["PolicyType"])]));
}

function instanceTypes(template: Template): string {
  return JSON.stringify(Object.values(template.Resources ?? {}).filter((one) => one.Type === "AWS::SageMaker::EndpointConfig")
    .map((one) => (one.Properties?.["ProductionVariants"] as { InstanceType?: string }[] | undefined)?.map((variant) => variant.InstanceType)));
}

// The deployed template without what stands in the way; undefined: nothing does, or it is not JSON and nobody can tell.
export function withoutWhatBlocks(deployed: string, wanted: string): string | undefined {
  const old = parseTemplate(deployed) as Template;
  const made = JSON.parse(wanted) as Template;
  const types = typesByName(made);
  const otherMachine = instanceTypes(old) !== instanceTypes(made);
  const gone = Object.entries(old.Resources ?? {}).filter(([, resource]) => {
    if (otherMachine && (resource.Type === POLICY || resource.Type === TARGET)) return true;
    const type = resource.Type === POLICY ? types.get(String(resource.Properties?.["PolicyName"])) : undefined;
    return type !== undefined && type !== resource.Properties?.["PolicyType"];
  }).map(([id]) => id);
  if (gone.length === 0) return undefined;
  const kept = Object.entries(old.Resources ?? {}).filter(([id, resource]) => !gone.includes(id) && !gone.some((one) => refers(resource, one)));
  return JSON.stringify({ ...old, Resources: Object.fromEntries(kept) });
}

const refers = (resource: Resource, id: string): boolean => JSON.stringify(resource.Properties ?? {}).includes(`{"Ref":"${id}"}`);
