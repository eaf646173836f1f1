import type { Reason, ReasonCode } from '../../api/reason.ts'
import type { CheckView } from './check.ts'

/** What hosts said when they last tried to fetch something, for one of these reasons. */
export function lastAttempts(
  { selected, stateOf }: CheckView,
  codes: ReadonlySet<ReasonCode>,
): readonly { readonly node: string; readonly reason: Reason }[] {
  return selected.flatMap(({ metadata: { name } }) => {
    const order = stateOf(name)?.status?.agent?.order
    const reasons = [order?.reason, ...(order?.steps ?? []).map(({ reason }) => reason)]
    const reason = reasons.find((found) => found !== undefined && codes.has(found.code))
    return reason ? [{ node: name, reason }] : []
  })
}
