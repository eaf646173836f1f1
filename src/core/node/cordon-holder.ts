import type { Node } from '../../api/kube.ts'
import { operationOwner } from '../update/work-owner.ts'
import { cordonOwner, isCordoned, keptForPerson } from './node-facts.ts'

/** Who cordoned the node; undefined where nobody did. */
export function cordonHolder(node: Node): string | undefined {
  if (!isCordoned(node)) return undefined
  const operation = cordonOwner(node)
  if (operation === keptForPerson) return 'a person (hold)'
  return operation === undefined ? 'a person' : operationOwner(operation)
}
