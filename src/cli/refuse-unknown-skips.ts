// One rule for an update that is made and for one that is planned, so that no plan is told of what would be refused.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import type { Node } from '../api/kube.ts'
import { SlipwayError } from '../api/slipway-error.ts'

/** A name that was mistyped would leave out nobody: the node that is meant would be worked on. */
export function refuseUnknownSkips({ skip = [] }: DirectUpdateSpec, nodes: readonly Node[]): void {
  const known = new Set(nodes.map(({ metadata }) => metadata.name))
  const unknown = skip.filter((name) => !known.has(name))
  if (unknown.length === 0) return
  throw new SlipwayError('Usage', `there is no node ${unknown.join(', ')} to be left out`, {
    nextStep: 'nothing was done; look at the names: slipway nodes',
  })
}
