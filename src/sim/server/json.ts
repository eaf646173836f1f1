// JSON values as the API server handles them: compared by content, nulls and absent fields alike, never changed in place.

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Equal by content; a field that is undefined counts as absent. Shared parts are equal at a glance. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameJson(item, b[index]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  let fields = 0
  for (const key in a) {
    if (a[key] === undefined) continue
    fields++
    if (!sameJson(a[key], b[key])) return false
  }
  for (const key in b) if (b[key] !== undefined) fields--
  return fields === 0
}

/** Without fields that are null or undefined, as Go's decoder leaves them; the same object where there is nothing to drop. */
export function withoutEmpty<T>(value: T): T {
  return strip(value) as T
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const item = strip(value[i])
      if (item !== value[i]) {
        copy ??= value.slice()
        copy[i] = item
      }
    }
    return copy ?? value
  }
  if (!isJsonObject(value)) return value
  let copy: Record<string, unknown> | undefined
  let gone: Set<string> | undefined
  for (const key in value) {
    const field = value[key]
    if (typeof field !== 'object' && field !== undefined) continue
    const stripped = field === null ? undefined : strip(field)
    if (stripped === field && field !== undefined) continue
    if (stripped === undefined) {
      gone ??= new Set()
      gone.add(key)
    } else {
      copy ??= { ...value }
      copy[key] = stripped
    }
  }
  return without(copy ?? value, gone)
}

/** A copy, since an object that a field was deleted from is slow for whoever reads it from then on. */
function without(object: JsonObject, gone: ReadonlySet<string> | undefined): JsonObject {
  if (gone === undefined) return object
  const kept: Record<string, unknown> = {}
  for (const key in object) if (!gone.has(key)) kept[key] = object[key]
  return kept
}

/**
 * RFC 7386: null removes, objects merge, everything else replaces. Parts the patch does not change stay shared, the whole
 * among them; nothing empty gets in.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return strip(patch)
  const base = isJsonObject(target) ? target : undefined
  let result: Record<string, unknown> | undefined = base === undefined ? {} : undefined
  let gone: Set<string> | undefined
  for (const key in patch) {
    const value = patch[key]
    if (value === undefined) continue
    const old = base?.[key]
    const merged = value === null ? undefined : mergePatch(old, value)
    if (merged === old) continue
    if (merged === undefined) {
      gone ??= new Set()
      gone.add(key)
    } else {
      result ??= { ...base }
      result[key] = merged
    }
  }
  return without(result ?? base ?? {}, gone)
}
