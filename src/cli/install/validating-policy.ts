// A ValidatingAdmissionPolicy and its binding: rules that the API server itself keeps, whoever writes and by whatever program.

import type { Manifest } from './manifest.ts'
import { ourGroup } from './right.ts'

export interface Validation {
  readonly expression: string
  readonly message?: string
  /** CEL; it must be a string. */
  readonly messageExpression?: string
  /** Forbidden: a right is missing. Without it the object is called invalid. */
  readonly reason?: 'Forbidden'
}

export interface PolicyDraft {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[]
  /** Of our own group. */
  readonly resources: readonly string[]
  /** Whose writes are looked at: name and CEL. */
  readonly concerns: Readonly<Record<string, string>>
  /** Name and CEL; each may use those before it. */
  readonly variables: Readonly<Record<string, string>>
  readonly validations: readonly Validation[]
}

/** Where a policy cannot be judged, the write is refused. */
export function validatingPolicy(draft: PolicyDraft): readonly Manifest[] {
  const { name, labels, operations, resources, concerns, variables, validations } = draft
  const named = (entries: Readonly<Record<string, string>>) =>
    Object.entries(entries).map(([entry, expression]) => ({ name: entry, expression }))
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name, labels }
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [{ apiGroups: [ourGroup], apiVersions: ['*'], operations, resources }],
        },
        matchConditions: named(concerns),
        variables: named(variables),
        validations,
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
}

/** CEL: the writer has this right. One question costs a third of what an expression may. */
export function mayUpdate(subResource: string): string {
  const right = `authorizer.group('${ourGroup}').resource('directupdates').subresource('${subResource}')`
  return `${right}.name(request.name).check('update').allowed()`
}

/** CEL: a field of two objects is the same, or in neither. */
export function isSame(field: string, before: string, after: string): string {
  return `has(${after}.${field}) == has(${before}.${field}) && (!has(${after}.${field}) || ${after}.${field} == ${before}.${field})`
}
