// A right, what would not work without it, and the tests in which it is used: those fail where it is missing, and a right that
// its test does not use is found out, too.

export interface ResourceRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  /** Only these; absent: all. */
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

export interface PageRule {
  readonly nonResourceURLs: readonly string[]
  readonly verbs: readonly string[]
}

export type Rule = ResourceRule | PageRule

/** By verb the file below test/apiserver whose flow uses it on each resource of the rule. */
export type Uses = Readonly<Record<string, string>>

export interface Right {
  readonly rule: Rule
  readonly why: string
  readonly uses: Uses
}

export function right(group: string, resources: readonly string[], uses: Uses, why: string): Right {
  return { rule: { apiGroups: [group], resources, verbs: Object.keys(uses) }, why, uses }
}

/** Over these objects and no other. */
export function rightOver(
  names: readonly string[],
  group: string,
  resources: readonly string[],
  uses: Uses,
  why: string,
): Right {
  return { rule: { apiGroups: [group], resources, resourceNames: names, verbs: Object.keys(uses) }, why, uses }
}

/** A page of the API server that is no resource. */
export function page(path: string, test: string, why: string): Right {
  return { rule: { nonResourceURLs: [path], verbs: ['get'] }, why, uses: { get: test } }
}

export const ourGroup = 'slipway.dev'
