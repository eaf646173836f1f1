// Every series of the catalogue is seen to change in one of these stories, and no label has a value the catalogue does not know.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { PrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { holdAnnotation } from '../../src/api/hold.ts'
import { nodes, podDisruptionBudgets } from '../../src/api/kube.ts'
import { type MetricName, metricCatalogue } from '../../src/api/metrics.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { scheduledUpdates } from '../../src/api/schedule.ts'
import { SeenMetrics } from '../fakes/seen-metrics.ts'
import { able, asRoot, files } from './maintenance-story.ts'
import { ok, PretendWeb } from './pretend-web.ts'
import { profileStory } from './profile-story.ts'
import { goesBack } from './restored-cluster.ts'
import { play, type Story, type StoryOptions } from './story.ts'
import { oneAnd } from './story-nodes.ts'
import { shop } from './story-person.ts'
import { type StoryUpdate, scriptOf } from './story-update.ts'

const minute = 60_000
const hour = 60 * minute
const changed = new Set<MetricName>()

function counted(
  name: string,
  options: StoryOptions,
  tell: (story: Story, metrics: SeenMetrics) => Promise<void>,
): void {
  it(name, async () => {
    const metrics = new SeenMetrics(changed)
    await play({ ...options, metrics }, async (story) => {
      const { sim } = story.cluster
      let last = 0
      sim.server.onCommit(() => {
        // As often as a Prometheus that is in a hurry.
        if (sim.clock.monotonicMs() - last < 500) return
        last = sim.clock.monotonicMs()
        metrics.look()
      })
      metrics.look()
      await tell(story, metrics)
      metrics.look()
    })
    expect([...metrics.strange]).toEqual([])
  })
}

async function approve(update: StoryUpdate): Promise<void> {
  const { operationID = '', wave } = update.status
  await update.isEdited({ approvals: [{ operationID, wave: wave?.index ?? 0, by: 'ana', at: '2026-01-05T09:00:00Z' }] })
}

const alertmanager = 'http://alerts:9093'
const receiver = { name: 'ops', webhook: { url: 'http://hooks/in' } }

function talking(): PretendWeb {
  const web = new PretendWeb()
  web.answers('hooks', ok)
  web.answers('alerts:9093', async ({ method }) => ({
    status: 200,
    body: method === 'POST' ? JSON.stringify({ silenceID: 'one' }) : '[]',
  }))
  return web
}

const web = talking()
counted(
  'a rollout that waits, is approved, fails and is tried again',
  { nodes: oneAnd(4), web },
  async (story, metrics) => {
    const { cluster, update, person } = story
    await person.setsPolicy({
      budgets: [{ maxUnavailable: 2 }],
      windows: [{ start: '08:30', end: '20:00' }],
      freezes: [{ from: '2026-01-05T08:00:00Z', to: '2026-01-05T08:20:00Z', reason: 'sale' }],
      silences: [{ url: alertmanager, matchers: ['node="{node}"'] }],
      notifications: [receiver],
      drain: { unmanagedPods: 'Delete' },
    } as never)
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(15_000)
    cluster.failing.add('w3')
    const running = update.script('true', {
      strategy: { waves: [{ size: 1, promotion: 'Manual' }, { size: '100%' }] },
      gates: [{ type: 'Http', url: 'http://gate/', timeout: '20m' }],
    })
    await running.is('InProgress', 'Frozen')
    expect(metrics.value('slipway_frozen', { work: 'Update' })).toBe(1)
    await cluster.pass(31 * minute)
    await running.is('InProgress', 'GateWaiting')
    web.answers('gate', ok)
    await cluster.until('a drain waits', () =>
      cluster.names.some((name) => cluster.state(name)?.status?.rollout?.drain?.pods.length),
    )
    await person.deletes(podDisruptionBudgets, { name: 'web', namespace: shop })
    await running.is('InProgress', 'ApprovalWanted')
    expect(metrics.value('slipway_approvals_wanted')).toBe(1)
    await person.annotates(nodes, 'w4', { [holdAnnotation]: 'ana: disk' })
    await person.setsPolicy({ paused: true })
    await approve(running)
    await cluster.pass(minute)
    expect(metrics.value('slipway_policy_paused')).toBe(1)
    await person.setsPolicy({ paused: false })
    await person.changes(nodes, 'w4', { metadata: { annotations: { [holdAnnotation]: null } } })
    await cluster.nodeIs('w3', 'Failed')
    await running.fails()
    await cluster.pass(minute)
    expect(metrics.value('slipway_nodes_in_trouble', { code: 'StepFailed' })).toBe(1)
    cluster.failing.delete('w3')
    web.answers('hooks', 'unreachable')
    await running.isRetried('again')
    await running.succeeds()
    await cluster.pass(10 * minute)
    expect(metrics.counts.get('slipway_node_results_total DirectUpdate Done')).toBe(5)
    expect(metrics.counts.get('slipway_notifications_total ops GivenUp')).toBeGreaterThan(0)
    expect(metrics.value('slipway_ledger_grants')).toBe(0)
  },
)

const soon = { certificatesExpireAt: '2026-01-20T00:00:00Z' }
const expiring = oneAnd(1).map((node) => (node.role === 'control-plane' ? { ...node, facts: soon } : node))

counted(
  'a control plane that is upgraded, with backups',
  { nodes: expiring, withoutAgent: ['cp1'] },
  async (story, metrics) => {
    const { cluster, update, person, faults } = story
    metrics.look()
    expect(metrics.value('slipway_agents', { state: 'Missing' })).toBe(1)
    faults.letCome('cp1')
    await cluster.until('its agent reports', () => cluster.state('cp1')?.status?.agent !== undefined)
    await cluster.pass(minute)
    expect(metrics.value('slipway_certificates_expire_timestamp_seconds')).toBe(
      Date.parse(soon.certificatesExpireAt) / 1000,
    )
    expect(metrics.value('slipway_health', { condition: 'CertificatesValid' })).toBe(0)
    await person.setsPolicy({
      backupStores: [{ name: 'hourly', path: '/var/backups', schedule: { cron: '*/5 * * * *' } }],
    })
    await cluster.pass(6 * minute)
    expect(metrics.value('slipway_backup_size_bytes', { store: 'hourly' })).toBeGreaterThan(0)
    cluster.machine('cp1').sickenEtcd(2 * minute)
    await cluster.pass(5 * minute)
    await update.kubernetes('v1.36.3').succeeds()
    await cluster.pass(minute)
    expect(metrics.counts.get('slipway_backups_total hourly Succeeded')).toBeGreaterThan(1)
  },
)

const down = { code: 'StoreUnreachable', message: 'connection refused' } as const
counted('a store that is down', { nodes: 2, stores: { trouble: () => down } }, async ({ cluster, person }, metrics) => {
  await person.setsPolicy({ backupStores: [{ name: 'hourly', path: '/var/backups', schedule: { cron: '0 * * * *' } }] })
  await cluster.pass(2 * hour)
  expect(metrics.counts.get('slipway_backups_total hourly Failed')).toBeGreaterThan(0)
  expect(metrics.value('slipway_health', { condition: 'BackupsRecent' })).toBe(0)
})

counted(
  'reboots by sentinel, a pod deleted by force, and a drain given up',
  able(3),
  async ({ cluster, person }, metrics) => {
    const sentinel = '/var/run/reboot-required'
    await person.setsPolicy({ reboots: { sentinels: [sentinel] }, drain: { timeout: '2m', onTimeout: 'Abort' } })
    const onW1 = { nodeSelector: { 'kubernetes.io/hostname': 'w1' } }
    await person.deploys({ name: 'web', replicas: 1, maxUnavailable: 0, pod: onW1 })
    await cluster.pass(15_000)
    await cluster.until('the hosts are watched', () => cluster.state('w2')?.status?.agent?.sentinels !== undefined)
    await files(cluster, 'w1').write(sentinel, '', asRoot)
    await cluster.nodeIs('w1', 'Failed', 'DrainAborted')
    await person.setsPolicy({ drain: { timeout: '2m', onTimeout: 'Force' } })
    await cluster.nodeIs('w1', 'Done')
    await cluster.pass(minute)
    expect(metrics.counts.get('slipway_drains_total GivenUp')).toBeGreaterThan(0)
    expect(metrics.counts.get('slipway_forced_deletions_total')).toBe(1)
    expect(metrics.counts.get('slipway_reboots_total')).toBe(1)
  },
)

counted('a host that drifts', profileStory(2), async ({ cluster, person }, metrics) => {
  const spec = { files: [{ path: '/etc/motd', content: 'hello\n' }], drift: { check: '1m', action: 'Report' as const } }
  await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
  await cluster.until('it is applied', () => cluster.state('w1')?.spec.drift !== undefined)
  await cluster.pass(minute)
  await files(cluster, 'w1').write('/etc/motd', 'changed\n', asRoot)
  await cluster.until('it is told', () => (cluster.state('w1')?.status?.agent?.profile?.drift?.length ?? 0) > 0)
  await cluster.pass(1_000)
  expect(metrics.value('slipway_nodes_drifted')).toBe(1)
})

counted(
  'a schedule nobody could keep, a watch that breaks and etcd that is restored',
  { nodes: 4, audit: { record: () => undefined } },
  async (story, metrics) => {
    const { cluster, update, person } = story
    await update.keepScript('true')
    const template = { spec: { script: scriptOf('true') } }
    await person.creates(scheduledUpdates, {
      metadata: { name: 'night' },
      spec: { at: '2026-01-05T06:00:00Z', startBy: '30m', template },
    })
    await cluster.pass(minute)
    await person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
    const running = update.script('true')
    await cluster.nodeIs('w1', 'Working')
    const saved = cluster.sim.server.save()
    await cluster.nodeIs('w2', 'Working')
    cluster.machine('w3').losePowerFor(2 * minute)
    await goesBack(story, saved, 'a1')
    await cluster.pass(3 * minute)
    await running.succeeds()
    // More at once than anybody can look at.
    cluster.sim.server.onCommit(() => metrics.look())
    for (let count = 0; count < 8; count++) update.script('true', { name: `dry-${count}`, dryRun: true })
    await cluster.pass(minute)
  },
)

/** What the alert rules want to see rise: without its zero the first failure would ring nowhere. */
const rising = [
  ...readFileSync('deploy/prometheus/rules.yaml', 'utf8').matchAll(/increase\((\w+)(?:{(\w+="\w+")})?\[/g),
]

it('every counter whose rise rings is there before it rises', async () => {
  const metrics = new PrometheusMetrics()
  await play({ nodes: 1, metrics }, async ({ cluster, person }) => {
    await person.setsPolicy({ backupStores: [{ name: 'hourly', path: '/var/backups' }], notifications: [receiver] })
    await cluster.pass(minute)
    const series = (await metrics.text()).split('\n')
    expect(rising.length).toBeGreaterThan(4)
    for (const [text, name = '', label = ''] of rising) {
      const found = series.filter((line) => line.startsWith(name) && line.includes(label))
      expect(found, text).not.toEqual([])
      for (const line of found) expect(line).toMatch(/ 0$/)
    }
  })
})

it('requests to the API, counted where they are made', async () => {
  const metrics = new PrometheusMetrics()
  metrics.requested({ verb: 'get', plural: 'nodes', status: 200, ms: 20 })
  expect(await metrics.text()).toContain('slipway_api_requests_total{verb="get",resource="nodes",status="200"} 1')
  changed.add('slipway_api_requests_total').add('slipway_api_request_duration_seconds')
})

it('every series of the catalogue was seen to change', () => {
  expect(Object.keys(metricCatalogue).filter((name) => !changed.has(name as MetricName))).toEqual([])
})
