// Housekeeper's Update on a real API server: with a definition like its own, which keeps no status, and with ours.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  type HousekeeperUpdate,
  housekeeperLabels,
  housekeeperResult,
  housekeeperUpdates,
} from '../../src/api/housekeeper.ts'
import { events, nodes } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { yamlText } from '../../src/main/yaml-text.ts'
import { FilledRegistry, password, repository, username } from '../bed/filled-registry.ts'
import { whyNoOciRegistry } from '../bed/oci-registry.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { installation, kubectl, namespace } from '../rollout-rig/installation.ts'
import { listsApart, RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoOciRegistry())
const { signal } = new AbortController()
const patience = { timeout: 240_000, interval: 100 }
const where = 'housekeeper-system'

const fields = {
  kubeVersion: { type: 'string' },
  osImageURL: { type: 'string' },
  evictPodForce: { type: 'boolean' },
  maxUnavailable: { type: 'integer' },
}
/** All four required, and a status without fields, as Housekeeper has it. */
const theirDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'updates.housekeeper.io' },
  spec: {
    group: 'housekeeper.io',
    names: { kind: 'Update', listKind: 'UpdateList', plural: 'updates', singular: 'update' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: fields, required: Object.keys(fields) },
              status: { type: 'object' },
            },
          },
        },
      },
    ],
  },
}

describe.skipIf(missing)('Housekeeper on a real API server', () => {
  let rig: RolloutRig
  let registry: FilledRegistry
  const apply = (...objects: readonly unknown[]) =>
    kubectl(rig.server, ['apply', '-f', '-'], objects.map((object) => yamlText.print(object)).join('---\n'))
  const update = (name: string) => rig.api.get(housekeeperUpdates, { name, namespace: where }, signal)
  const manifest = (name: string, spec: object) => ({
    ...{ apiVersion: housekeeperUpdates.apiVersion, kind: housekeeperUpdates.kind },
    ...{ metadata: { name, namespace: where }, spec },
  })
  const until = (name: string, phase: string): Promise<HousekeeperUpdate> =>
    vi.waitFor(async () => {
      const found = await update(name)
      expect(found.metadata.annotations?.[housekeeperResult.phase]).toBe(phase)
      return found
    }, patience)

  beforeAll(async () => {
    registry = await FilledRegistry.start()
    rig = await RolloutRig.start({
      ...{ controlPlane: 1, workers: 2, agentProcesses: 1, work: '2s', version: 'v1.36.3' },
      apiArguments: listsApart,
    })
    const parts = yamlText.documents(await installation('--with-foreign')) as { kind: string }[]
    await apply(...parts.filter(({ kind }) => kind !== 'CustomResourceDefinition'))
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: where } }, theirDefinition)
    await kubectl(rig.server, ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s'])
  })

  afterAll(async () => {
    await rig?.stop()
    await registry?.stop()
  })

  test('its own definition: labels while it works, stamps and annotations afterwards, and no status', async () => {
    const name = 'housekeeper-upgrade'
    const wrong = manifest('wrong', { osImageURL: '', kubeVersion: '', evictPodForce: false, maxUnavailable: 1 })
    await apply(wrong)
    await until('wrong', 'Refused')
    // Whoever takes the word away is told again, by the same Event.
    await kubectl(rig.server, [
      'annotate',
      'updates.housekeeper.io',
      '-n',
      where,
      'wrong',
      `${housekeeperResult.phase}-`,
    ])
    await until('wrong', 'Refused')
    await apply(manifest(name, { osImageURL: '', kubeVersion: 'v1.36.4', evictPodForce: false, maxUnavailable: 1 }))
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(nodes, { labelSelector: housekeeperLabels.upgrading }, signal)
      expect(items).toHaveLength(1)
    }, patience)
    const { status, metadata } = await until(name, 'Succeeded')
    expect(status ?? {}).toEqual({})
    expect(metadata.annotations).toMatchObject({ [housekeeperResult.progress]: '3/3' })
    for (const node of ['cp1', 'w1', 'w2']) {
      expect(await rig.files(node).read('/var/nkd/kube/v1.36.4.stamp')).toBe('')
    }
    await vi.waitFor(async () => {
      for (const labelSelector of Object.values(housekeeperLabels)) {
        expect((await rig.api.list(nodes, { labelSelector }, signal)).items).toEqual([])
      }
    }, patience)
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(events, { namespace: where }, signal)
      expect(items.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['Made', 'Succeeded']))
    }, patience)
  })

  test('its own definition: an image of a registry that asks for a password', async () => {
    const tag = '22.03-sp3'
    const digest = await registry.push(tag, 'amd64')
    const image = `${registry.closed}/${repository}:${tag}`
    const spec = { registries: [{ host: registry.closed, secret: 'pull', ca: registry.authority }] }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
    const secret = [
      'create',
      'secret',
      'docker-registry',
      'pull',
      '-n',
      namespace,
      `--docker-server=${registry.closed}`,
    ]
    await kubectl(rig.server, [...secret, `--docker-username=${username}`, `--docker-password=${password}`])
    await apply(manifest('image', { osImageURL: image, kubeVersion: '', evictPodForce: true, maxUnavailable: 2 }))
    const { metadata } = await until('image', 'Succeeded')
    expect(metadata.annotations).toMatchObject({ [housekeeperResult.progress]: '3/3' })
    const { items } = await rig.api.list(nodeStates, {}, signal)
    expect(items.map(({ status }) => status?.agent?.facts.osImage?.digest)).toEqual([digest, digest, digest])
    for (const node of ['cp1', 'w1', 'w2']) {
      expect(await rig.files(node).read(`/var/nkd/os/${tag}.stamp`)).toBe('')
    }
  })

  test('ours in its place: the status is kept, and wrong input says why', async () => {
    const parts = yamlText.documents(await installation('--with-foreign'))
    await apply(...parts)
    const name = 'nothing'
    await vi.waitFor(() => apply(manifest(name, {})), patience)
    await vi.waitFor(async () => {
      expect((await update(name)).status).toMatchObject({
        phase: 'Refused',
        message: expect.stringContaining('nothing to do'),
      })
    }, patience)
    await apply(manifest(name, { kubeVersion: 'v1.36.5' }))
    await until(name, 'Succeeded')
    await vi.waitFor(async () => {
      expect((await update(name)).status).toMatchObject({ phase: 'Succeeded', progress: '3/3' })
    }, patience)
    const ours = (await update(name)).status?.update ?? ''
    await kubectl(rig.server, ['delete', 'updates.housekeeper.io', '--all', '-n', where])
    await vi.waitFor(async () => expect(await rig.isGone(ours)).toBe(true), patience)
  })

  test.each([
    ['kured', 'kured-every-flag', { taintWhileWaiting: true, reboots: { sentinels: ['/var/run/reboot-required'] } }],
    ['kustodian', 'kustodian-every-flag', { maintenance: { required: '/var/lib/ours/maintenance-required' } }],
  ])('what slipway import makes of %s is taken as it is', async (tool, name, expected) => {
    const file = join(import.meta.dirname, `../compat/import/${name}.yaml`)
    const args = ['--kubeconfig', rig.server.kubeconfigPath, 'import', tool, '-f', file, '--lock', '--apply']
    expect(await runSlipway([...args, '--force'])).toMatchObject({ code: 0, err: '' })
    expect((await rig.policy()).spec).toMatchObject(expected)
    expect(await runSlipway(args)).toMatchObject({ code: 0, out: expect.stringContaining('default unchanged') })
  })

  test('an Event that repeats is counted', async () => {
    await vi.waitFor(async () => {
      const { items } = await rig.api.list(events, { namespace: where }, signal)
      expect(items.filter(({ reason }) => reason === 'ForeignRefused')).toContainEqual(
        expect.objectContaining({ series: expect.objectContaining({ count: 2 }) }),
      )
    }, patience)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'housekeeper', [/daemonsets|cupcake|housekeeper/])
  })
})
