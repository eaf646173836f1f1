// A cluster as the preflight checks see it: one control-plane node and two workers where all is well, and what a case changes.

import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import type { Node } from '../../src/api/kube.ts'
import type { AgentStatus, NodeState } from '../../src/api/node-state.ts'
import type { Check, CheckView } from '../../src/core/preflight/check.ts'
import { runChecks } from '../../src/core/preflight/run-checks.ts'
import type { NodeLoad, Sights } from '../../src/core/preflight/sights.ts'
import { type NodeTraits, sampleAgent, sampleNode, sampleState, wellControlPlane } from './cluster-objects.ts'

export const noon = new Date('2026-06-01T12:00:00Z')

export interface HostTraits extends NodeTraits {
  readonly facts?: Partial<AgentStatus['facts']>
  readonly agent?: Partial<Omit<AgentStatus, 'facts'>>
  /** No agent has reported. */
  readonly silent?: boolean
  /** Not one of the update. */
  readonly left?: boolean
  /** What holds besides Ready. */
  readonly condition?: string
  readonly allocatable?: Readonly<Record<string, string>>
  readonly runtime?: string
}

export const healthySights: Sights = {
  api: { seen: { ready: true } },
  deprecated: { seen: [] },
  stored: { seen: [] },
  pods: { seen: { loads: new Map(), budgets: [], underTwo: { total: 0, first: [] } } },
  webhooks: { seen: [] },
  heartbeats: { seen: { at: noon, renewedAt: new Map(['c1', 'w1', 'w2'].map((name) => [name, noon.toISOString()])) } },
}

export const toNewest: DirectUpdateSpec = { kubernetes: { version: 'v1.36.3' } }
export const justReboot: DirectUpdateSpec = { reboot: 'Always' }
export const unseen = { unseen: 'it cannot be read: you may not' } as const

export const whole: Readonly<Record<string, HostTraits>> = { c1: {}, w1: {}, w2: {} }

export interface ViewTraits extends Partial<Omit<CheckView, 'sights'>> {
  /** Names that begin with c are the control plane's. */
  readonly hosts?: Readonly<Record<string, HostTraits>>
  readonly sights?: Partial<Sights> | 'none'
}

export function checkView({ hosts = whole, sights = {}, ...rest }: ViewTraits): CheckView {
  const states = new Map<string, NodeState>()
  const nodes = Object.entries(hosts).map(([name, traits]): Node => {
    const controlPlane = name.startsWith('c')
    const { kubelet = 'v1.35.4', facts, agent, condition, allocatable, runtime = 'containerd://2.2.9' } = traits
    const told = { kubelet, ...(controlPlane && { ...wellControlPlane, apiServer: kubelet }), ...facts }
    if (!traits.silent) states.set(name, sampleState(name, { agent: sampleAgent({ ...agent, facts: told }) }))
    const node = sampleNode(name, { ...traits, controlPlane, kubelet })
    return {
      ...node,
      status: {
        ...node.status,
        conditions: [
          ...(node.status?.conditions ?? []).filter(({ type }) => type !== condition),
          ...(condition === undefined ? [] : [{ type: condition, status: 'True' as const }]),
        ],
        nodeInfo: { kubeletVersion: kubelet, bootID: 'boot-1', containerRuntimeVersion: runtime },
        ...(allocatable && { allocatable }),
      },
    }
  })
  return {
    spec: toNewest,
    nodes,
    selected: nodes.filter(({ metadata }) => !hosts[metadata.name]?.left),
    stateOf: (name) => states.get(name),
    serverVersion: 'v1.35.4',
    now: noon,
    ...(sights !== 'none' && { sights: { ...healthySights, ...sights } }),
    ...rest,
  }
}

/** `Failed: message` as it would stand in the status; undefined where the check has nothing to say. */
export function answerOf(check: Check, traits: ViewTraits): string | undefined {
  const [report] = runChecks(checkView(traits), [check]).reports
  return report && `${report.result}: ${report.message}`
}

export function load(part: Partial<NodeLoad>): NodeLoad {
  const nothing = { cpu: 0, memoryBytes: 0, pods: 0 }
  const none = { pod: '', amount: 0 }
  return { asked: nothing, moving: nothing, largestCpu: none, largestMemory: none, ...part }
}
