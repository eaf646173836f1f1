import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { scriptOf } from './story-update.ts'

const workersOnly = {
  matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
}

function expectUntouched(cluster: StoryCluster): void {
  expect(cluster.names.filter((name) => cluster.isCordoned(name))).toEqual([])
  expect(cluster.ledger.grants).toEqual([])
  for (const name of cluster.names) {
    expect(cluster.state(name)?.spec.order).toBeUndefined()
    expect(cluster.state(name)?.status?.rollout).toBeUndefined()
    expect(cluster.machine(name).host.executions).toEqual([])
  }
}

describe('an update that can never be carried out is refused for good and touches nothing', () => {
  const cases: readonly (readonly [string, DirectUpdateSpec, string, RegExp])[] = [
    ['a downgrade', { kubernetes: { version: 'v1.34.9' } }, 'Downgrade', /runs v1.35.4, which is newer than v1.34.9/],
    ['a version nobody offers', { kubernetes: { version: 'v1.35.99' } }, 'VersionUnknown', /cannot install v1.35.99/],
    ['another major version', { kubernetes: { version: 'v2.0.0' } }, 'VersionSkipsMinor', /go to v1.36 first/],
    [
      'workers newer than the API server',
      { kubernetes: { version: 'v1.36.3' }, nodeSelector: workersOnly },
      'KubeletWouldBeNewer',
      /oldest API server runs v1.35.4/,
    ],
    [
      'a selector that matches no node',
      { reboot: 'Always', nodeSelector: { matchLabels: { pool: 'a' } } },
      'NothingSelected',
      /this update can never start: no node matches spec.nodeSelector/,
    ],
    [
      'every node left out',
      { reboot: 'Always', skip: ['cp1', 'w1', 'w2'] },
      'NothingSelected',
      /every node that matches spec.nodeSelector is in spec.skip/,
    ],
    [
      'a script that is not what the update names',
      { script: { ...scriptOf('true'), sha256: scriptOf('false').sha256 } },
      'ScriptChanged',
      /has SHA-256 [0-9a-f]{64}/,
    ],
  ]
  for (const [what, spec, reason, message] of cases) {
    scenario(what, { nodes: 3 }, async ({ cluster, update }) => {
      await update.keepScript('true')
      const refused = await update.of(spec).is('Failed', reason)
      await cluster.pass(600_000)
      expect(refused.condition('Planned')).toMatchObject({ status: 'False', reason })
      expect(refused.condition('Planned')?.message).toMatch(message)
      expect(refused.condition('Stalled')?.status).toBe('True')
      expect(cluster.told('DirectUpdate', 'update')).toEqual([reason])
      expectUntouched(cluster)
    })
  }

  scenario(
    'kubelets of the control plane stay below API servers that stay, though the check is skipped',
    { nodes: 3 },
    async ({ cluster, update }) => {
      const kubernetes = { version: 'v1.36.3', components: ['kubelet' as const, 'kubectl' as const] }
      const held = await update
        .of({ kubernetes, preflight: { skip: ['VersionPath'] } })
        .is('InProgress', 'KubeletWouldBeNewer')
      await cluster.pass(600_000)
      expect(held.status.phase).toBe('InProgress')
      expect(cluster.names.filter((name) => cluster.isCordoned(name))).toEqual([])
      expect(cluster.node('cp1')?.status?.nodeInfo?.kubeletVersion).toBe('v1.35.4')
    },
  )

  scenario('and an edit that makes it possible starts it', { nodes: 3 }, async ({ cluster, update }) => {
    const refused = await update.kubernetes('v1.34.9').is('Failed', 'Downgrade')
    await refused.isEdited({ kubernetes: { version: 'v1.36.3' } })
    await refused.succeeds()
    expect(refused.condition('Planned')?.status).toBe('True')
    expect(cluster.node('w1')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  })
})

describe('a refusal that need not last is lifted when the cluster changes', () => {
  scenario('the script is missing; a person brings it', { nodes: 3 }, async ({ cluster, update }) => {
    const refused = await update.of({ script: scriptOf('true') }).is('Pending', 'ScriptMissing')
    await cluster.pass(600_000)
    expectUntouched(cluster)
    await update.keepScript('true')
    await cluster.until('it starts', () => refused.status.phase === 'InProgress', 30_000)
    await refused.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
  })

  const newer = new Set<string>()
  const driversOf = (node: string) => (newer.has(node) ? [scriptDriver, ...rehearsalDrivers] : [scriptDriver])
  scenario('the agents lack the driver; newer ones come', { nodes: 3, driversOf }, async ({ cluster, update }) => {
    newer.clear()
    const refused = await update.kubernetes('v1.36.3').is('Pending', 'DriverMissing')
    expect(refused.condition('Planned')?.message).toContain('cp1')
    await cluster.pass(600_000)
    expectUntouched(cluster)
    for (const name of cluster.names) {
      newer.add(name)
      cluster.machine(name).agent?.crash()
    }
    await refused.succeeds()
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  })

  scenario(
    'no agent on a node; it reports',
    { nodes: 3, withoutAgent: ['w2'] },
    async ({ cluster, update, faults }) => {
      const refused = await update.script('true').is('Pending', 'AgentMissing')
      expect(refused.condition('Planned')?.message).toContain('w2')
      await cluster.pass(600_000)
      expectUntouched(cluster)
      faults.letCome('w2')
      await refused.succeeds()
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1 })
    },
  )
})
