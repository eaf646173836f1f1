/**
 * A short, stable fingerprint of a JSON value (FNV-1a, 52 bits as hex): tells whether two values differ.
 * Not for secrets or integrity: contents that are run are pinned by SHA-256.
 */
export function fingerprint(value: unknown): string {
  const text = canonicalJson(value)
  let low = 0x811c9dc5
  let high = 0x01000193
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    low = Math.imul(low ^ code, 0x01000193)
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (low >>> 13)
  }
  return (high >>> 0).toString(16).padStart(8, '0').slice(0, 5) + (low >>> 0).toString(16).padStart(8, '0')
}

/** JSON with sorted keys and without undefined fields, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    let text = ''
    for (const key of Object.keys(value).sort()) {
      const field: unknown = Reflect.get(value, key)
      if (field === undefined) continue
      text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(field)}`
    }
    return `{${text}}`
  }
  return JSON.stringify(value) ?? 'null'
}
