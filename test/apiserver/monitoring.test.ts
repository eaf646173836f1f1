// Alert rules, dashboard and silences with the real programs: promtool, Prometheus and Alertmanager.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { httpWeb } from '../../src/adapters/http/http-web.ts'
import { PrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { serveEndpoints } from '../../src/main/roles/operator-endpoints.ts'
import { endSilence, findSilences, setSilence } from '../../src/operator/silence/alertmanager.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { ChildProgram, freePorts } from '../bed/child-program.ts'
import { type Monitoring, startMonitoring } from '../bed/monitoring.ts'
import { monitoringPrograms } from '../bed/monitoring-programs.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'
import { play } from '../scenario/story.ts'
import { oneAnd } from '../scenario/story-nodes.ts'

const repository = join(import.meta.dirname, '../..')
const programs = await monitoringPrograms()
const run = promisify(execFile)
const { signal } = new AbortController()
const answerSchema = z.object({
  data: z.object({ result: z.array(z.unknown()) }).optional(),
  error: z.string().optional(),
})
const alertsSchema = z.array(z.object({ labels: z.object({ severity: z.string() }) }))

describe('alert rules', () => {
  const cwd = join(repository, 'deploy/prometheus')

  test('each rings when it should, and none in a cluster that is well', async () => {
    expect((await run(programs.promtool, ['check', 'rules', 'rules.yaml'], { cwd })).stdout).toContain('SUCCESS')
    const files = ['rules-test.yaml', 'rules-slow-test.yaml']
    expect((await run(programs.promtool, ['test', 'rules', ...files], { cwd })).stdout).toContain('SUCCESS')
  })
})

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

describe('the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-prometheus-'))
  const stop = new AbortController()
  let prometheus: ChildProgram | undefined

  afterAll(async () => {
    stop.abort()
    await prometheus?.stop('SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  test('every query gives values, from a Prometheus that scrapes an operator', async () => {
    const metrics = new PrometheusMetrics()
    const facts = { certificatesExpireAt: '2027-01-01T00:00:00Z' }
    const nodes = oneAnd(3).map((node) => (node.role === 'control-plane' ? { ...node, facts } : node))
    await play({ nodes, metrics }, async ({ cluster, person, update }) => {
      await person.setsPolicy({
        budgets: [{ maxUnavailable: 1 }],
        backupStores: [{ name: 'hourly', path: '/var/backups', schedule: { cron: '*/5 * * * *' } }],
      })
      metrics.requested({ verb: 'get', plural: 'nodes', status: 200, ms: 12 })
      await cluster.pass(400_000)
      const url = await scraped(metrics)
      await person.deploys({ name: 'web', replicas: 3, minAvailable: 3 })
      await cluster.pass(15_000)
      const running = update.script('true')
      const blocked = () => cluster.names.some((name) => cluster.state(name)?.status?.rollout?.drain?.pods.length)
      await cluster.until('a drain waits', () => blocked() === true)
      await cluster.pass(30_000)
      await vi.waitFor(async () => expect(await asked(url, 'slipway_drain_blocking_pods')).not.toEqual([]), within)
      const transient = ['slipway_waiting', 'slipway_longest_wait_seconds', 'slipway_drain_blocking_pods']
      for (const query of transient) expect(await asked(url, query), query).not.toEqual([])
      await person.changes(deployments, 'web', { spec: { replicas: 4 } })
      await running.succeeds()
      await cluster.pass(5_000)
      await vi.waitFor(
        async () => expect(await asked(url, 'slipway_updates{phase="Succeeded"} == 1')).not.toEqual([]),
        within,
      )
      const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(
        readFileSync(join(repository, 'deploy/grafana/slipway.json'), 'utf8'),
      )
      const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
      expect(queries.length).toBeGreaterThan(30)
      // A rate needs two looks at its series.
      await vi.waitFor(async () => {
        const empty: string[] = []
        for (const { title, expr } of queries) {
          // What waited then does not wait now.
          if (transient.includes(expr)) continue
          if ((await asked(url, expr)).length === 0) empty.push(`${title}: ${expr}`)
        }
        expect(empty).toEqual([])
      }, within)
    })
  })

  const within = { timeout: 180_000, interval: 200 }
  const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true }

  /** The address of a Prometheus that scrapes what an operator would serve. */
  async function scraped(metrics: PrometheusMetrics): Promise<string> {
    const port = await serveEndpoints({ address: '127.0.0.1:0', isReady: () => true, metrics }, stop.signal)
    const [own = 0] = await freePorts(1)
    const config = `global: { scrape_interval: 250ms, scrape_timeout: 250ms }\nscrape_configs: [{ job_name: slipway, static_configs: [{ targets: ["127.0.0.1:${port}"] }] }]\n`
    writeFileSync(join(folder, 'prometheus.yaml'), config)
    const args = [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${own}`,
    ]
    prometheus = new ChildProgram(programs.prometheus, args, join(folder, 'prometheus.log'))
    const url = `http://127.0.0.1:${own}`
    await prometheus.ready(async () => (await fetch(`${url}/-/ready`)).ok)
    await vi.waitFor(async () => expect(await asked(url, 'slipway_leading == 1')).not.toEqual([]), within)
    return url
  }

  async function asked(url: string, query: string): Promise<readonly unknown[]> {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`)
    const { data, error } = answerSchema.parse(await answer.json())
    expect(error, query).toBeUndefined()
    return data?.result ?? []
  }
})

describe('silences in a real Alertmanager', () => {
  let monitoring: Monitoring
  beforeAll(async () => {
    monitoring = await startMonitoring()
  })
  afterAll(() => monitoring?.stop())

  test('are set, prolonged, found again and ended, and mute the alerts of their node only', async () => {
    const ports = {
      api: new FakeKubeApi(),
      clock: new SystemClock(),
      random: new SystemRandom(),
      log: silentLog,
      web: httpWeb,
    }
    const spec = { url: `${monitoring.alertmanager}/`, matchers: ['alertname=~"NodeDown.*"', 'severity="{node}"'] }
    const options = { ports, namespace: 'slipway-system', spec }
    const owner = { cluster: 'uid-1', entry: 'silence', node: 'w1' }
    // The bed's alerts have two labels; here the severity stands for the node.
    await monitoring.fireAlert('NodeDown', 'w1')
    await monitoring.fireAlert('NodeDown', 'w2')
    const set = await setSilence(options, owner, undefined, signal)
    const { id } = set
    await expect.poll(() => ringing(monitoring)).toEqual(['w2'])
    const [found] = await findSilences(options, signal)
    expect(found).toMatchObject({ id, createdBy: 'slipway', status: { state: 'active' } })
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    // Alertmanager makes another of it where it was set in one second and began in the next.
    const prolonged = await setSilence(options, owner, set, signal)
    const active = (await findSilences(options, signal)).filter(({ status }) => status.state === 'active')
    expect(active.map((one) => one.id)).toEqual([prolonged.id])
    expect(Date.parse(active[0]?.endsAt ?? '')).toBeGreaterThan(Date.parse(found?.endsAt ?? ''))
    await endSilence(options, prolonged.id, signal)
    await expect.poll(() => ringing(monitoring)).toEqual(['w1', 'w2'])
    // Ended by somebody else meanwhile: another is set.
    const other = await setSilence(options, owner, prolonged, signal)
    expect(other.id).not.toBe(prolonged.id)
    await endSilence(options, other.id, signal)
    await endSilence(options, other.id, signal)
  })
})

async function ringing({ alertmanager }: Monitoring): Promise<readonly string[]> {
  const answer = await fetch(`${alertmanager}/api/v2/alerts?active=true&silenced=false&inhibited=false`)
  const alerts = alertsSchema.parse(await answer.json())
  return alerts.map(({ labels }) => labels.severity).toSorted()
}
