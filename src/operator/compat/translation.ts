// What every translator of a foreign resource answers: our spec, and what of theirs has no equivalent; or why there can be none.

/** A schema of src/api. */
interface Schema<S> {
  safeParse(value: unknown):
    | { readonly success: true; readonly data: S }
    | {
        readonly success: false
        readonly error: {
          readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
        }
      }
}

export type Translated<S> =
  | {
      readonly spec: S
      /** What has no equivalent, and what is done instead; for a person. */
      readonly notes: readonly string[]
    }
  | Refusal

export interface Refusal {
  readonly refusal: string
  /** Something outside of the resource is missing: it may come. */
  readonly waits?: true
}

/** Holds a spec of ours against our own schema, in the words of the foreign fields: `fields` leads from ours to theirs. */
export function checked<S>(
  schema: Schema<S>,
  spec: S,
  notes: readonly string[],
  fields: Readonly<Record<string, string>>,
): Translated<S> {
  const result = schema.safeParse(spec)
  if (result.success) return { spec: result.data, notes }
  const [issue] = result.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  const known = Object.keys(fields).find((ours) => path === ours || path.startsWith(`${ours}.`))
  return { refusal: `${known === undefined ? path : fields[known]} ${issue?.message ?? 'cannot be translated'}` }
}

/** The foreign spec as its schema reads it; a definition other than the one we know may have let anything through. */
export function readSpec<S>(schema: Schema<S>, spec: unknown): { readonly value: S } | { readonly refusal: string } {
  const result = schema.safeParse(spec ?? {})
  if (result.success) return { value: result.data }
  const [issue] = result.error.issues
  return { refusal: `spec${issue?.path.map((part) => `.${String(part)}`).join('') ?? ''}: ${issue?.message}` }
}
