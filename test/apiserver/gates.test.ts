// Gates and hooks with everything real but the machines: API server, controllers, the operator's own rights, Prometheus,
// Alertmanager, and objects as Ceph, Longhorn and CloudNativePG write them.

import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { type DirectUpdateSpec, directUpdates } from '../../src/api/direct-update.ts'
import type { GateSpec } from '../../src/api/gate.ts'
import { gatesSchema } from '../../src/api/gate.ts'
import { jobs, nodes, pods } from '../../src/api/kube.ts'
import { type Monitoring, startMonitoring } from '../bed/monitoring.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'
import { storageKinds } from './storage-kinds.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const within = { timeout: 180_000, interval: 200 }
const every = '1s'

describe.skipIf(missing)('gates and hooks on a real API server', () => {
  let rig: RolloutRig
  let monitoring: Monitoring
  let web: Server
  let address: string
  let status = 200
  const posts: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
  let serial = 0

  beforeAll(async () => {
    web = createServer((request, answer) => {
      if (request.method === 'POST') posts.push({ url: request.url ?? '', headers: request.headers })
      answer.statusCode = status
      answer.end(request.headers.authorization ?? 'nobody')
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(web.address() as AddressInfo).port}`
    monitoring = await startMonitoring()
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.35.4' },
      apiArguments: listsApart,
    })
    const script = ['create', 'configmap', 'work', '-n', namespace, '--from-literal=script=true']
    await kubectl(rig.server, script)
  })

  afterAll(async () => {
    await rig?.stop()
    await monitoring?.stop()
    web?.closeAllConnections()
    web?.close()
  })

  const begin = async (spec: Partial<DirectUpdateSpec>): Promise<string> => {
    const name = `update-${++serial}`
    const sha256 = 'b5bea41b6c623f7c09f1bf24dcae58ebab3c0cdd90ad966bc43a45b44867e12b'
    await rig.createUpdate(name, {
      script: { configMap: 'work', sha256 },
      strategy: { maxUnavailable: '100%' },
      ...spec,
    })
    return name
  }
  const blocked = async (name: string, words: string | RegExp) => {
    await vi.waitFor(async () => {
      const held = (await rig.update(name)).status?.conditions?.find(({ type }) => type === 'Blocked')
      expect(held?.status).toBe('True')
      expect(held?.message).toMatch(words)
    }, within)
    const cordoned = (await rig.api.list(nodes, {}, signal)).items.filter(({ spec }) => spec.unschedulable)
    expect(cordoned).toEqual([])
    expect((await rig.policy()).status?.ledger?.grants).toEqual([])
  }
  const succeeds = async (name: string) => {
    expect((await rig.ended(name, 90_000)).status).toMatchObject({ phase: 'Succeeded', summary: { done: 3 } })
    await rig.api.delete(directUpdates, { name }, {}, signal)
  }

  test('Prometheus: waits for the number, refuses a wrong query, and fails closed when nobody answers', async () => {
    const gate = { type: 'Prometheus', url: monitoring.prometheus, query: 'shop_errors', max: 0, every } as const
    monitoring.setErrors(3)
    const name = await begin({ gates: [gate] })
    await blocked(name, /shop_errors\{.*\} = 3; it must be at most 0/)
    monitoring.setErrors(0)
    await succeeds(name)

    const wrong = await begin({ gates: [{ ...gate, query: 'sum(' }] })
    await blocked(wrong, /Prometheus refuses the query \(bad_data\)/)
    await vi.waitFor(async () => expect((await rig.update(wrong)).status?.phase).toBe('RequiresAttention'), within)
    await rig.api.delete(directUpdates, { name: wrong }, {}, signal)

    const empty = await begin({ gates: [{ ...gate, query: 'no_such_metric' }] })
    await blocked(empty, /the query gives no value at all/)
    await rig.api.delete(directUpdates, { name: empty }, {}, signal)

    await monitoring.stopPrometheus()
    const silent = await begin({ gates: [{ ...gate, timeout: '70s' }] })
    await blocked(silent, /cannot be asked: .*ECONNREFUSED/)
    await vi.waitFor(async () => expect((await rig.update(silent)).status?.phase).toBe('RequiresAttention'), {
      ...within,
      timeout: 120_000,
    })
    await rig.api.delete(directUpdates, { name: silent }, {}, signal)
  })

  test('Alertmanager: waits until the alerts that count are over', async () => {
    const url = monitoring.alertmanager
    const gates: GateSpec[] = [{ type: 'Alertmanager', url, matchers: ['severity="critical"'], every }]
    await monitoring.fireAlert('NodeDown', 'critical')
    await monitoring.fireAlert('Noise', 'info')
    const name = await begin({ gates })
    await blocked(name, /NodeDown is firing/)
    await monitoring.endAlert('NodeDown', 'critical')
    await succeeds(name)
    const wrong = await begin({ gates: [{ type: 'Alertmanager', url, matchers: ['not a matcher'], every }] })
    await blocked(wrong, /Alertmanager refuses the matchers/)
    await rig.api.delete(directUpdates, { name: wrong }, {}, signal)
  })

  test('Http: sends the token of a Secret, and waits for the answer it expects', async () => {
    const make = ['create', 'secret', 'generic', 'probe', '-n', namespace, '--from-literal=token=s3cret']
    await kubectl(rig.server, make)
    const bearerToken = { name: 'probe', key: 'token' }
    const gates: GateSpec[] = [{ type: 'Http', url: address, expectBody: 'Bearer s3cret', bearerToken, every }]
    status = 503
    const name = await begin({ gates })
    await blocked(name, /answered 503/)
    status = 200
    await succeeds(name)
    const lost = await begin({ gates: [{ ...gates[0], bearerToken: { name: 'nobody', key: 'token' } } as GateSpec] })
    await blocked(lost, /secrets "nobody" not found/)
    await rig.api.delete(directUpdates, { name: lost }, {}, signal)
  })

  test('NodeReady and PodsReady hold for a cluster at rest', async () => {
    const gates: GateSpec[] = [
      { type: 'NodeReady', every },
      { type: 'PodsReady', namespace: 'default', atLeast: 0, every },
    ]
    const first = await begin({ gates })
    await rig.ended(first, 90_000)
    // The copy of its script is still there, and gets a second owner.
    await succeeds(await begin({ gates }))
    await succeeds(first)
    const name = await begin({ gates: [{ type: 'PodsReady', namespace: 'default', atLeast: 1, every }] })
    await blocked(name, /0 pod\(s\) are there, at least 1 must be/)
    await rig.api.delete(directUpdates, { name }, {}, signal)
  })

  test('PodsReady: one pod that is not Ready holds everything, until it is', async () => {
    const metadata = { name: 'shop', namespace: 'default', labels: { app: 'shop' } }
    // No scheduler takes it to a node: no kubelet says that it is Ready, and no drain asks it to go.
    const spec = { schedulerName: 'nobody', containers: [{ name: 'main', image: 'app:1' }] }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec }
    await kubectl(rig.server, ['apply', '-f', '-'], JSON.stringify(pod))
    const isReady = async (ready: boolean) => {
      const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }]
      const body = { status: { phase: 'Running', conditions } }
      await rig.api.patch(pods, { name: 'shop', namespace: 'default' }, { type: 'merge', body }, signal, 'status')
    }
    await isReady(false)
    const selector = { matchLabels: { app: 'shop' } }
    const name = await begin({ gates: [{ type: 'PodsReady', namespace: 'default', selector, atLeast: 1, every }] })
    await blocked(name, /default\/shop is not Ready/)
    await isReady(true)
    await succeeds(name)
    await kubectl(rig.server, ['delete', 'pod', 'shop', '--force', '--grace-period=0'])
  })

  test('Jobs: a gate and a hook run theirs once for each node, with its clean-up', async () => {
    const cronJob = (name: string) => ({
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name, namespace },
      spec: {
        schedule: '@yearly',
        suspend: true,
        jobTemplate: {
          metadata: { labels: { made: name } },
          spec: {
            // A pod of a clean-up may be evicted from the node that goes next: then it is run again.
            backoffLimit: 3,
            template: {
              spec: {
                restartPolicy: 'Never',
                tolerations: [{ operator: 'Exists' }],
                containers: [{ name: 'main', image: 'app:1' }],
              },
            },
          },
        },
      },
    })
    const made = ['smoke', 'set', 'unset'].map((name) => JSON.stringify(cronJob(name)))
    await kubectl(rig.server, ['apply', '-f', '-'], made.join('\n---\n'))
    const name = await begin({
      gates: [{ type: 'Job', cronJob: 'smoke', onNode: true, every }],
      hooks: [{ name: 'noout', when: 'BeforeNode', job: { cronJob: 'set' }, cleanup: { job: { cronJob: 'unset' } } }],
    })
    await succeeds(name)
    const { items } = await rig.api.list(jobs, { namespace, labelSelector: 'slipway.dev/run' }, signal)
    const of = (cron: string) => items.filter(({ metadata }) => metadata.labels?.made === cron)
    expect(['smoke', 'set', 'unset'].map((cron) => of(cron).length)).toEqual([3, 3, 3])
    expect(
      of('smoke')
        .map(({ spec }) => spec.template.spec.nodeName)
        .sort(),
    ).toEqual(['cp1', 'w1', 'w2'])
    expect(items.every(({ status: job }) => job?.succeeded === 1)).toBe(true)
  })

  test('HTTP hooks: one key for each call, and the node is not touched when one is refused', async () => {
    status = 200
    posts.length = 0
    const http = (path: string) => ({ http: { url: `${address}/${path}` } })
    const hooks: DirectUpdateSpec['hooks'] = [
      { name: 'start', when: 'BeforeUpdate', ...http('start'), cleanup: http('end') },
      { name: 'node', when: 'BeforeNode', ...http('node') },
    ]
    const name = await begin({ hooks })
    await succeeds(name)
    // The clean-up is told once the end is on record, and the update stays until it was heard.
    const told = ['/end', '/node', '/node', '/node', '/start']
    await expect.poll(() => posts.map(({ url }) => url).sort(), within).toEqual(told)
    expect(new Set(posts.map(({ headers }) => headers['idempotency-key'])).size).toBe(told.length)
    status = 409
    const refused = await begin({ hooks: [{ name: 'node', when: 'BeforeNode', ...http('node') }] })
    const ended = await rig.ended(refused, 90_000)
    expect(ended.status?.nodes?.[0]?.reason).toMatchObject({ code: 'HookFailed' })
    expect((await rig.api.list(nodes, {}, signal)).items.filter(({ spec }) => spec.unschedulable)).toEqual([])
    status = 200
    await rig.api.delete(directUpdates, { name: refused }, {}, signal)
  })

  describe('the recipes of docs/gates.md', () => {
    const recipes = recipesOf(readFileSync(join(import.meta.dirname, '../../docs/gates.md'), 'utf8'))

    test.each(storageKinds)('$recipe', async ({ recipe, definition, role, healthy, sick, words }) => {
      const found = recipes.get(recipe)
      expect(found, `docs/gates.md has a recipe ${recipe}`).toBeDefined()
      const gates = (found?.gates ?? []).map((gate) => ({ ...gate, every }))
      const apply = (object: object) => kubectl(rig.server, ['apply', '-f', '-'], JSON.stringify(object))
      await apply(definition)
      await kubectl(rig.server, ['wait', '--for=condition=Established', `crd/${definition.metadata.name}`])
      const { metadata } = sick
      await kubectl(rig.server, ['create', 'namespace', metadata.namespace])
      await apply(sick)

      const name = await begin({ gates })
      await blocked(name, /the operator may not read .* give it a ClusterRole/)
      expect(found?.role).toMatchObject(role)
      await apply(found?.role ?? {})
      await blocked(name, words)
      await apply(healthy)
      await succeeds(name)
    })
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'gates', [/longhorn|ceph|postgresql/])
  })
})

const recipeSchema = z.object({ spec: z.object({ gates: gatesSchema }) })

/** Each heading with the YAML below it: the gates, and the ClusterRole that goes with them. */
function recipesOf(text: string) {
  const sections = text.split(/^## /m).map((section) => {
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? []
    const documents = parseAllDocuments(yaml).map((document) => document.toJS() as { kind?: string })
    const update = documents.find(({ kind }) => kind === 'DirectUpdate')
    const role = documents.find(({ kind }) => kind === 'ClusterRole')
    const parsed = recipeSchema.safeParse(update)
    return [section.split('\n')[0] ?? '', parsed.success ? { gates: parsed.data.spec.gates, role } : undefined] as const
  })
  return new Map(sections)
}
