// Wildcards that a policy cannot do without, each acknowledged to cdk-nag by its exact resource and with its reason.
import { Validations } from "aws-cdk-lib";
import type { IConstruct } from "constructs";

// How cdk-nag writes a resource that holds pseudo parameters.
export const nagName = (pattern: string): string => pattern.replace(/\$\{([^}]+)\}/g, "<$1>");

export function acknowledgeWildcards(scope: IConstruct, reasons: Record<string, string>): void {
  Validations.of(scope).acknowledge(...Object.entries(reasons).map(([resource, reason]) => ({
    id: `AwsSolutions::AwsSolutions-IAM5[Resource::${resource}]`, reason,
  })));
}
