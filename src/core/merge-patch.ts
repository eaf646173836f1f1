type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }

/**
 * The smallest JSON merge patch (RFC 7386) that turns `before` into `after`; undefined when they are equal.
 * Lists are values: a changed one is sent whole. A field that is gone is sent as null.
 */
export function mergePatch(before: unknown, after: unknown): unknown {
  // Most of what is compared was taken over as it was.
  if (before === after) return undefined
  if (!isObject(before) || !isObject(after)) return equalJson(before, after) ? undefined : after
  let patch: Record<string, unknown> | undefined
  for (const key of Object.keys(before)) {
    if (before[key] === undefined || own(after, key) !== undefined) continue
    patch ??= {}
    patch[key] = null
  }
  for (const key of Object.keys(after)) {
    const value = after[key]
    if (value === undefined) continue
    const old = own(before, key)
    const part = old === undefined ? value : mergePatch(old, value)
    if (part === undefined) continue
    patch ??= {}
    patch[key] = part
  }
  return patch
}

/** Equal as JSON: a field that is undefined is as good as absent. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => equalJson(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  for (const key of Object.keys(a)) if (!equalJson(a[key], own(b, key))) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && own(a, key) === undefined) return false
  return true
}

function isObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A key may be any word, also one that every object inherits. */
function own(object: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
