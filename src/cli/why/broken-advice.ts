import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Rollout } from '../../api/node-state.ts'

/** How a node that failed or needs a person goes on, once its cause is gone; undefined where it did not. */
export function brokenAdvice(
  node: string,
  { kind, phase, update }: Rollout,
  updates: readonly DirectUpdate[],
): string | undefined {
  if (phase !== 'Failed' && phase !== 'RequiresAttention') return undefined
  const mended = 'when it is put right:'
  if (kind === 'NodeProfile')
    return `${mended} slipway retry --profile ${update} ${node}; slipway release ${node} gives it back as it is`
  const found = updates.find(({ metadata }) => metadata.name === update)
  // What is cancelled or gone tries nothing again.
  const tries = found && found.spec.desiredState !== 'Cancelled' && found.status?.phase !== 'Cancelled'
  if (kind === 'Maintenance' || !tries) return `${mended} slipway release ${node}`
  return `${mended} slipway retry ${update} ${node}; slipway skip ${update} ${node} leaves it out`
}
