import { createHash } from 'node:crypto'

/** A short name for all the given parts together: another part, or another order, another name. */
export function contentKey(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(createHash('sha256').update(part).digest())
  return hash.digest('hex').slice(0, 12)
}

export function sha256(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}
