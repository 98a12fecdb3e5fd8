// What two templates differ in, one line each: "+" a resource, "-" a resource, "~" a property with both values. Pure.

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> => typeof value === "object" && value !== null && !Array.isArray(value);

function properties(before: Json, after: Json, path: string, out: string[]): void {
  if (isObject(before) && isObject(after)) {
    for (const key of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      properties(before[key], after[key], path === "" ? key : `${path}.${key}`, out);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    before.forEach((one, index) => properties(one, after[index], `${path}[${index}]`, out));
    return;
  }
  const [left, right] = [JSON.stringify(before), JSON.stringify(after)];
  if (left !== right) out.push(`${path}: ${left ?? "absent"} -> ${right ?? "absent"}`);
}

export function templateDiff(before: object, after: object): string[] {
  const resources = (template: object): Record<string, Json> => (template as { Resources?: Record<string, Json> }).Resources ?? {};
  const [old, made] = [resources(before), resources(after)];
  const lines: string[] = [];
  const typeOf = (value: Json): string => (isObject(value) ? String(value["Type"]) : "");
  for (const id of [...new Set([...Object.keys(old), ...Object.keys(made)])].sort()) {
    if (!(id in old)) {
      lines.push(`+ ${typeOf(made[id])} ${id}`);
    } else if (!(id in made)) {
      lines.push(`- ${typeOf(old[id])} ${id}`);
    } else {
      const changed: string[] = [];
      properties(old[id], made[id], "", changed);
      lines.push(...changed.map((line) => `~ ${typeOf(made[id])} ${id} ${line}`));
    }
  }
  for (const part of ["Parameters", "Outputs"] as const) {
    const changed: string[] = [];
    const section = (template: object): Json => (template as Record<string, Json>)[part] ?? {};
    properties(section(before), section(after), "", changed);
    lines.push(...changed.map((line) => `~ ${part} ${line}`));
  }
  return lines;
}
