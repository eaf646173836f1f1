// Thousands of nodes in the middle of an upgrade, as the API would show them, without an engine behind: what a page is measured on.

import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { type Node, nodes } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { type NodePhase, type NodeState, nodeStates } from '../../src/api/node-state.ts'
import { operationID } from '../../src/core/update/operation.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import { SimCluster } from '../../src/sim/sim-cluster.ts'

export interface LargeFleet {
  readonly cluster: SimCluster
  readonly person: KubeApi
  readonly names: readonly string[]
  /** Puts a node into another phase, as the operator would. */
  setPhase(node: string, phase: NodePhase): Promise<void>
}

const name = 'to-1-36'
const versions = { from: 'v1.35.4', to: 'v1.36.3' }

export function largeFleet(count: number): LargeFleet {
  const cluster = new SimCluster({ seed: 1, nodes: [], which: [] })
  const { server, clock } = cluster
  const now = clock.now().toISOString()
  const meta = (of: string) => ({ name: of, uid: `uid-${of}`, resourceVersion: '1', creationTimestamp: now })
  const draft: DirectUpdate = {
    metadata: { ...meta(name), generation: 1 },
    spec: {
      kubernetes: { version: versions.to },
      strategy: {
        maxUnavailable: '2%',
        waves: [{ size: 1 }, { size: '10%', soak: '15m' }, { size: '50%' }, { size: '100%' }],
      },
    },
  }
  const operation = operationID(draft)
  const names = Array.from({ length: count }, (_, at) => (at < 5 ? `cp${at + 1}` : `w${at - 4}`))
  const phases = names.map((_, at) => phaseOf(at, count))
  for (const [at, node] of names.entries()) {
    server.restore(nodes, nodeOf(meta(node), at, phases[at]))
    const phase = phases[at]
    server.restore(nodeStates, stateOf(meta(node), operation, phase, now))
  }
  const tally = (...some: readonly (NodePhase | undefined)[]) => phases.filter((phase) => some.includes(phase)).length
  const summary = {
    ...{ total: count, done: tally('Done'), failed: tally('Failed'), skipped: 0 },
    ...{ working: tally('Draining', 'Working', 'Verifying', 'Staging'), waiting: tally(undefined) },
  }
  server.restore(directUpdates, {
    ...draft,
    status: {
      ...{ phase: 'InProgress', operationID: operation, observedGeneration: 1, startedAt: now, summary },
      path: { current: versions.from, target: versions.to },
      wave: { index: 2, of: 4, size: Math.floor((count - 5) / 2), since: now },
      preview: { waves: [], duration: '9h', blockers: [] },
    },
  })
  const ledger = {
    epoch: 7,
    grants: names.flatMap((node, at) =>
      ['Draining', 'Working', 'Verifying', 'Failed'].includes(phases[at] ?? '')
        ? [{ node, nodeUID: `uid-${node}`, holder: operation, since: now }]
        : [],
    ),
  }
  server.restore(maintenancePolicies, {
    metadata: meta(policyName),
    spec: { budgets: [{ maxUnavailable: '3%' }, { per: 'topology.kubernetes.io/zone', maxUnavailable: '10%' }] },
    status: { ledger },
  })
  const person = cluster.client('person')
  return {
    ...{ cluster, person, names },
    setPhase: async (node, phase) => {
      const rollout = rolloutOf(operation, phase, clock.now().toISOString())
      const body = { status: { rollout } }
      await person.patch(nodeStates, { name: node }, { type: 'merge', body }, new AbortController().signal, 'status')
    },
  }
}

/** Nearly half is done, a hundred are under work, three failed. */
function phaseOf(at: number, count: number): NodePhase | undefined {
  if (at < count * 0.45) return at % 1000 === 7 ? 'Failed' : 'Done'
  const working = ['Draining', 'Working', 'Working', 'Verifying', 'Staging'] as const
  return at < count * 0.47 ? working[at % working.length] : undefined
}

function nodeOf(metadata: Node['metadata'], at: number, phase: NodePhase | undefined): Node {
  const isControlPlane = metadata.name.startsWith('cp')
  const isAway = phase === 'Draining' || phase === 'Working' || phase === 'Failed'
  return {
    metadata: {
      ...metadata,
      labels: {
        'topology.kubernetes.io/zone': `eu-1${'abc'.charAt(at % 3)}`,
        ...(isControlPlane
          ? { 'node-role.kubernetes.io/control-plane': '' }
          : { 'slipway.dev/pool': ['web', 'web', 'batch', 'gpu'][at % 4] ?? 'web' }),
      },
    },
    spec: isAway ? { unschedulable: true } : {},
    status: {
      conditions: [{ type: 'Ready', status: 'True' }],
      nodeInfo: { kubeletVersion: phase === 'Done' ? versions.to : versions.from, bootID: 'boot' },
    },
  }
}

function stateOf(
  metadata: NodeState['metadata'],
  operation: string,
  phase: NodePhase | undefined,
  now: string,
): NodeState {
  return {
    metadata,
    spec: {},
    status: {
      ...(phase && { rollout: rolloutOf(operation, phase, now) }),
      agent: {
        ...{ version: '0.1.0', bootID: 'boot', epoch: 7, drivers: ['kubelet'] },
        facts: { os: 'Debian 13', kernel: '6.12', architecture: 'amd64', versionsOnOffer: [] },
      },
    },
  }
}

type Rollout = NonNullable<NonNullable<NodeState['status']>['rollout']>

function rolloutOf(operation: string, phase: NodePhase, now: string): Rollout {
  return {
    ...{ update: name, operationID: operation, phase, since: now, attempt: 1 },
    ...(phase === 'Done' && { finishedAt: now }),
    ...(phase === 'Failed' && {
      reason: { code: 'StepFailed', message: 'step upgrade-kubelet failed: exit code 100', since: now },
    }),
  }
}
