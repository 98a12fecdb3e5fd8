// A policy that keeps its name and changes its type cannot be put in place. The template in between holds neither. Pure.

interface Resource { Type: string; Properties?: Record<string, unknown>; DependsOn?: string | string[] }
interface Template { Resources: Record<string, Resource> }

const POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy";

function typesByName(template: Template): Map<string, string> {
  return new Map(Object.values(template.Resources).filter((one) => one.Type === POLICY)
    .map((one) => [String(one.Properties?.["PolicyName"]), String(one.Properties?.["PolicyType"])]));
}

// undefined: no policy changes its type.
export function withoutRetypedPolicies(deployed: string, wanted: string): string | undefined {
  const old = JSON.parse(deployed) as Template;
  const types = typesByName(JSON.parse(wanted) as Template);
  const gone = Object.entries(old.Resources).filter(([, resource]) => {
    const type = resource.Type === POLICY ? types.get(String(resource.Properties?.["PolicyName"])) : undefined;
    return type !== undefined && type !== resource.Properties?.["PolicyType"];
  }).map(([id]) => id);
  if (gone.length === 0) return undefined;
  const kept = Object.entries(old.Resources).filter(([id, resource]) => !gone.includes(id) && !gone.some((one) => refers(resource, one)));
  return JSON.stringify({ ...old, Resources: Object.fromEntries(kept) });
}

const refers = (resource: Resource, id: string): boolean => JSON.stringify(resource.Properties ?? {}).includes(`{"Ref":"${id}"}`);
