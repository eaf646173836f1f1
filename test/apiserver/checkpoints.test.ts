// What gates.test.ts leaves out: every point at which a gate or a hook can stand, hooks of both kinds at each of them with
// clean-ups of their own, and gates that have something to hold against.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type DirectUpdateSpec, type DirectUpdateStatus, directUpdates } from '../../src/api/direct-update.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import { type HookPoint, hookPoints } from '../../src/api/hook.ts'
import { jobs, nodes } from '../../src/api/kube.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const within = { timeout: 180_000, interval: 200 }
const every = '1s'
const twoWaves: DirectUpdateSpec['strategy'] = { maxUnavailable: '100%', waves: [{ size: 1 }, { size: '100%' }] }
const sha256 = 'b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b'
const workers: Pick<DirectUpdateSpec, 'nodeSelector'> = {
  nodeSelector: { matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' }] },
}
const told = z.object({ hook: z.string(), node: z.string().optional(), wave: z.number().optional() })

describe.skipIf(missing)('checkpoints on a real API server', () => {
  let rig: RolloutRig
  let web: Server
  let address: string
  let serial = 0
  /** What the gates' address answers. */
  let healthy = true
  const calls = new Map<string, string>()

  beforeAll(async () => {
    web = createServer((request, answer) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (request.method === 'POST') {
          const { node, wave = '' } = told.parse(JSON.parse(Buffer.concat(chunks).toString()))
          calls.set(String(request.headers['idempotency-key']), `${request.url} ${node ?? wave}`.trim())
        }
        answer.statusCode = request.method === 'POST' || healthy ? 200 : 503
        answer.end()
      })
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    rig = await RolloutRig.start({ controlPlane: 1, workers: 3, agentProcesses: 1, work: '1s', version: 'v1.36.3' })
    await kubectl(rig.server, ['create', 'configmap', 'work', '-n', namespace, '--from-literal=script=true'])
    const made = ['hook', 'unhook', 'smoke'].map((name) => JSON.stringify(cronJob(name)))
    await kubectl(rig.server, ['apply', '-f', '-'], made.join('\n---\n'))
  })

  afterAll(async () => {
    await rig?.stop()
    web?.closeAllConnections()
    web?.close()
  })

  afterEach(async () => {
    healthy = true
    await kubectl(rig.server, ['delete', 'directupdates.slipway.dev', '--all', '--timeout=180s'])
    calls.clear()
    await kubectl(rig.server, ['delete', 'jobs', '-n', namespace, '--all'])
  })

  const begin = async (spec: Partial<DirectUpdateSpec>): Promise<string> => {
    const name = `update-${++serial}`
    await rig.createUpdate(name, { script: { configMap: 'work', sha256 }, ...workers, ...spec })
    return name
  }
  const until = (name: string, holds: (status: DirectUpdateStatus) => void) =>
    vi.waitFor(async () => holds((await rig.update(name)).status ?? {}), within)
  const isBlocked = (name: string, words: RegExp) =>
    until(name, ({ conditions }) =>
      expect(conditions).toContainEqual(
        expect.objectContaining({ type: 'Blocked', status: 'True', message: expect.stringMatching(words) }),
      ),
    )
  const succeeds = async (name: string) =>
    expect((await rig.ended(name, within.timeout)).status).toMatchObject({ phase: 'Succeeded', summary: { done: 3 } })

  /** `CRONJOB subject` of each Job that was made, its subject the node or the wave. */
  const ranJobs = async (): Promise<readonly string[]> => {
    const { items } = await rig.api.list(jobs, { namespace, labelSelector: 'slipway.dev/run' }, signal)
    return items.map(({ metadata, spec }) => {
      const entries = (spec.template.spec.containers[0]?.env ?? []) as readonly { name: string; value: string }[]
      const env = Object.fromEntries(entries.map(({ name, value }) => [name, value]))
      return `${metadata.labels?.made} ${env.SLIPWAY_HOOK} ${env.SLIPWAY_NODE || env.SLIPWAY_WAVE || ''}`.trim()
    })
  }

  const hookAt = (when: HookPoint): NonNullable<DirectUpdateSpec['hooks']> => {
    const name = when.toLowerCase()
    const http = (path: string) => ({ http: { url: `${address}/${path}` } })
    return [
      { name: `${name}-http`, when, ...http(when), cleanup: http(`${when}/cleanup`) },
      { name: `${name}-job`, when, job: { cronJob: 'hook' }, cleanup: { job: { cronJob: 'unhook' } } },
    ]
  }

  test('hooks: before and after update, wave and node, by Job and by HTTP, each clean-up once', async () => {
    const name = await begin({ strategy: twoWaves, hooks: hookPoints.flatMap(hookAt) })
    await succeeds(name)
    const subjects = (when: HookPoint) => {
      if (when.endsWith('Update')) return ['']
      // Wave 0 is the control plane's.
      return when.endsWith('Wave') ? ['1', '2'] : ['w1', 'w2', 'w3']
    }
    const expected = (what: (when: HookPoint) => string) =>
      hookPoints.flatMap((when) => subjects(when).map((subject) => `${what(when)} ${subject}`.trim())).sort()
    await vi.waitFor(async () => {
      const posts = [...calls.values()]
      const begun = posts.filter((call) => !call.includes('/cleanup'))
      const cleaned = posts.filter((call) => call.includes('/cleanup'))
      expect(begun.sort()).toEqual(expected((when) => `/${when}`))
      expect(cleaned.sort()).toEqual(expected((when) => `/${when}/cleanup`))
      const ran = await ranJobs()
      const nameOf = (when: HookPoint) => `${when.toLowerCase()}-job`
      expect(ran.filter((job) => job.startsWith('hook')).sort()).toEqual(expected((when) => `hook ${nameOf(when)}`))
      expect(ran.filter((job) => job.startsWith('unhook')).sort()).toEqual(expected((when) => `unhook ${nameOf(when)}`))
    }, within)
  })

  test('hooks: what is owed is cleaned up once, though the leader is killed and the update deleted', async () => {
    // Nothing goes beyond its first node.
    healthy = false
    const gates: GateSpec[] = [{ type: 'Http', url: address, when: 'AfterNode', every, timeout: '10m' }]
    const hooks = (['BeforeUpdate', 'BeforeNode'] as const).flatMap(hookAt)
    const name = await begin({ hooks, gates })
    await vi.waitFor(() => expect(rig.observer.cordoned()).toHaveLength(1), within)
    const [node] = rig.observer.cordoned()
    const { leader } = await rig.leader()
    await leader.process.kill()
    await rig.api.delete(directUpdates, { name }, {}, signal)
    await vi.waitFor(async () => expect(await rig.isGone(name)).toBe(true), within)
    leader.process.start()
    const owed = [`/BeforeNode ${node}`, `/BeforeNode/cleanup ${node}`, '/BeforeUpdate', '/BeforeUpdate/cleanup']
    expect([...calls.values()].sort()).toEqual(owed)
    expect((await ranJobs()).toSorted()).toEqual([
      ...[`hook beforenode-job ${node}`, 'hook beforeupdate-job'],
      ...[`unhook beforenode-job ${node}`, 'unhook beforeupdate-job'],
    ])
  })

  test('NodeReady: another node that is not Ready keeps all where they are', async () => {
    const ready = (status: 'True' | 'False') =>
      kubectl(rig.server, [
        ...['patch', 'node', 'w3', '--subresource=status', '--type=strategic', '-p'],
        JSON.stringify({ status: { conditions: [{ type: 'Ready', status }] } }),
      ])
    await ready('False')
    const gates: GateSpec[] = [{ type: 'NodeReady', every, timeout: '10m' }]
    const name = await begin({ gates })
    await isBlocked(name, /w3/)
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual([])
    await ready('True')
    await succeeds(name)
  })

  test('Job: one that fails keeps its node cordoned, and fails it', async () => {
    await kubectl(rig.server, [
      ...['patch', 'cronjob', 'smoke', '-n', namespace, '--type=merge', '-p'],
      // No node has that label, so its pod never runs.
      JSON.stringify({ spec: { jobTemplate: { spec: { template: { spec: { nodeSelector: { no: 'where' } } } } } } }),
    ])
    const gates: GateSpec[] = [{ type: 'Job', cronJob: 'smoke', every, timeout: '10s' }]
    const only = { nodeSelector: { matchLabels: { 'kubernetes.io/hostname': 'w1' } } }
    const name = await begin({ gates, ...only })
    await until(name, ({ phase }) => expect(phase).toBe('Failed'))
    const { status } = await rig.update(name)
    expect(status?.nodes?.[0]?.reason?.code).toBe('GateFailed')
    expect((await rig.api.get(nodes, { name: 'w1' }, signal)).spec.unschedulable).toBe(true)
  })

  test('AfterNode: the node stays cordoned until it holds', async () => {
    healthy = false
    const gates: GateSpec[] = [{ type: 'Http', url: address, when: 'AfterNode', every, timeout: '10m' }]
    const name = await begin({ gates })
    const ranOn = () =>
      new Set(rig.ranSteps().flatMap(({ node, order }) => (order.startsWith(`${name}/`) ? [node] : [])))
    await vi.waitFor(() => expect(ranOn().size).toBe(1), within)
    const [node = ''] = ranOn()
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(nodeStates, { name: node }, signal)
      expect(status?.rollout).toMatchObject({ phase: 'Verifying', reason: { code: 'GateWaiting' } })
    }, within)
    expect(rig.observer.cordoned()).toEqual([node])
    expect([...ranOn()]).toEqual([node])
    healthy = true
    await succeeds(name)
  })

  test('AfterWave: the next wave waits for it', async () => {
    healthy = false
    const gates: GateSpec[] = [{ type: 'Http', url: address, when: 'AfterWave', every, timeout: '10m' }]
    const name = await begin({ gates, strategy: twoWaves })
    await isBlocked(name, /answered 503/)
    expect((await rig.update(name)).status?.summary?.done).toBe(1)
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual([])
    healthy = true
    await succeeds(name)
  })

  test('Cel: a broken expression is refused before anything starts', async () => {
    const gates: GateSpec[] = [{ type: 'Cel', expression: 'node.metadata.name ==' }]
    const name = await begin({ gates })
    await until(name, ({ conditions }) => {
      const message = expect.stringMatching(/its expression "node.metadata.name ==" is broken/)
      const planned = { type: 'Planned', status: 'False', reason: 'GateInvalid', message }
      expect(conditions).toContainEqual(expect.objectContaining(planned))
    })
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
  })

  test('Soak: must hold for the whole of it', async () => {
    const gates: GateSpec[] = [{ type: 'Http', url: address, when: 'Soak', every, timeout: '1s' }]
    const waves = [{ size: 1, soak: '60s' }, { size: '100%' }]
    const name = await begin({ gates, strategy: { maxUnavailable: '100%', waves } })
    await until(name, ({ summary }) => expect(summary?.done).toBe(1))
    healthy = false
    await until(name, ({ phase }) => expect(phase).toBe('RequiresAttention'))
    expect((await rig.update(name)).status?.summary?.done).toBe(1)
  })
})

/** Suspended, and run by hand; its pods are at home on every node. */
function cronJob(name: string): object {
  const containers = [{ name: 'main', image: 'app:1' }]
  const spec = { restartPolicy: 'Never', tolerations: [{ operator: 'Exists' }], containers }
  const jobTemplate = { metadata: { labels: { made: name } }, spec: { backoffLimit: 3, template: { spec } } }
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: { schedule: '@yearly', suspend: true, jobTemplate },
  }
}
