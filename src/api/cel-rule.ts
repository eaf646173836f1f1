// Rules the API server itself enforces, written beside the zod schema that means the same.

/** One rule of a custom resource: `rule` is CEL over `self` (and `oldSelf`), `message` names the fix. */
export interface CelRule {
  readonly rule: string
  readonly message: string
  /** Which field the message is about, where the rule stands higher up. */
  readonly fieldPath?: string
}

/** Metadata for a zod schema; the CRD generator copies it as it stands. */
export function celRules(...rules: readonly CelRule[]): { readonly 'x-kubernetes-validations': readonly CelRule[] } {
  return { 'x-kubernetes-validations': rules }
}
