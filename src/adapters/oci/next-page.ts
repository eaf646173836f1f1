import { cannotReach } from './registry-failure.ts'
import type { Found } from './registry-session.ts'

/** `<…?last=…>; rel="next"`: on the same server only. */
export function nextPage({ url, answer }: Found): URL | undefined {
  const { link = '' } = answer.headers
  const target = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(String(link))?.[1]
  if (target === undefined) return undefined
  const next = URL.parse(target, url.href)
  if (!next || next.origin !== url.origin) throw cannotReach(url, 'names another server for its further pages')
  return next
}
