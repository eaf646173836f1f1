// Whether a kind as it is served is the one this program knows. The server fills in what is left out elsewhere, so only the
// versions and their schemas are compared.

import type { ObjectMeta } from '../../api/kube.ts'

export interface Definition {
  readonly metadata: Pick<ObjectMeta, 'name'>
  readonly spec: {
    readonly versions?: readonly { readonly name: string; readonly served: boolean; readonly schema?: unknown }[]
  }
}

export function sameDefinition(ours: Definition, theirs: Definition): boolean {
  return formOf(ours) === formOf(theirs)
}

function formOf({ spec }: Definition): string {
  const versions = (spec.versions ?? []).filter(({ served }) => served)
  return JSON.stringify(versions.map(({ name, schema }) => [name, sorted(schema)]))
}

/** Keys in one order: two servers need not write them alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]))
}
