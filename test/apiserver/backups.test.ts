// Backups before updates and on demand, on a real API server, by operators with the rights `install` gives them; agents pretend to
// make them.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { secrets } from '../../src/api/kube.ts'
import { maintenancePolicies, policyName } from '../../src/api/maintenance-policy.ts'
import { nodeStates } from '../../src/api/node-state.ts'
import { createScript } from '../../src/sim/workloads.ts'
import { whyNoApiServer } from '../bed/programs.ts'
import { namespace } from '../rollout-rig/installation.ts'
import { RolloutRig } from '../rollout-rig/rollout-rig.ts'
import { runSlipway } from '../rollout-rig/slipway-process.ts'

const missing = await whyNoApiServer()
const { signal } = new AbortController()
const text = '#!/bin/sh\ntrue\n'
const script = { configMap: 'rotate', sha256: createHash('sha256').update(text).digest('hex') }
const patience = { timeout: 240_000, interval: 200 }
const store = { name: 'far', s3: { bucket: 'backups', secret: 'far-keys' } }

describe.skipIf(missing)('backups on a real API server', () => {
  let rig: RolloutRig
  const slipway = (...args: readonly string[]) => runSlipway(['--kubeconfig', rig.server.kubeconfigPath, ...args])
  const questions = async () => {
    const { items } = await rig.api.list(nodeStates, {}, signal)
    return items.flatMap(({ spec }) => spec.backup ?? [])
  }

  beforeAll(async () => {
    rig = await RolloutRig.start({ controlPlane: 1, workers: 1, agentProcesses: 1, work: '2s', version: 'v1.36.3' })
    await createScript(rig.api, 'rotate', text, signal)
    const body = { spec: { backupStores: [store] } }
    await vi.waitFor(
      () => rig.api.patch(maintenancePolicies, { name: policyName }, { type: 'merge', body }, signal),
      patience,
    )
  })

  afterAll(async () => {
    await rig?.stop()
  })

  test('an update waits for its Secret, and goes on with a backup that the next leader finds', async () => {
    await rig.createUpdate('careful', { script, backup: { etcd: 'Required', verify: 'Restore' } })
    const blocked = async () => (await rig.update('careful')).status?.conditions?.find(({ type }) => type === 'Blocked')
    await vi.waitFor(async () => expect(await blocked()).toMatchObject({ reason: 'BackupSecretMissing' }), patience)
    await rig.observer.catchUp()
    expect(rig.observer.cordoned()).toEqual([])
    expect(await slipway('why', 'careful')).toMatchObject({ out: expect.stringContaining('Secret far-keys') })
    const data = { secretAccessKey: Buffer.from('s3cr3t').toString('base64') }
    const metadata = { name: 'far-keys', namespace }
    await rig.api.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data }, signal)
    await vi.waitFor(async () => expect(await questions()).toHaveLength(1), patience)
    const [asked] = await questions()
    await (await rig.leader()).leader.process.kill()
    const { status } = await rig.ended('careful', 180_000)
    expect(status).toMatchObject({
      phase: 'Succeeded',
      backups: [{ step: 'ControlPlane', store: 'far', verified: 'Restore' }],
    })
    const [answered] = await questions()
    expect(answered?.request).toBe(asked?.request)
    expect(JSON.stringify(answered)).not.toContain('s3cr3t')
    expect(answered?.sealed?.secret).toBe('far-keys')
  })

  test('a person asks for one, and lists them', async () => {
    expect(await slipway('backup', 'create', '--store', 'near')).toMatchObject({ code: 2 })
    const made = await slipway('backup', 'create')
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('checked by Hash') })
    const { status } = await rig.api.get(maintenancePolicies, { name: policyName }, signal)
    expect(status?.backups).toMatchObject([{ store: 'far', lastSuccess: { verified: 'Hash' } }])
    const list = await slipway('backup', 'list', '--output', 'json')
    const { backups } = JSON.parse(list.out) as { backups: { name: string }[] }
    expect(backups).toHaveLength(2)
  })
})
