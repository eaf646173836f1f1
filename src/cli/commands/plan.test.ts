import { describe, expect, it } from 'vitest'
import { cliFixture, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import type { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { configMaps, pods, secrets } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import type { PlanReport } from '../../core/plan/plan-report.ts'
import type { PlanOptions } from '../dependencies.ts'

const report: PlanReport = {
  update: 'to-1-36',
  verdict: 'blocked',
  rehearsals: 3,
  nodes: 3,
  alike: 0,
  durationSeconds: { least: 1200, expected: 1500, most: 1800 },
  durations: [1200, 1500, 1800],
  waves: [
    { title: 'control plane', total: 1, nodes: [{ name: 'cp1', certain: true }] },
    {
      title: 'workers',
      total: 2,
      nodes: [
        { name: 'w1', certain: true },
        { name: 'w2', certain: false },
      ],
    },
  ],
  blockers: [
    {
      certainty: 'certain',
      code: 'PodDisruptionBudget',
      cause: 'PodDisruptionBudget shop/web',
      message: 'shop/web-1 waits for it',
      nodes: ['w1'],
    },
  ],
  unplaced: [{ certainty: 'possible', workload: 'Deployment shop/large', pods: 2, message: '0/3 nodes are available' }],
  warnings: [{ code: 'ControlPlaneAway', message: 'the API will be away while cp1 is worked on' }],
  assumptions: ['downloads are not counted'],
}

const podWithSecrets = {
  metadata: {
    name: 'web-1',
    creationTimestamp: '2026-11-15T11:00:00Z',
    namespace: 'shop',
    labels: { app: 'web' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2' },
  },
  spec: {
    nodeName: 'w1',
    containers: [
      {
        name: 'main',
        image: 'web:1',
        command: ['serve', '--password=hunter2'],
        env: [{ name: 'PASSWORD', value: 'hunter2' }],
        resources: { requests: { cpu: '250m' }, limits: { cpu: '1' } },
      },
    ],
    volumes: [{ name: 'v', secret: { secretName: 'hunter2' } }],
  },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Initialized', status: 'True' },
    ],
  },
} as const

function cluster(): FakeKubeApi {
  return upgradeMidway()
    .put(pods, podWithSecrets)
    .put(secrets, { metadata: { name: 's', namespace: 'shop' }, data: { password: 'aHVudGVyMg==' } })
    .put(configMaps, { metadata: { name: 'c', namespace: 'shop' }, data: { password: 'hunter2' } })
}

describe('snapshot', () => {
  it('holds what a plan needs and nothing that is secret', async () => {
    const cli = cliFixture(cluster())
    expect(await cli.run('snapshot')).toBe(0)
    expect(cli.out.text).not.toContain('hunter2')
    const snapshot = JSON.parse(cli.out.text)
    expect(snapshot).toMatchObject({ kind: 'ClusterSnapshot', version: 1, installed: true })
    expect(snapshot.nodes).toHaveLength(7)
    expect(snapshot.pods[0].spec).toEqual({
      nodeName: 'w1',
      containers: [{ name: 'main', image: 'web:1', resources: { requests: { cpu: '250m' } } }],
      volumes: [{ name: 'v' }],
    })
  })

  it('reads page by page', async () => {
    const api = cluster()
    const lists: number[] = []
    api.before = (verb, type) => void (verb === 'list' && type.kind === 'Node' && lists.push(1))
    api.pageSize = 3
    const cli = cliFixture(api)
    await cli.run('snapshot')
    expect(lists.length).toBeGreaterThanOrEqual(3)
    expect(JSON.parse(cli.out.text).nodes).toHaveLength(7)
  })

  it('names every right that is missing', async () => {
    const api = cluster()
    api.before = (_, { kind, plural }) => {
      if (kind === 'Pod' || kind === 'Job') throw new KubeError('Forbidden', `cannot list ${plural}`)
    }
    const cli = cliFixture(api)
    expect(await cli.run('snapshot')).toBe(4)
    expect(cli.err.text).toContain('these credentials may not list pods, list jobs')
    expect(cli.err.text).toContain('next: ask for these rights')
  })

  it('does without our kinds where Slipway is not installed', async () => {
    const api = cluster()
    api.before = (_, { apiVersion, plural }) => {
      if (apiVersion.startsWith('slipway.dev')) throw new KubeError('NotFound', `no ${plural}`)
    }
    const cli = cliFixture(api)
    expect(await cli.run('snapshot')).toBe(0)
    expect(JSON.parse(cli.out.text)).toMatchObject({ installed: false, nodeStates: [] })
  })
})

describe('plan', () => {
  const asked: PlanOptions[] = []
  const runPlan = async (options: PlanOptions) => {
    asked.push(options)
    return report
  }

  it('of thousands of nodes tells the first and the last, and names all when asked', async () => {
    const names = Array.from({ length: 300 }, (_, index) => ({ name: `w${index + 1}`, certain: true }))
    const waves = [{ title: 'workers', total: 300, nodes: names }]
    const large: PlanReport = { ...report, verdict: 'clear', blockers: [], nodes: 300, alike: 240, waves }
    const planOf = async (...words: readonly string[]) => {
      const tell = async (options: PlanOptions) => {
        asked.push(options)
        return large
      }
      const cli = cliFixture(cluster(), { runPlan: tell })
      expect(await cli.run('plan', '--kubernetes', 'v1.36.3', ...words)).toBe(0)
      return cli.out.text
    }
    const text = await planOf('--rehearse', '60')
    expect(asked.at(-1)?.nodesAtMost).toBe(60)
    expect(text).toContain('60 of them rehearsed 3 times, 240 taken as alike')
    expect(text).toContain('workers (300): w1, w2,')
    expect(text).toContain('w12 … w299, w300')
    expect(await planOf('--nodes')).toContain('w150, w151')
    const short = JSON.parse(await planOf('--output', 'json')).waves[0]
    expect([short.total, short.nodes.length]).toEqual([300, 100])
    expect(JSON.parse(await planOf('--output', 'json', '--nodes')).waves[0].nodes).toHaveLength(300)
  })

  it('tells order, duration and what is in the way, and ends with 3 when blocked', async () => {
    const cli = cliFixture(cluster(), { runPlan })
    expect(await cli.run('plan', '--kubernetes', 'v1.36.3', '--max-unavailable', '2')).toBe(3)
    expect(asked.at(-1)?.update.spec).toEqual({ kubernetes: { version: 'v1.36.3' }, strategy: { maxUnavailable: 2 } })
    expect(asked.at(-1)?.snapshot.nodes).toHaveLength(7)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "to-1-36: it will be held up: 1 certain obstacle
        3 nodes, about 25m (20m to 30m); rehearsed 3 times
        1. control plane (1): cp1
        2. workers (2): w1, w2?
        ?: its place is left to chance
      in its way:
        certain   PodDisruptionBudget shop/web on w1
                  shop/web-1 waits for it
                  a PodDisruptionBudget allows no disruption now; bring the workload back to full health
      what will happen besides:
        ControlPlaneAway: the API will be away while cp1 is worked on
      pods that find no node for a while:
        possible  Deployment shop/large: 2 at most; 0/3 nodes are available
      what this rests on:
        downloads are not counted
      "
    `)
  })

  it('ends well where nothing certain is in the way', async () => {
    const cli = cliFixture(cluster(), { runPlan: async () => ({ ...report, verdict: 'possiblyBlocked' }) })
    expect(await cli.run('plan', '--reboot', 'Always', '--skip-check', 'Agents', '--output', 'json')).toBe(0)
    expect(JSON.parse(cli.out.text)).toMatchObject({ verdict: 'possiblyBlocked', preflight: [] })
  })

  it('shows what preflight finds on the living cluster, and ends with 3 where it would refuse', async () => {
    const runClear = async () => ({ ...report, verdict: 'clear' as const, blockers: [] })
    const cli = cliFixture(cluster(), { runPlan: runClear })
    expect(await cli.run('plan', '--reboot', 'Always')).toBe(3)
    expect(cli.out.text).toMatch(/preflight of this cluster, as it is now:\n {2}Failed {4}Agents: /)
  })

  it('leaves a way that only a registry may know to the operator', async () => {
    const cli = cliFixture(cluster(), { runPlan: async () => ({ ...report, verdict: 'possiblyBlocked' }) })
    await cli.run('plan', '--kubernetes', 'v1.38.0', '--skip-check', 'Agents', '--output', 'json')
    expect(JSON.parse(cli.out.text).preflight).toContainEqual({
      check: 'VersionPath',
      result: 'Unknown',
      message: expect.stringContaining('no version of v1.37 is on offer'),
    })
  })

  it.each([
    ['--skip', 'w-1', 'there is no node w-1 to be left out'],
    ['--skip-check', 'Agent', 'Allowed choices are Agents, '],
  ])('takes no name for %s that means nothing, as the update would not', async (option, name, says) => {
    const saved = cliFixture(cluster())
    await saved.run('snapshot')
    const notRehearsed = () => Promise.reject(new Error('it was rehearsed'))
    const refusal = async (...words: readonly string[]) => {
      const cli = cliFixture(cluster(), { runPlan: notRehearsed, readFile: async () => saved.out.text })
      expect(await cli.run(...words, '--reboot', 'Always', option, name)).toBe(2)
      return cli.err.text.replace('slipway plan', 'slipway update')
    }
    const said = await refusal('update')
    expect(said).toContain(says)
    expect(await refusal('plan')).toBe(said)
    expect(await refusal('plan', '--snapshot', 'cluster.json')).toBe(said)
  })

  it('works on a saved cluster, without one that can be reached', async () => {
    const saved = cliFixture(cluster())
    await saved.run('snapshot')
    const connect = () => Promise.reject(new Error('nobody there'))
    const cli = cliFixture(cluster(), { runPlan, connect, readFile: async () => saved.out.text })
    expect(await cli.run('plan', '--reboot', 'Always', '--snapshot', 'cluster.json')).toBe(3)
    expect(asked.at(-1)?.snapshot.pods).toHaveLength(1)
  })

  it.each([
    { text: 'no: json', why: 'it is not JSON' },
    { text: '{"kind":"ClusterSnapshot","version":2}', why: 'version' },
  ])('refuses a file that is no snapshot: $why', async ({ text, why }) => {
    const cli = cliFixture(cluster(), { runPlan, readFile: async () => text })
    expect(await cli.run('plan', '--reboot', 'Always', '--snapshot', 'x.json')).toBe(2)
    expect(cli.err.text).toContain('x.json is no snapshot of a cluster')
    expect(cli.err.text).toContain(why)
  })
})
