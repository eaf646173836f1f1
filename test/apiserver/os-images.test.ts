// OS images with a real API server, a real registry and the operator as it is installed; only the machines are pretended.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type DirectUpdate, directUpdates } from '../../src/api/direct-update.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { updateSchedules } from '../../src/api/schedule.ts'
import { FilledRegistry, password, repository, username } from '../bed/filled-registry.ts'
import { whyNoOciRegistry } from '../bed/oci-registry.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { kubectl, namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'

const missing = (await whyNoApiServer()) ?? (await whyNoOciRegistry())
const { signal } = new AbortController()
const within = { timeout: 180_000, interval: 200 }

describe.skipIf(missing)('OS images on a real API server', () => {
  let rig: RolloutRig
  let registry: FilledRegistry
  let os: string

  beforeAll(async () => {
    registry = await FilledRegistry.start()
    os = `${registry.closed}/${repository}`
    rig = await RolloutRig.start({ controlPlane: 1, workers: 2, agentProcesses: 1, work: '1s', version: 'v1.35.4' })
  })

  afterAll(async () => {
    await rig?.stop()
    await registry?.stop()
  })

  const read = (name: string): Promise<DirectUpdate> => rig.api.get(directUpdates, { name }, signal)
  const until = async (name: string, holds: (status: NonNullable<DirectUpdate['status']>) => boolean) => {
    let found: DirectUpdate['status']
    await vi.waitFor(async () => {
      found = (await read(name)).status
      if (!holds(found ?? {})) throw new Error(`${name}: ${JSON.stringify(found)}`)
    }, within)
    return found
  }
  const because = ({ conditions = [] }: NonNullable<DirectUpdate['status']>) =>
    conditions.find(({ type }) => type === 'Planned')?.reason
  const booted = async () => {
    const { items } = await rig.api.list(nodeStates, {}, signal)
    return items.map(({ status }) => status?.agent?.facts.osImage?.digest)
  }

  test('wait for the credentials of their registry, then go to every host by digest', async () => {
    const digest = await registry.push('1.0', 'amd64')
    const spec = { registries: [{ host: registry.closed, secret: 'pull', ca: registry.authority }] }
    await rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body: { spec } }, signal)
    await rig.createUpdate('first', { os: { image: `${os}:1.0` } })
    await until('first', (status) => because(status) === 'RegistrySecretMissing')
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
    const status = await until('first', ({ phase }) => phase === 'Succeeded')
    expect(status?.osImage).toMatchObject({ reference: `${os}:1.0`, digest })
    const { items } = await rig.api.list(nodeStates, {}, signal)
    expect(items.map(({ spec }) => spec.order?.work.os?.image)).toEqual(items.map(() => `${os}@${digest}`))
    expect(JSON.stringify([await read('first'), items])).not.toContain(password)
    for (const { process } of rig.operators) expect(process.log).not.toContain(password)
  })

  test('named by a pattern are the newest; what runs it already is left alone', async () => {
    await registry.push('1.2', 'amd64')
    const digest = await registry.push('1.10', 'amd64')
    await rig.createUpdate('newest', { os: { image: `${os}:1.*` } })
    const status = await until('newest', ({ phase }) => phase === 'Succeeded')
    expect(status?.osImage).toMatchObject({ image: `${os}:1.*`, reference: `${os}:1.10`, digest })
    expect(await booted()).toEqual([digest, digest, digest])
    await rig.createUpdate('again', { os: { image: `${os}:1.*` } })
    const again = await until('again', ({ phase }) => phase === 'Succeeded')
    expect(again?.summary).toMatchObject({ total: 3, skipped: 3, done: 0 })
  })

  test('a newer one that a schedule finds under its pattern is brought to every host', async () => {
    const digest = await registry.push('1.11', 'amd64')
    const name = 'minutely'
    const { apiVersion, kind } = updateSchedules
    const spec = { cron: '* * * * *', template: { spec: { os: { image: `${os}:1.*` } } } }
    await rig.api.create(updateSchedules, { apiVersion, kind, metadata: { name }, spec }, signal)
    const due = { ...within, timeout: 150_000 }
    await vi.waitFor(async () => expect(await booted()).toEqual([digest, digest, digest]), due)
    const [made] = (await rig.api.list(directUpdates, {}, signal)).items.filter(({ metadata }) =>
      metadata.ownerReferences?.some((owner) => owner.kind === kind),
    )
    expect(made?.status?.osImage).toMatchObject({ image: `${os}:1.*`, reference: `${os}:1.11`, digest })
    await until(made?.metadata.name ?? '', ({ phase }) => phase === 'Succeeded')
    await rig.api.delete(updateSchedules, { name }, {}, signal)
  })

  test('that were not made for a host, or are not there, are refused', async () => {
    await registry.push('arm', 'arm64')
    await rig.createUpdate('arm', { os: { image: `${os}:arm` } })
    expect(await until('arm', ({ phase }) => phase === 'Failed')).toSatisfy(
      (status: NonNullable<DirectUpdate['status']>) => because(status) === 'ImagePlatformMissing',
    )
    await rig.createUpdate('nowhere', { os: { image: `${os}:9.9` } })
    const status = await until('nowhere', ({ phase }) => phase === 'Failed')
    expect(because(status ?? {})).toBe('RegistryRefused')
  })
})
