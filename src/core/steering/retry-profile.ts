// What a person says to a profile: try the nodes again on which it failed. Each change of what it wants is another attempt anyway.

import type { NodeProfile, NodeProfileSpec } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { profileRunOf } from '../profile/operation-id.ts'
import { withStillAsked } from './still-asked.ts'

/** As a merge patch: null takes out what an earlier word left. */
export interface ProfileRetry {
  readonly retry: { readonly token: string; readonly nodes: NonNullable<NodeProfileSpec['retry']>['nodes'] | null }
}

/** What to write, and the sentence for the person; throws where it makes no sense. `states` as for the retry of an update. */
export function retryProfile(
  { metadata, spec: { retry }, status }: NodeProfile,
  nodes: readonly string[],
  uuid: string,
  states?: readonly NodeState[],
) {
  const { name } = metadata
  const failed = status?.nodes?.failed ?? 0
  if (failed === 0) {
    throw new SlipwayError('Refused', `no node failed for NodeProfile ${name} or needs a person`, {
      nextStep: 'see: slipway status; where an update rolls it out, retry the update',
    })
  }
  // What failed for an earlier revision is tried by no word any more. Where none is rolled out now, nobody can tell which is earlier.
  const now = profileRunOf(status?.operationID ?? '')?.revision
  const isOurs = (id: string) => {
    const run = profileRunOf(id)
    return run?.profile === name && (now === undefined || run.revision === now)
  }
  // A profile does not tell which word it has followed.
  const before = { retry, isOurs, isFollowed: true }
  const again = nodes.length > 0 ? withStillAsked(nodes, before, states) : undefined
  const spec: ProfileRetry = { retry: { token: uuid.slice(0, 8), nodes: again ? [...again.named] : null } }
  const which = nodes.length > 0 ? nodes.join(', ') : failed === 1 ? 'the node that failed is' : `${failed} nodes are`
  return { spec, said: `${which} tried again${again?.also ?? ''}; follow it: slipway status` }
}
