// After a restore of etcd the API is of the past: nodes may be under work of which it knows nothing. So nothing is given out, and
// nothing that was given goes on, before every agent has said what its host does. Then the epoch goes above all that any of them has
// seen, and what the API says is the truth again.

import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import { restoredAnnotation } from '../../api/maintenance-policy.ts'
import type { Reason } from '../../api/reason.ts'

/** A node that is away needs this long to be known as away. */
export const rollCallGraceMs = 60_000
const namesShown = 20

/**
 * Why a new leader calls the roll first: a restore left its mark, or an agent has seen an epoch that the ledger has not come to,
 * which is so only where the ledger went back; or a roll call was begun and not ended. A ledger that is not there at all was deleted: what runs is in the NodeStates then.
 */
export function rollCallDue(policy: MaintenancePolicy | undefined, highestEpoch: number): string | undefined {
  const mark = policy?.metadata.annotations?.[restoredAnnotation]
  const ledger = policy?.status?.ledger
  if (mark !== undefined && mark !== '' && mark !== ledger?.restored) return mark.slice(0, 64)
  if (policy?.status?.rollCall) return policy.status.rollCall.name
  return ledger && highestEpoch > ledger.epoch ? `epoch-${highestEpoch}` : undefined
}

export interface RollCallNode {
  readonly name: string
  readonly isReady: boolean
  /** Whether an agent ever reported from there, and what it last answered. */
  readonly agent: { readonly rollCall?: string | undefined } | undefined
}

/**
 * Whose word is still missing. A node that is not Ready counts against the budget anyway, and its agent reads the API before it does
 * anything; but that it is not Ready may itself be of the past, so at first everybody is waited for.
 */
export function notHeard(name: string, nodes: readonly RollCallNode[], calledForMs: number): readonly string[] {
  const isEarly = calledForMs < rollCallGraceMs
  return nodes
    .filter(({ agent, isReady }) => agent && agent.rollCall !== name && (isReady || isEarly))
    .map((node) => node.name)
    .toSorted()
}

function rollCallReason(waiting: readonly string[]): Reason {
  if (waiting.length === 0) return { code: 'RollCall', message: 'etcd was restored: every agent is asked first' }
  const shown = waiting.slice(0, 3).join(', ')
  const more = waiting.length > 3 ? ` and ${waiting.length - 3} more` : ''
  return {
    code: 'RollCall',
    message: `etcd was restored: nothing starts before the agents of ${shown}${more} have reported`,
  }
}

export function rollCallStatus(name: string, since: Date, waiting: readonly string[]) {
  const waitingFor = waiting.slice(0, namesShown)
  return { name, since: since.toISOString(), waitingFor, left: waiting.length, reason: rollCallReason(waiting) }
}
