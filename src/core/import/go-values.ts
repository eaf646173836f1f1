// Values as programs written in Go read them from flags.

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 3.6e6 }

/** `1h30m`, `1.5h`, `90s`, `0`: in milliseconds. */
export function goDuration(text: string): number | undefined {
  if (text === '0') return 0
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return undefined
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0), 0)
}

export function goBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : undefined
}

export function goInteger(text: string): number | undefined {
  return /^[-+]?\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Some charts write quotes into the value itself. */
export function withoutQuotes(text: string): string {
  return /^(["']).*\1$/s.test(text) && text.length >= 2 ? text.slice(1, -1) : text
}
