// os.image may name a tag by a pattern: `registry.example/os:1.*`. What is a pattern, what it matches, and which of these is newest.

import { type ImageReference, parseImageReference } from './reference.ts'

export type ImageWish =
  | { readonly kind: 'exact'; readonly reference: ImageReference }
  | { readonly kind: 'pattern'; readonly name: string; readonly pattern: string }

/** Undefined for what names no image. */
export function readImageWish(text: string): ImageWish | undefined {
  const colon = text.lastIndexOf(':')
  const pattern = text.slice(colon + 1)
  if (!text.includes('*')) {
    const reference = parseImageReference(text)
    return reference && { kind: 'exact', reference }
  }
  if (colon < 0 || !/^[A-Za-z0-9_.*-]{1,128}$/.test(pattern)) return undefined
  const reference = parseImageReference(text.slice(0, colon))
  if (!reference || reference.tag !== undefined || reference.digest !== undefined) return undefined
  return { kind: 'pattern', name: reference.name, pattern }
}

/** Signatures and other records lie in the same repository under tags made from a digest. */
const recordTag = /^sha256-[0-9a-f]{64}(\..+)?$/

export function matchesPattern(tag: string, pattern: string): boolean {
  if (recordTag.test(tag)) return false
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return tag === pattern
  // Each piece at the first place where it fits: no way back has to be tried.
  let at = tag.startsWith(first) ? first.length : -1
  for (const piece of others) {
    const found = at < 0 ? -1 : tag.indexOf(piece, at)
    at = found < 0 ? -1 : found + piece.length
  }
  return at >= 0 && tag.length - last.length >= at && tag.endsWith(last)
}

/**
 * The newest tag that matches. Where all of them are versions they are compared as such, and pre-releases are left out unless the
 * pattern asks for a suffix (`1.5-*`); else in natural order, so that `2026-10` comes after `2026-9`.
 */
export function newestTag(tags: readonly string[], pattern: string): string | undefined {
  const matching = tags.filter((tag) => matchesPattern(tag, pattern))
  const versions = matching.flatMap((tag) => versionOf(tag) ?? [])
  if (versions.length < matching.length) return newest(matching, naturalOrder)
  const wanted = pattern.includes('-') ? versions : versions.filter(({ suffix }) => suffix === '')
  return newest(wanted, compareTagVersions)?.tag
}

interface TagVersion {
  readonly tag: string
  readonly numbers: readonly number[]
  /** What comes after a hyphen: a pre-release. */
  readonly suffix: string
}

/** Two numbers at least: `2026-01-15` is a day. */
function versionOf(tag: string): TagVersion | undefined {
  const [, core, suffix = ''] = /^v?(\d{1,15}(?:\.\d{1,15}){1,4})(?:-(.+))?$/.exec(tag) ?? []
  return core === undefined ? undefined : { tag, numbers: core.split('.').map(Number), suffix }
}

function compareTagVersions(a: TagVersion, b: TagVersion): number {
  const length = Math.max(a.numbers.length, b.numbers.length)
  for (let place = 0; place < length; place++) {
    const difference = (a.numbers[place] ?? 0) - (b.numbers[place] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.suffix !== b.suffix && (a.suffix === '' || b.suffix === '')) return a.suffix === '' ? 1 : -1
  // Of two names for the same version the one that says more: 1.2 moves on with the next patch, 1.2.0 does not.
  return naturalOrder(a.suffix, b.suffix) || a.numbers.length - b.numbers.length || naturalOrder(a.tag, b.tag)
}

/** Runs of digits by their number, all else letter by letter. */
export function naturalOrder(a: string, b: string): number {
  const [left, right] = [pieces(a), pieces(b)]
  for (let place = 0; place < Math.max(left.length, right.length); place++) {
    const [one, other] = [left[place], right[place]]
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1
    const byNumber = isDigits(one) && isDigits(other) ? compareDigits(one, other) : 0
    if (byNumber !== 0) return byNumber
    if (one !== other && !(isDigits(one) && isDigits(other))) return one < other ? -1 : 1
  }
  return a === b ? 0 : a < b ? -1 : 1
}

function pieces(text: string): readonly string[] {
  return text.match(/\d+|\D/g) ?? []
}

function isDigits(piece: string): boolean {
  return /^\d/.test(piece)
}

/** However long they are. */
function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')]
  return left.length - right.length || (left === right ? 0 : left < right ? -1 : 1)
}

function newest<T>(items: readonly T[], compare: (a: T, b: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (best, item) => (best === undefined || compare(item, best) > 0 ? item : best),
    undefined,
  )
}
