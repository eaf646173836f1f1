import type { DirectUpdate } from '../../api/direct-update.ts'
import type { Work } from '../../api/work.ts'
import type { Operation } from '../../core/update/operation.ts'
import type { Terms } from './terms.ts'
import { expired } from './update-status.ts'

/** On what terms a DirectUpdate takes its nodes now. `profileWork`: what rolling a profile out asks of one node. */
export function updateTerms(
  update: DirectUpdate,
  { id, work }: Operation,
  profileWork: (node: string, profile: string) => Work | undefined,
  now: Date,
): Terms {
  const { metadata, spec, status } = update
  const { nodeSelector, strategy, approvals, desiredState: desired, profile } = spec
  const terms: Terms = {
    ...{ nodeSelector, strategy, approvals, desired, generation: metadata.generation },
    wave: status?.operationID === id ? status.wave : undefined,
    expired: expired(update, now),
  }
  if (profile === undefined) return terms
  return {
    ...terms,
    isDone: () => false,
    workFor: (node) => {
      const { reboot, ...rest } = profileWork(node, profile) ?? {}
      return { ...work, ...rest, ...(reboot !== undefined && work.reboot === undefined && { reboot }) }
    },
  }
}
