import type { Node } from '../../api/kube.ts'
import type { AgentStatus } from '../../api/node-state.ts'
import { removedKubeletFlags } from '../kubernetes/removed-kubelet-flags.ts'
import { nameList } from '../name-list.ts'
import { isReady } from '../node/node-facts.ts'
import { parseVersion, type Version } from '../version.ts'
import { type Check, failed, passed, unknown } from './check.ts'

/** Flags in a person's files that the target's kubelet does not know: with one of them it does not start. */
export const kubeletFlags: Check = {
  name: 'KubeletFlags',
  judge: ({ spec, selected, stateOf }) => {
    const target = spec.kubernetes && parseVersion(spec.kubernetes.version)
    if (!target) return undefined
    const byFlag = new Map<string, string[]>()
    const silent: string[] = []
    for (const node of selected) {
      const { name } = node.metadata
      const flags = goneFlags(node, stateOf(name)?.status?.agent, target)
      if (flags === 'unknown') silent.push(name)
      else for (const flag of flags) byFlag.set(flag, [...(byFlag.get(flag) ?? []), name])
    }
    if (byFlag.size > 0) return failed(goneText(byFlag, target))
    if (silent.length > 0) return unknown(silentText(nameList(silent)))
    return passed(`no host gives its kubelet a flag that ${target.text} does not know`)
  },
}

/**
 * The same of one host, in words; undefined where nothing is known to keep its kubelet from starting. An agent that cannot tell, or is
 * older than this operator, finds out when it stages: it reads the same files before its node is drained.
 */
export function flagObstacle(node: Node, agent: AgentStatus | undefined, target: Version): string | undefined {
  const { name } = node.metadata
  const flags = goneFlags(node, agent, target)
  return flags === 'unknown' || flags.length === 0
    ? undefined
    : goneText(new Map(flags.map((flag) => [flag, [name]])), target)
}

/** One that is not Ready and has no agent is asked when it comes back, before it is taken. */
function goneFlags(node: Node, agent: AgentStatus | undefined, target: Version): readonly string[] | 'unknown' {
  if (!agent && !isReady(node)) return []
  const given = agent?.facts.kubeletFlags
  if (!given) return 'unknown'
  const gone = removedKubeletFlags.filter(({ minor }) => target.major > 1 || minor <= target.minor)
  return given.filter((flag) => gone.some(({ name }) => name === flag))
}

function goneText(byFlag: ReadonlyMap<string, readonly string[]>, target: Version): string {
  const found = [...byFlag].map(([flag, names]) => `--${flag} (${nameList(names)})`)
  return `${target.text} does not know the kubelet’s flags ${found.join(', ')}; take them out of /etc/default/kubelet, /etc/sysconfig/kubelet or the unit’s drop-ins`
}

function silentText(names: string): string {
  return `${names} does not say which flags a person gives its kubelet; the log of the agent there says why, unless it is an older one: bring it up to date`
}
