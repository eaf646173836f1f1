// A path over two minor versions on a real API server: what is recorded passes its schema, and a killed leader goes on from it.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { directUpdates } from '../../src/api/direct-update.ts'
import { configMaps } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { FilledRegistry } from '../bed/filled-registry.ts'
import { whyNoOciRegistry } from '../bed/oci-registry.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { expectRightsUsed, rightsTitle } from '../rollout-rig/used-rights.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoOciRegistry())
const { signal } = new AbortController()

describe.skipIf(missing)('versions that are looked for', () => {
  let rig: RolloutRig
  let registry: FilledRegistry

  beforeAll(async () => {
    registry = await FilledRegistry.start()
    rig = await RolloutRig.start({ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.35.4' })
  })

  afterAll(async () => {
    await rig?.stop()
    await registry?.stop()
  })

  test('a pattern becomes a path, and the path is gone step by step', async () => {
    await rig.createUpdate('far', { kubernetes: { version: '1.37.*' } })
    const look = async () => (await rig.api.get(directUpdates, { name: 'far' }, signal)).status
    await vi.waitFor(async () => {
      const planned = (await look())?.conditions?.find(({ type }) => type === 'Planned')
      expect(planned).toMatchObject({ status: 'False', reason: 'VersionUnknown' })
    }, 60_000)
    const metadata = { name: 'slipway-versions', namespace: 'slipway-system' }
    await rig.api.create(configMaps, { metadata, data: { versions: 'v1.37.1\n1.37.3\nv1.37.4-rc.0\n' } }, signal)
    await vi.waitFor(async () => expect((await look())?.path?.step).toBe(1), 120_000)
    const { process } = (await rig.leader()).leader
    await process.kill()
    process.start()
    const update = await rig.ended('far', 180_000)
    expect(update.status).toMatchObject({
      phase: 'Succeeded',
      path: {
        ...{ current: 'v1.35.4', target: 'v1.37.3', steps: ['v1.36.3', 'v1.37.3'], step: 1 },
        ...{ workers: [1], source: 'ConfigMap' },
      },
    })
    expect(rig.observer.done('v1.37.3')).toBe(3)
    // The control plane twice, each worker once.
    const orders = new Set(rig.ranSteps().map(({ node, order }) => `${node} ${order}`))
    expect(orders.size).toBe(4)
    expect(rig.ranSteps().filter(({ times }) => times !== 1)).toEqual([])
  })

  test('what hosts and ConfigMap do not know, the registry of the cluster’s own images does', async () => {
    for (const tag of ['v1.38.1', 'v1.39.0', 'v1.39.2', 'v1.39.3-rc.1', 'sha256-1.sig']) {
      await registry.push(tag, 'amd64', tag, 'k8s/kube-apiserver')
    }
    const data = { ClusterConfiguration: `imageRepository: ${registry.open}/k8s\n` }
    await rig.api.create(configMaps, { metadata: { name: 'kubeadm-config', namespace: 'kube-system' }, data }, signal)
    const body = { spec: { registries: [{ host: registry.open, plain: true }] } }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal)
    await rig.createUpdate('further', { kubernetes: { version: '1.39.*' }, dryRun: true })
    await vi.waitFor(async () => {
      const { status } = await rig.api.get(directUpdates, { name: 'further' }, signal)
      expect(status?.path).toMatchObject({ target: 'v1.39.2', source: 'Registry' })
      expect(status?.path?.steps?.at(-1)).toBe('v1.39.2')
    }, 60_000)
    await rig.api.delete(directUpdates, { name: 'further' }, {}, signal)
  })

  test(rightsTitle, async () => {
    await expectRightsUsed(rig.server, 'versions')
  })
})
