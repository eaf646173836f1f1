// What a person says to a profile: try the nodes again on which it failed. Each change of what it wants is another attempt anyway.

import type { NodeProfile, NodeProfileSpec } from '../../api/node-profile.ts'
import { SlipwayError } from '../../api/slipway-error.ts'

/** As a merge patch: null takes out what an earlier word left. */
export interface ProfileRetry {
  readonly retry: { readonly token: string; readonly nodes: NonNullable<NodeProfileSpec['retry']>['nodes'] | null }
}

/** What to write, and the sentence for the person; throws where it makes no sense. */
export function retryProfile({ metadata, status }: NodeProfile, nodes: readonly string[], uuid: string) {
  const { name } = metadata
  const failed = status?.nodes?.failed ?? 0
  if (failed === 0) {
    throw new SlipwayError('Refused', `no node failed for NodeProfile ${name} or needs a person`, {
      nextStep: 'see: slipway status; where an update rolls it out, retry the update',
    })
  }
  const spec: ProfileRetry = { retry: { token: uuid.slice(0, 8), nodes: nodes.length > 0 ? [...nodes] : null } }
  const which = nodes.length > 0 ? nodes.join(', ') : failed === 1 ? 'the node that failed is' : `${failed} nodes are`
  return { spec, said: `${which} tried again; follow it: slipway status` }
}
