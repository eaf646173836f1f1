import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import { selects } from '../label-selector.ts'

/** Whether the update is about this node. */
export function isChosen({ nodeSelector, skip }: DirectUpdateSpec, { metadata }: Pick<Node, 'metadata'>): boolean {
  return selects(nodeSelector, metadata.labels) && !skip?.includes(metadata.name)
}
