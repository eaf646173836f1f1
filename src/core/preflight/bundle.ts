import type { ReasonCode } from '../../api/reason.ts'
import { nameList } from '../name-list.ts'
import { type Check, passed, warned } from './check.ts'
import { lastAttempts } from './last-attempt.ts'

const bundleCodes: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['BundleMissing', 'BundleBroken', 'BundleIncomplete'])

/** Each host reads the bundle when it stages, before it is drained, and proves that all it needs is there. */
export const bundle: Check = {
  name: 'Bundle',
  judge: (view) => {
    if (!view.spec.airGapped) return undefined
    const tried = lastAttempts(view, bundleCodes)
    const [first] = tried
    if (!first) return passed('no host has found it wanting; each reads it when it stages, before it is drained')
    return warned(`when last tried, it failed on ${nameList(tried.map(({ node }) => node))}: ${first.reason.message}`)
  },
}
