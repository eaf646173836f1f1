// The life of an installation on a real API server: by `slipway install` and `slipway uninstall`, and by Helm.

import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes } from '../../src/api/kube.ts'
import { maintenancePolicies } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { takingChange } from '../../src/core/node/node-marks.ts'
import type { HttpKubeApi } from '../../src/kube/http/http-kube-api.ts'
import { type ApiServer, startApiServer } from '../bed/api-server.ts'
import { freePorts } from '../bed/child-program.ts'
import { chart, runHelm, tryHelm, whyNoHelm } from '../bed/helm.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { repository } from '../house/planted-tree.ts'
import { accountAccess, kubectl, namespace } from '../rollout-rig/installation.ts'
import { type CommandResult, runSlipway, SlipwayProcess } from '../rollout-rig/slipway-process.ts'
import { inventory, nodesAsTheyAre } from './cluster-inventory.ts'
import { type PodEnd, playKubelets, roomyNodes } from './pretend-kubelet.ts'
import { realClient } from './real-client.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoHelm())
const controllers = [
  'deployment-controller',
  'replicaset-controller',
  'daemonset-controller',
  'namespace-controller',
  'garbage-collector-controller',
  'clusterrole-aggregation-controller',
]
const definition = 'nodestates.slipway.dev'
const orderSchema = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/order'

let server: ApiServer
let api: HttpKubeApi
let before: readonly string[]
let nodesBefore: unknown
let operator: SlipwayProcess | undefined
/** How pods that run once end, where not well. */
const endings = new Map<string, PodEnd>()
const dead = new Set<string>()
const life = new AbortController()
const limit = () => AbortSignal.timeout(10_000)

const slipway = (...args: readonly string[]): Promise<CommandResult> =>
  runSlipway([...args, '--kubeconfig', server.kubeconfigPath])
const helm = (...args: readonly string[]) => [...args, '--kubeconfig', server.kubeconfigPath]
const release = (verb: 'install' | 'upgrade', from: string, ...args: readonly string[]) =>
  runHelm(helm(verb, 'slipway', from, '--namespace', namespace, '--wait', '--timeout', '60s', ...args))

/** The kind forgets a field that the operator writes. */
async function age(): Promise<void> {
  const patch = JSON.stringify([{ op: 'remove', path: orderSchema }])
  await kubectl(server, ['patch', 'crd', definition, '--type=json', '--patch', patch])
}

/** One that knows less: a field of a kind, and the values of all that monitoring takes. */
async function olderChart(): Promise<string> {
  const folder = join(server.dir, 'older-chart')
  await cp(chart, folder, { recursive: true })
  await rm(join(folder, 'templates/monitoring.yaml'))
  const values = join(folder, 'values.yaml')
  await writeFile(values, (await readFile(values, 'utf8')).split('\nserviceMonitor:')[0] ?? '')
  const file = join(folder, 'templates/generated/crd-nodestates.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^( +)order:$/m, '$1formerOrder:'))
  return folder
}

/** Those that the documentation tells people to use. */
function upgradeFlags(page: string): readonly string[] {
  const told = page.match(/`helm upgrade slipway deploy\/chart --namespace slipway-system (?<flags>[^`]*)`/)
  return told?.groups?.flags?.split(' ') ?? []
}

async function knowsOrders(): Promise<boolean> {
  const text = await kubectl(server, ['get', 'crd', definition, '--output=json'])
  return 'order' in JSON.parse(text).spec.versions[0].schema.openAPIV3Schema.properties.spec.properties
}

async function createUpdate(metadata: object, spec: object): Promise<void> {
  const { apiVersion, kind } = directUpdates
  await kubectl(server, ['create', '-f', '-'], JSON.stringify({ apiVersion, kind, metadata, spec }))
}

async function untilAsBefore(): Promise<void> {
  await vi.waitFor(async () => expect(await inventory(server)).toEqual(before), { timeout: 60_000, interval: 500 })
  expect(await nodesAsTheyAre(server)).toEqual(nodesBefore)
}

async function setReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
  const { status: found } = await api.get(nodes, { name }, limit())
  const conditions = found?.conditions?.map((each) => (each.type === 'Ready' ? { ...each, status } : each))
  await api.patch(nodes, { name }, { type: 'merge', body: { status: { conditions } } }, limit(), 'status')
}

/** With the rights of its own account, and no others. */
async function startOperator(): Promise<SlipwayProcess> {
  const { kubeconfig } = await accountAccess(server, 'slipway-operator', 'operator')
  const [port] = await freePorts(1)
  const args = ['operator', '--kubeconfig', kubeconfig, '--metrics-address', `127.0.0.1:${port}`]
  operator = new SlipwayProcess('operator', args, `${server.dir}/operator.log`)
  operator.start()
  return operator
}

describe.skipIf(missing)('an installation', () => {
  beforeAll(async () => {
    server = await startApiServer({ controllers })
    ;({ api } = await realClient(server.kubeconfigPath))
    await roomyNodes(api, ['w1', 'w2'])
    void playKubelets(api, life.signal, (node = '') => endings.get(node) ?? { phase: 'Succeeded' }, dead)
    before = await inventory(server)
    nodesBefore = await nodesAsTheyAre(server)
  })
  afterEach(async () => {
    await operator?.kill()
    operator = undefined
  })
  afterAll(async () => {
    life.abort()
    await server?.stop()
  })

  test('is applied, waited for, and told what to do next', async () => {
    const { code, out, err } = await slipway('install', '--timeout', '50s')
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('operator 2/2 ready, agents 2/2 ready') })
    expect(out).toMatch(
      /applied in namespace slipway-system: \d+ created\nSlipway is ready\. What next:\n {2}slipway doctor/,
    )
  })

  test('is what --print prints, and a second time changes nothing', async () => {
    const { out: printed } = await slipway('install', '--print')
    expect(await kubectl(server, ['diff', '--server-side', '--force-conflicts', '-f', '-'], printed)).toBe('')
    const { code, out } = await slipway('install', '--timeout', '50s')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/slipway-system: \d+ unchanged\n/) })
  })

  test('says when it is not Ready in time, and why', async () => {
    await kubectl(server, ['cordon', 'w1', 'w2'])
    await kubectl(server, [
      'delete',
      'pod',
      '--namespace',
      namespace,
      '--selector=app.kubernetes.io/component=operator',
    ])
    const { code, err } = await slipway('install', '--timeout', '3s')
    await kubectl(server, ['uncordon', 'w1', 'w2'])
    expect(code).toBe(1)
    expect(err).toMatch(/not all of it is Ready: operator 0\/2 ready.*slipway-operator-\S+: 0\/2 nodes are available/)
    expect(err).toContain('next: look at it: kubectl -n slipway-system get pods')
  })

  test('is the only one: another namespace is refused', async () => {
    const { code, err } = await slipway('install', '--namespace', 'other')
    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringMatching(
        /^error: Slipway is installed in namespace slipway-system already.*\nnext: use that one/,
      ),
    })
    expect(await inventory(server)).not.toContain('Namespace /other')
  })

  test('does not start on definitions that are older than the operator', async () => {
    await age()
    const { kubeconfig } = await accountAccess(server, 'slipway-operator', 'old-definitions')
    const args = ['operator', '--kubeconfig', kubeconfig, '--metrics-address', '127.0.0.1:0']
    const { code, err } = await runSlipway(args)
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringContaining(
        `error: CustomResourceDefinition ${definition} is older than this operator: it does not know spec.order [CrdsOutdated]\n`,
      ),
    })
    expect(err).toContain('next: bring the definitions up to date: helm upgrade, or run: slipway install')
    const { out } = await slipway('install', '--timeout', '50s')
    expect(out).toContain('1 changed')
    expect(await knowsOrders()).toBe(true)
  })

  test('for reboots only has fewer rights, and its operator works with them', async () => {
    const { code, err } = await slipway('install', '--only', 'reboots', '--timeout', '50s')
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('removed Role kube-system/slipway-operator'),
    })
    const process = await startOperator()
    await vi.waitFor(async () => {
      const { items } = await api.list(nodeStates, {}, limit())
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['w1', 'w2'])
    }, 60_000)
    await createUpdate({ name: 'look' }, { kubernetes: { version: 'v1.36.9' } })
    await vi.waitFor(async () => {
      const { status } = await api.get(directUpdates, { name: 'look' }, limit())
      expect(status?.conditions?.[0]).toMatchObject({ type: 'Planned', status: 'False', reason: 'AgentMissing' })
    }, 60_000)
    expect(process.log.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  test('removed but for its data, goes on with them when it comes back', async () => {
    const { code, out } = await slipway('uninstall', '--yes', '--keep-data')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('slipway install goes on with them') })
    expect((await api.get(maintenancePolicies, { name: 'default' }, limit())).spec.paused).toBeUndefined()
    expect((await api.list(directUpdates, {}, limit())).items.map(({ metadata }) => metadata.name)).toEqual(['look'])
    expect(await inventory(server)).not.toContain(`Deployment ${namespace}/slipway-operator`)
    expect(await slipway('install', '--only', 'reboots', '--timeout', '50s')).toMatchObject({ code: 0 })
  })

  test('is not removed while nodes are under work', async () => {
    const w1 = await api.get(nodes, { name: 'w1' }, limit())
    await api.patch(nodes, { name: 'w1' }, { type: 'merge', body: { ...takingChange(w1, 'u/1', true) } }, limit())
    const grant = { node: 'w1', nodeUID: w1.metadata.uid, holder: 'u/1', since: '2026-01-01T00:00:00Z' }
    const body = { status: { ledger: { epoch: 7, grants: [grant] } } }
    await api.patch(maintenancePolicies, { name: 'default' }, { type: 'merge', body }, limit(), 'status')
    const { code, err } = await slipway('uninstall', '--yes')
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('error: nodes are under work: w1;') })
    expect((await api.get(maintenancePolicies, { name: 'default' }, limit())).spec.paused).toBe(true)
    expect(await inventory(server)).toContain(`Deployment ${namespace}/slipway-operator`)
  })

  test('is removed without a trace', async () => {
    const finalizers = ['slipway.dev/cleanup']
    const spec = { script: { configMap: 'absent', sha256: 'a'.repeat(64) } }
    await createUpdate({ name: 'held', finalizers }, spec)
    const message = 'error: this stays on the host: /x (an order that has not ended) [Refused]\nnext: look\n'
    const terminated = { exitCode: 3, message }
    const container = { name: 'forget', image: 'i', imageID: 'i', ready: false, restartCount: 0, state: { terminated } }
    endings.set('w1', { phase: 'Failed', containerStatuses: [container] })
    const { code, out, err } = await slipway('uninstall', '--yes', '--force')
    endings.clear()
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('warning: w1 under work') })
    expect(err).toContain('hosts 2/2 looked after')
    expect(out).toContain('took our marks off w1\n')
    expect(out).toMatch(/stays:\n {2}w1: this stays on the host: \/x \(an order that has not ended\)\nLook there/)
    await untilAsBefore()
  })

  test('comes from Helm just as well, and then belongs to Helm', async () => {
    await release('install', await olderChart(), '--create-namespace')
    expect(await knowsOrders()).toBe(false)
    const cli = await slipway('install')
    expect({ code: cli.code, err: cli.err }).toEqual({
      code: 3,
      err: expect.stringMatching(/belongs to the Helm release slipway.*\nnext: run: helm upgrade slipway/),
    })
    const removal = await slipway('uninstall', '--yes')
    expect({ code: removal.code, err: removal.err }).toEqual({
      code: 3,
      err: expect.stringContaining('helm uninstall slipway'),
    })
  })

  test('as a second release is refused by Helm, which changes nothing', async () => {
    const present = await inventory(server)
    const other = ['install', 'another', chart, '--namespace', 'other', '--create-namespace']
    const { code, stderr } = await tryHelm(helm(...other))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('cannot be imported into the current release'),
    })
    expect(await inventory(server)).toEqual(present)
  })

  test('upgraded by Helm has definitions of the new version', async () => {
    // Rights that were added for gates are the cluster's to fill in, not Helm's to take away.
    const added = ['create', 'clusterrole', 'more', '--verb=get', '--resource=services']
    await kubectl(server, added)
    await kubectl(server, ['label', 'clusterrole', 'more', 'slipway.dev/aggregate-to-gates=true'])
    const rules = () => kubectl(server, ['get', 'clusterrole', 'slipway-gates', '--output=jsonpath={.rules}'])
    await vi.waitFor(async () => expect(await rules()).toContain('services'), 60_000)
    const flags = upgradeFlags(await readFile(join(repository, 'docs/install.md'), 'utf8'))
    await release('upgrade', chart, ...flags, '--set', 'operator.replicas=1', '--set', 'mode=reboots')
    expect(await rules()).toContain('services')
    await kubectl(server, ['delete', 'clusterrole', 'more'])
    expect(await knowsOrders()).toBe(true)
    expect(await inventory(server)).not.toContain('Role kube-system/slipway-operator')
    await startOperator()
    await vi.waitFor(async () => expect((await api.list(nodeStates, {}, limit())).items).toHaveLength(2), 60_000)
  })

  test('uninstalled by Helm keeps its data; slipway uninstall removes the rest', async () => {
    await runHelm(helm('uninstall', 'slipway', '--namespace', namespace, '--wait'))
    const left = await inventory(server)
    expect(left).toEqual(expect.arrayContaining([`CustomResourceDefinition /${definition}`, 'NodeState /w1']))
    expect(left.filter((name) => name.includes('slipway-operator'))).toEqual([])
    const { code, out } = await slipway('uninstall', '--yes')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('is not of our making and stays') })
    expect(out).toContain('removed what the agents kept on the hosts')
    await kubectl(server, ['delete', 'namespace', namespace])
    await untilAsBefore()
  })

  test('of the command line can be handed over to Helm', async () => {
    expect(await slipway('install', '--timeout', '50s')).toMatchObject({ code: 0 })
    await release('install', chart, '--take-ownership', '--force-conflicts')
    expect(await slipway('install')).toMatchObject({ code: 3 })
    await runHelm(helm('uninstall', 'slipway', '--namespace', namespace, '--wait'))
    expect(await slipway('uninstall', '--yes')).toMatchObject({ code: 0 })
    await untilAsBefore()
  })

  test('is removed although a kubelet does not answer, and says where something stays', async () => {
    expect(await slipway('install', '--timeout', '50s')).toMatchObject({ code: 0 })
    dead.add('w2')
    await setReady('w2', 'Unknown')
    const { code, out, err } = await slipway('uninstall', '--yes')
    dead.clear()
    await setReady('w2', 'True')
    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('hosts 1/1 looked after') })
    expect(out).toContain('stays:\n  w2: the node is not Ready\n')
    await untilAsBefore()
  })

  test('in a namespace that a person made leaves it to them', async () => {
    await kubectl(server, ['create', 'namespace', 'shared'])
    await kubectl(server, ['create', 'configmap', 'theirs', '--namespace=shared'])
    expect(await slipway('install', '--namespace', 'shared', '--timeout', '50s')).toMatchObject({
      code: 0,
      err: expect.stringContaining('namespace shared is not of our making'),
    })
    const { code, out } = await slipway('uninstall', '--yes')
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('namespace shared is not of our making and stays'),
    })
    expect(await inventory(server)).toContain('ConfigMap shared/theirs')
    await kubectl(server, ['delete', 'namespace', 'shared'])
    await untilAsBefore()
  })
})
