// The day everything of etcd is gone: three members put back from a backup that one of them made, by the agents' own containers, with no
// API to ask, and nothing to go by but what the command prints.

import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { maintenancePolicies, policyName } from '../../../src/api/maintenance-policy.ts'
import { program } from '../../../src/cli/install/workloads.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { execute } from '../../bed/execute.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import type { Machine } from '../../bed/machine.ts'
import { SlipwayInCluster } from '../slipway-in-cluster.ts'

const restoreMs = 20 * 60_000
const script = { configMap: 'nothing', sha256: createHash('sha256').update('true').digest('hex') }
const slipwayProgram = join(fileURLToPath(new URL('../../..', import.meta.url)), 'slipway')
const folder = '/var/lib/slipway/backups'
const madeSchema = z.object({ name: z.string(), node: z.string(), verified: z.literal('Hash') })

describe('three members of etcd whose data folders are deleted', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster
  let epoch = 0
  let maker: Machine | undefined
  let name = ''

  beforeAll(async () => {
    bed = await openBed()
    cluster = await raiseCluster(bed, { controlPlanes: 3, workers: 1 })
    slipway = await SlipwayInCluster.install(cluster)
  })

  afterAll(async () => {
    await bed.close()
    expect(bed.leftovers()).toEqual([])
  })

  test('have a backup, encrypted, that restores', { timeout: 600_000 }, async () => {
    await cluster.kubectl(['-n', 'slipway-system', 'create', 'configmap', 'nothing', '--from-literal=script=true'])
    const done = await slipway.update('before', { script }, 300_000)
    expect(done.status?.phase).toBe('Succeeded')
    epoch = (await slipway.get(maintenancePolicies, policyName)).status?.ledger?.epoch ?? 0
    await cluster.kubectl(['create', 'configmap', 'written-before'])
    const key = `--from-literal=key=${randomBytes(32).toString('base64')}`
    await cluster.kubectl(['-n', 'slipway-system', 'create', 'secret', 'generic', 'backup-key', key])
    const store = { name: 'here', path: folder, encryption: { method: 'Aes256Gcm', secret: 'backup-key' } }
    const patch = JSON.stringify({ spec: { backupStores: [store] } })
    await cluster.kubectl(['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge', '-p', patch])
    const create = ['--kubeconfig', cluster.kubeconfigPath, 'backup', 'create', '--output', 'json']
    const { code, stdout, stderr } = await execute([slipwayProgram, ...create])
    expect(code, stderr).toBe(0)
    const made = madeSchema.parse(JSON.parse(stdout))
    name = made.name
    maker = cluster.controlPlanes.find((node) => node.name === made.node)
    const verified = await onHost(maker, ['backup', 'verify', name, '--restore', '--host-root', '/host'])
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining(`${folder}/${name} restores`) })
    await cluster.kubectl(['create', 'configmap', 'written-after'])
  })

  test('come back by the words that one host prints', { timeout: restoreMs + 300_000 }, async () => {
    await Promise.all(cluster.controlPlanes.map((node) => node.run(['rm', '-rf', '/var/lib/etcd/member'])))
    const members = cluster.controlPlanes.map(({ name: own, address }) => `${own}=https://${address}:2380`).join()
    const first = ['backup', 'restore', name, '--members', members, '--host-root', '/host']
    const asked = await onHost(maker, first)
    // crictl has its own exit code.
    expect(asked.stdout).toContain('Nothing was changed.')
    const copies = [...asked.stdout.matchAll(/^ {2}(\S+) -> (\S+)$/gm)]
    const [, words = ''] = /^ {2}slipway (backup restore .*)$/m.exec(asked.stdout) ?? []
    const [id = ''] = /--restore-id \S+/.exec(words) ?? []
    const others = cluster.controlPlanes.filter((node) => node !== maker)
    for (const [, from = '', to = ''] of copies) {
      const content = Buffer.from((await maker?.run(['base64', from])) ?? '', 'base64')
      await Promise.all(others.map((node) => node.writeFile(to, content, 0o600)))
    }
    const ended = await Promise.all([
      onHost(maker, [...first, ...id.split(' '), '--yes']),
      ...others.map((node) => onHost(node, [...words.split(' '), '--yes'])),
    ])
    for (const { code, stdout, stderr } of ended) expect({ code, stdout, stderr }).toMatchObject({ code: 0 })

    await slipway.until('the API answers', 300_000, async () => {
      const names = await cluster.kubectl(['get', 'configmaps', '-o', 'name'])
      return names.includes('written-before') && !names.includes('written-after')
    })
    const health = await cluster.etcdctl(['endpoint', 'health'])
    expect(health.code, health.stderr).toBe(0)
  })

  test('then every agent is asked, the epoch goes up, and updates go on', { timeout: 900_000 }, async () => {
    await slipway.until('the roll was called', 300_000, async () => {
      const { ledger, rollCall } = (await slipway.get(maintenancePolicies, policyName)).status ?? {}
      return ledger?.restored !== undefined && ledger.epoch > epoch && rollCall === undefined
    })
    await slipway.until('all nodes are Ready', 300_000, async () =>
      (await cluster.nodeStatuses()).every(({ isReady }) => isReady),
    )
    const after = await slipway.update('after', { script }, 600_000)
    if (after.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
  })
})

/** As docs/restore.md says: in the container of the agent, which needs no API. */
async function onHost(node: Machine | undefined, command: readonly string[]) {
  if (!node) throw new Error('no such host')
  const agent = (await node.run(['crictl', 'ps', '--quiet', '--name', '^agent$'])).trim()
  return await node.exec(['crictl', 'exec', agent, 'node', program, ...command], { timeoutMs: restoreMs })
}
