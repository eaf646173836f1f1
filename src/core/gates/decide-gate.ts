// From what was found and since when it is so to what follows: go on, wait, or give up. Unknown is not good enough.

import type { Reason } from '../../api/reason.ts'
import { formatDuration } from '../duration.ts'
import type { Gate, Look } from './gate.ts'

export type GateVerdict =
  | { readonly state: 'passed' }
  | { readonly state: 'waiting' | 'unseen' | 'failed'; readonly reason: Reason }

/** `lateMs`: from when on its time counts as over. */
export function decideGate(gate: Gate, look: Look, nowMs: number, lateMs: number): GateVerdict {
  if (look.state === 'holds') return { state: 'passed' }
  const { name, timeoutMs, everyMs } = gate
  const what = `gate ${name}: ${look.message}`
  if (look.state === 'broken') return { state: 'failed', reason: { code: 'GateFailed', message: what.slice(0, 4000) } }
  if (nowMs >= lateMs) {
    const message = `${what.slice(0, 3800)}; not so within its timeout of ${formatDuration(timeoutMs)}, looked at every ${formatDuration(everyMs)}`
    return { state: 'failed', reason: { code: 'GateFailed', message } }
  }
  const message = `${what.slice(0, 3800)}; looked at every ${formatDuration(everyMs)}, for ${formatDuration(timeoutMs)} at most`
  return { state: look.state === 'unseen' ? 'unseen' : 'waiting', reason: { code: 'GateWaiting', message } }
}
