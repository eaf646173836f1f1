// OCI 1.1: the registry's own list of what refers to an image. Older ones have none, and say so in many ways.

import type { Referrer } from '../../api/image-signature.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { readReferrers } from '../../core/image/referrers.ts'
import { nextPage } from './next-page.ts'
import { refused } from './registry-failure.ts'
import type { Found, RegistrySession } from './registry-session.ts'

const indexType = 'application/vnd.oci.image.index.v1+json'
const referrersAtMost = 1000

export async function allReferrers(
  session: RegistrySession,
  digests: readonly string[],
  signal: AbortSignal,
): Promise<readonly Referrer[]> {
  const all: Referrer[] = []
  for (const digest of digests) {
    try {
      all.push(...(await referrersOf(session, digest, signal)))
    } catch (error) {
      if (!(error instanceof SlipwayError) || error.code !== 'RegistryRefused') throw error
    }
  }
  return all
}

async function referrersOf(
  session: RegistrySession,
  digest: string,
  signal: AbortSignal,
): Promise<readonly Referrer[]> {
  const found = new Map<string, Referrer>()
  let next: string | URL | undefined = `referrers/${digest}`
  while (next !== undefined && found.size < referrersAtMost) {
    const page: Found = await session.get(next, indexType, signal)
    const referrers = readReferrers(page.answer.body.toString('utf8'))
    if (!referrers) throw refused(page.url, 'answers something that is no list of referrers', 'look at the registry')
    const before = found.size
    for (const referrer of referrers) found.set(referrer.digest, referrer)
    // One that repeats its pages would keep us for ever.
    next = found.size > before ? nextPage(page) : undefined
  }
  return [...found.values()]
}
