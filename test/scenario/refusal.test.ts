import { describe, expect } from 'vitest'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import type { DirectUpdateSpec } from '../../src/api/direct-update.ts'
import { configMaps } from '../../src/api/kube.ts'
import { isEnded } from '../../src/core/update/outcome.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { scenario } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import { oneAnd } from './story-nodes.ts'
import { scriptOf } from './story-update.ts'

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'
const workersOnly = { matchExpressions: [{ key: controlPlaneLabel, operator: 'DoesNotExist' as const }] }
const controlPlaneOnly = { matchExpressions: [{ key: controlPlaneLabel, operator: 'Exists' as const }] }

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
    ['another major version', { kubernetes: { version: 'v2.0.0' } }, 'VersionSkipsMinor', /go to v1.36 first/],
    [
      'a selector that matches no node',
      { reboot: 'Always', nodeSelector: { matchLabels: { pool: 'a' } } },
      'NothingSelected',
      /this update can never start: no node matches spec.nodeSelector/,
    ],
  ]
  for (const [what, spec, reason, message] of cases) {
    scenario(what, { nodes: 3 }, async ({ cluster, update }) => {
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

  scenario('the script is another one; a person puts it right', { nodes: 3 }, async ({ cluster, update }) => {
    await update.keepScript('true')
    const { configMap } = scriptOf('true')
    const { sha256 } = scriptOf('false')
    const refused = await update.of({ script: { configMap, sha256 } }).is('Pending', 'ScriptChanged')
    expect(refused.condition('Planned')?.message).toMatch(/has SHA-256 [0-9a-f]{64}/)
    await cluster.pass(600_000)
    expectUntouched(cluster)
    const ref = { name: configMap, namespace: operatorNamespace }
    cluster.sim.server.patch('person', configMaps, ref, { type: 'merge', body: { data: { script: 'false' } } })
    await refused.succeeds()
  })

  scenario('every node is left out; a person takes one back in', { nodes: 3 }, async ({ cluster, update }) => {
    const refused = await update.script('true', { skip: ['cp1', 'w1', 'w2'] }).is('Failed', 'NothingSelected')
    expect(refused.condition('Planned')?.message).toMatch(/every node that matches spec.nodeSelector is in spec.skip/)
    expect(refused.object && isEnded(refused.object)).toBe(true)
    await cluster.pass(600_000)
    expectUntouched(cluster)
    await refused.isEdited({ skip: ['cp1', 'w1'] })
    await refused.succeeds()
    expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 1 })
  })

  scenario('workers may not be newer than the API server; it is brought up', { nodes: 3 }, async (story) => {
    const { cluster, update } = story
    const workers = update.kubernetes('v1.36.3', { name: 'workers', nodeSelector: workersOnly })
    await workers.is('Pending', 'KubeletWouldBeNewer')
    expect(workers.condition('Planned')?.message).toContain('oldest API server runs v1.35.4')
    await cluster.pass(600_000)
    expectUntouched(cluster)
    await update.kubernetes('v1.36.3', { name: 'control-plane', nodeSelector: controlPlaneOnly }).succeeds()
    await workers.succeeds()
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  })

  const behind = oneAnd(2).map((node) => (node.role === 'worker' ? { ...node, version: 'v1.32.9' } : node))
  scenario('workers are too far behind; they are brought up', { nodes: behind }, async ({ cluster, update }) => {
    const whole = await update.kubernetes('v1.36.3', { name: 'whole' }).is('Pending', 'VersionSkipsMinor')
    expect(whole.condition('Planned')?.message).toContain('bring the workers to v1.35.4 before')
    await cluster.pass(600_000)
    expectUntouched(cluster)
    await update.kubernetes('v1.35.4', { name: 'workers', nodeSelector: workersOnly }).succeeds()
    await whole.succeeds()
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.3')
  })

  const versionsOnOffer = ['v1.35.4', 'v1.36.1', 'v1.36.3']
  scenario('no host has the version; the repositories get it', { nodes: 3, versionsOnOffer }, async (story) => {
    const { cluster, update } = story
    const refused = await update.kubernetes('v1.36.2').is('Pending', 'VersionUnknown')
    expect(refused.condition('Planned')?.message).toContain('cannot install v1.36.2')
    await cluster.pass(600_000)
    expectUntouched(cluster)
    versionsOnOffer.push('v1.36.2')
    // Agents look at their hosts anew from time to time.
    await cluster.pass(600_000)
    await refused.succeeds()
    expect(cluster.node('w2')?.status?.nodeInfo?.kubeletVersion).toBe('v1.36.2')
  })

  scenario('a version that came out after the hosts last looked does not wait', { nodes: 3 }, async ({ update }) => {
    const { status } = await update.kubernetes('v1.36.4').succeeds()
    expect(status.preflight).toContainEqual(
      expect.objectContaining({
        check: 'PackageVersion',
        result: 'Warning',
        message: expect.stringMatching(/^the package index of cp1/),
      }),
    )
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
