// What `slipway import` makes of other tools' settings does what those promise.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { directUpdateSpecSchema, directUpdates } from '../../src/api/direct-update.ts'
import { foreignDaemonSetSchema } from '../../src/api/foreign-daemon-set.ts'
import { configMaps, pods } from '../../src/api/kube.ts'
import { type MaintenancePolicySpec, maintenancePolicySpecSchema } from '../../src/api/maintenance-policy.ts'
import { upgradePlanSchema } from '../../src/api/upgrade-plan.ts'
import type { Imported } from '../../src/core/import/imported.ts'
import { importKured } from '../../src/core/import/kured.ts'
import { importKustodian } from '../../src/core/import/kustodian.ts'
import { importPlans } from '../../src/core/import/suc.ts'
import { inProgressAnnotation, waitingTaint } from '../../src/core/maintenance/node-marks.ts'
import { yamlText } from '../../src/main/yaml-text.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { able, annotation, ask, asRoot, files, finish, isLetIn } from '../scenario/maintenance-story.ts'
import { scenario } from '../scenario/story.ts'
import type { StoryCluster } from '../scenario/story-cluster.ts'
import { oneAnd } from '../scenario/story-nodes.ts'

const hour = 3_600_000
const sentinel = '/var/run/reboot-required'

const daemonSet = (name: string) =>
  foreignDaemonSetSchema.parse(yamlText.parse(readFileSync(new URL(`import/${name}.yaml`, import.meta.url), 'utf8')))
const policyOf = ({ objects: [policy] }: Imported): MaintenancePolicySpec =>
  maintenancePolicySpecSchema.parse(policy?.spec)
const asks = (cluster: StoryCluster, node: string) => files(cluster, node).write(sentinel, '', asRoot)
const bootId = (cluster: StoryCluster, node: string) => cluster.node(node)?.status?.nodeInfo?.bootID
const until = (cluster: StoryCluster, text: string) =>
  cluster.pass(Date.parse(`2026-01-${text}:00Z`) - cluster.sim.clock.nowMs())

describe('kured', () => {
  scenario(
    'reboots within its hours, one at a time, and not while a pod of a kind is there',
    able(3),
    async (story) => {
      const { cluster, person } = story
      await person.setsPolicy(policyOf(importKured(daemonSet('kured-in-hours'), { lock: false })))
      await person.createsPod('long', 'w1')
      await person.changes(pods, 'long', { metadata: { labels: { runtime: 'long' } } })
      const before = new Map(cluster.names.map((node) => [node, bootId(cluster, node)]))
      const isBooted = (node: string) => bootId(cluster, node) !== before.get(node)
      await cluster.until('the hosts are watched', () => cluster.state('w2')?.status?.agent?.sentinels !== undefined)
      for (const node of ['w1', 'w2']) await asks(cluster, node)
      await until(cluster, '05T11:59')
      expect([isBooted('w1'), isBooted('w2'), cluster.taken]).toEqual([false, false, []])
      expect(cluster.node('w1')?.spec.taints?.map(({ key }) => key)).toEqual([waitingTaint])
      await cluster.until('w2 is rebooted', () => isBooted('w2') && cluster.taken.length === 0)
      await cluster.pass(600_000)
      expect(isBooted('w1')).toBe(false)
      await person.deletes(pods, { name: 'long', namespace: 'shop' })
      await cluster.until('w1 is rebooted', () => isBooted('w1') && cluster.taken.length === 0)
      await until(cluster, '05T14:00')
      const after = bootId(cluster, 'w2')
      await files(cluster, 'w2').remove(sentinel)
      await cluster.pass(600_000)
      await asks(cluster, 'w2')
      await cluster.pass(24 * hour)
      expect(bootId(cluster, 'w2')).toBe(after)
    },
  )
})

describe('Kustodian', () => {
  scenario('lets one script in at a time, and gives its node back', able(3), async ({ cluster, person }) => {
    await person.setsPolicy(policyOf(importKustodian(daemonSet('kustodian-by-default'), { lock: false })))
    await cluster.until('the hosts are watched', () => cluster.state('w2')?.status?.agent?.sentinels !== undefined)
    await ask(cluster, 'w1')
    await isLetIn(cluster, 'w1')
    await ask(cluster, 'w2')
    await cluster.pass(60_000)
    expect(cluster.taken).toEqual(['w1'])
    expect(annotation(cluster, 'w1', inProgressAnnotation)).toBeDefined()
    await finish(cluster, 'w1')
    await isLetIn(cluster, 'w2')
    await finish(cluster, 'w2')
    await cluster.until('all is as before', () => cluster.taken.length === 0 && cluster.ledger.grants.length === 0)
  })
})

describe('system-upgrade-controller', () => {
  const made = importPlans(
    yamlText
      .documents(readFileSync(new URL('import/suc-two-plans.yaml', import.meta.url), 'utf8'))
      .map((plan) => upgradePlanSchema.parse(plan)),
    { namespace: operatorNamespace, sha256: (text) => createHash('sha256').update(text).digest('hex') },
  )

  scenario(
    'starts nothing by itself, and the second Plan goes after the first',
    { nodes: oneAnd(3) },
    async (story) => {
      const { cluster, person } = story
      await person.setsPolicy({ budgets: [{ maxUnavailable: 2 }] })
      for (const { kind, metadata, spec, data = {} } of made.objects) {
        if (kind === configMaps.kind) await person.creates(configMaps, { metadata, data })
        else await person.creates(directUpdates, { metadata, spec: directUpdateSpecSchema.parse(spec) })
      }
      const phase = (name: string) => cluster.sim.server.peek(directUpdates, { name })?.status?.phase
      await cluster.pass(600_000)
      expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0, w3: 0 })
      await person.changes(directUpdates, 'agents', { spec: { desiredState: 'Running' } })
      await cluster.pass(600_000)
      expect(cluster.allRuns).toEqual({ cp1: 0, w1: 0, w2: 0, w3: 0 })
      await person.changes(directUpdates, 'servers', { spec: { desiredState: 'Running' } })
      await cluster.until('the agents are done', () => phase('agents') === 'Succeeded')
      expect(phase('servers')).toBe('Succeeded')
      expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1, w2: 1, w3: 1 })
    },
  )
})
