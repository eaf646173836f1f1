import type { Node } from '../../api/kube.ts'
import { nameList } from '../name-list.ts'
import { isReady } from '../node/node-facts.ts'
import { driversFor } from '../update/drivers-for.ts'
import { workOf } from '../update/work-of.ts'
import { compareVersions } from '../version.ts'
import { type Check, type CheckView, type Finding, passed } from './check.ts'

/** An agent on each Ready node, with the drivers the work needs, as new as the operator. */
export const agents: Check = {
  name: 'Agents',
  judge: (view) => {
    const { selected } = view
    return missingDriver(view) ?? missingAgents(view) ?? oldAgents(view) ?? passed(`${selected.length} nodes asked`)
  },
}

function missingDriver({ spec, selected, stateOf }: CheckView): Finding | undefined {
  const needed = [...driversFor(workOf(spec, '')), ...(spec.profile === undefined ? [] : ['profile'])]
  for (const driver of needed) {
    const lacking = selected.filter(({ metadata }) => {
      const agent = stateOf(metadata.name)?.status?.agent
      return agent !== undefined && !agent.drivers.includes(driver)
    })
    if (lacking.length === 0) continue
    const message = `the agents on ${names(lacking)} have no driver "${driver}"`
    return { result: 'Failed', code: 'DriverMissing', message }
  }
  return undefined
}

function missingAgents({ selected, stateOf }: CheckView): Finding | undefined {
  const silent = selected.filter((node) => isReady(node) && !stateOf(node.metadata.name)?.status?.agent)
  if (silent.length === 0) return undefined
  return { result: 'Failed', code: 'AgentMissing', message: `no agent has reported from ${names(silent)}` }
}

function oldAgents({ selected, stateOf, operatorVersion }: CheckView): Finding | undefined {
  if (operatorVersion === undefined) return undefined
  const old = selected.filter(({ metadata }) => {
    const version = stateOf(metadata.name)?.status?.agent?.version
    return version !== undefined && compareVersions(version, operatorVersion) < 0
  })
  const [first] = old
  if (!first) return undefined
  const version = stateOf(first.metadata.name)?.status?.agent?.version
  const message = `the agents on ${names(old)} are older (${version}) than the operator (${operatorVersion})`
  return { result: 'Failed', code: 'AgentOld', message }
}

function names(nodes: readonly Node[]): string {
  return nameList(nodes.map(({ metadata }) => metadata.name))
}
