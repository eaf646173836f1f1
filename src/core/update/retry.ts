// Trying again. A node remembers the token that was there when it failed: another one asks for it again, and a node that
// fails later is not taken for one that was meant.

import type { Rollout } from '../../api/node-state.ts'
import type { Operation } from './operation.ts'

const broken: ReadonlySet<Rollout['phase']> = new Set(['Failed', 'RequiresAttention'])

export function isBroken(phase: Rollout['phase']): boolean {
  return broken.has(phase)
}

/** Whether a person asked for another attempt on this node since it failed. */
export function isRetryDue(
  operation: Pick<Operation, 'id' | 'retry' | 'skip' | 'cancel'>,
  node: string,
  rollout: Pick<Rollout, 'operationID' | 'phase' | 'retried'>,
): boolean {
  const { retry, cancel } = operation
  if (!retry || cancel !== undefined || !isBroken(rollout.phase) || rollout.operationID !== operation.id) return false
  if (retry.nodes ? !retry.nodes.includes(node) : operation.skip?.has(node)) return false
  return rollout.retried !== retry.token
}

/** What a rollout that just failed, or calls for a person, remembers. */
export function retryMark({ retry }: Operation): { readonly retried?: string } {
  return retry ? { retried: retry.token } : {}
}
