import { nameList } from '../name-list.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { type Check, failed, namesOf, passed, warned } from './check.ts'

/** A worker that is away is waited for, the others go on; a control plane that is not whole is not touched. */
export const nodesReady: Check = {
  name: 'NodesReady',
  judge: ({ nodes, selected }) => {
    const away = nodes.filter((node) => !isReady(node))
    const controlPlane = away.filter((node) => roleOf(node) === 'ControlPlane')
    if (controlPlane.length > 0) {
      return failed(`of the control plane ${nameList(namesOf(controlPlane))} is not Ready; bring it back first`)
    }
    const chosen = new Set(selected)
    const waiting = away.filter((node) => chosen.has(node))
    if (waiting.length > 0) return warned(`${nameList(namesOf(waiting))} is not Ready and waits until it is`)
    return passed(`${selected.length} nodes are Ready`)
  },
}
