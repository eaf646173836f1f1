// Silences for nodes under work: set, prolonged, ended, and never in anybody's way.

import { describe, expect } from 'vitest'
import { secrets } from '../../src/api/kube.ts'
import type { WebRequest } from '../../src/ports/web.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { PretendWeb } from './pretend-web.ts'
import { type Story, scenario } from './story.ts'
import { oneAnd } from './story-nodes.ts'

const host = 'alerts:9093'
const entry = { url: `http://${host}`, matchers: ['node="{node}"'] }

interface Silence {
  readonly id: string
  readonly node: string
  readonly createdBy: string
  readonly comment: string
  endsAtMs: number
}

/** An Alertmanager in memory. */
class Alerts {
  readonly web = new PretendWeb()
  readonly silences = new Map<string, Silence>()
  readonly ever: string[] = []
  prolonged = 0
  #count = 0

  constructor() {
    this.web.answers(host, async (request) => this.#answer(request))
  }

  silenced(story: Story): readonly string[] {
    const now = story.cluster.sim.clock.now().getTime()
    return [...this.silences.values()].filter(({ endsAtMs }) => endsAtMs > now).map(({ node }) => node)
  }

  #answer({ method, url, body = '' }: WebRequest) {
    if (method === 'DELETE') {
      this.silences.delete(url.slice(url.lastIndexOf('/') + 1))
      return { status: 200, body: '' }
    }
    if (method === 'GET') {
      const found = [...this.silences.values()].map(({ endsAtMs, node: _node, ...silence }) => ({
        ...silence,
        startsAt: new Date(0).toISOString(),
        endsAt: new Date(endsAtMs).toISOString(),
        status: { state: 'active' },
      }))
      return { status: 200, body: JSON.stringify(found) }
    }
    const { id, matchers, createdBy, comment, endsAt } = JSON.parse(body)
    const known = this.silences.get(id)
    if (known) {
      known.endsAtMs = Date.parse(endsAt)
      this.prolonged++
      return { status: 200, body: JSON.stringify({ silenceID: id }) }
    }
    const made = { id: `s${++this.#count}`, node: matchers[0].value, createdBy, comment, endsAtMs: Date.parse(endsAt) }
    this.silences.set(made.id, made)
    this.ever.push(made.node)
    return { status: 200, body: JSON.stringify({ silenceID: made.id }) }
  }
}

describe('a node under work', () => {
  const alerts = new Alerts()
  scenario('is silent while it is, and not a moment longer', { nodes: oneAnd(2), web: alerts.web }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ silences: [{ ...entry, lapseAfter: '1m' }] })
    await person.deploys({ name: 'web', replicas: 2, minAvailable: 2 })
    await cluster.pass(15_000)
    const running = update.script('true', { drain: { timeout: '10m' } })
    await cluster.nodeIs('w1', 'Draining', 'PodDisruptionBudget')
    await cluster.pass(300_000)
    expect(alerts.silenced(story)).toEqual(['w1'])
    expect(alerts.prolonged).toBeGreaterThan(5)
    await person.changes(
      { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
      'web',
      {
        spec: { replicas: 3 },
      },
    )
    await running.succeeds()
    await cluster.pass(10_000)
    expect(alerts.silenced(story)).toEqual([])
    expect(alerts.ever.toSorted()).toEqual(['cp1', 'w1', 'w2'])
  })

  const failing = new Alerts()
  scenario('rings again when its work fails', { nodes: oneAnd(1), web: failing.web }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ silences: [entry] })
    cluster.failing.add('w1')
    await update.script('true').fails()
    await cluster.pass(5_000)
    expect(failing.ever).toContain('w1')
    expect(failing.silenced(story)).toEqual([])
  })

  const orphaned = new Alerts()
  scenario(
    'rings again by itself when the operator is gone',
    { nodes: oneAnd(1), web: orphaned.web },
    async (story) => {
      const { cluster, update, person, faults } = story
      await person.setsPolicy({ silences: [{ ...entry, lapseAfter: '2m' }] })
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Draining')
      await cluster.until('it is silent', () => orphaned.silenced(story).includes('w1'))
      for (const process of cluster.sim.programs()) process.freeze(10 * 60_000)
      faults.isApiAway = true
      await cluster.pass(3 * 60_000)
      expect(orphaned.silenced(story)).toEqual([])
      faults.isApiAway = false
      await cluster.pass(8 * 60_000)
      await running.succeeds()
    },
  )

  const handedOver = new Alerts()
  scenario(
    'keeps its one silence when another leads',
    { nodes: oneAnd(1), web: handedOver.web, operators: 1 },
    async (story) => {
      const { cluster, update, person } = story
      await person.setsPolicy({ silences: [entry] })
      const running = update.script('true')
      await cluster.nodeIs('w1', 'Working')
      for (const process of cluster.sim.programs()) process.crash()
      await running.succeeds()
      await cluster.pass(30_000)
      expect(handedOver.silenced(story)).toEqual([])
      expect(handedOver.silences.size).toBe(0)
    },
  )

  const deaf = new PretendWeb()
  scenario('does not wait for an Alertmanager that is down', { nodes: oneAnd(1), web: deaf }, async (story) => {
    const { cluster, update, person } = story
    await person.setsPolicy({ silences: [entry] })
    await update.script('true').succeeds()
    await cluster.pass(5_000)
    expect(cluster.told('MaintenancePolicy', 'default').filter((reason) => reason === 'SilenceFailed')).toHaveLength(1)
  })

  const talkative = new PretendWeb()
  scenario('is not told the token that a server repeats', { nodes: oneAnd(1), web: talkative }, async (story) => {
    const { cluster, person } = story
    talkative.answers(host, async ({ headers }) => ({ status: 401, body: `no: ${headers?.authorization}` }))
    const data = { token: Buffer.from('T0P5ECRET').toString('base64') }
    await person.creates(secrets, { metadata: { name: 'alerts', namespace: operatorNamespace }, data })
    await person.setsPolicy({ silences: [{ ...entry, bearerToken: { name: 'alerts', key: 'token' } }] })
    await cluster.pass(60_000)
    expect(talkative.asked(host)[0]?.headers?.authorization).toBe('Bearer T0P5ECRET')
    const others = JSON.stringify(cluster.sim.server.save().filter(({ kind }) => kind !== 'Secret'))
    expect(others).toContain('Alertmanager answered 401: no: Bearer (the token)')
    expect(others).not.toContain('T0P5ECRET')
  })
})
