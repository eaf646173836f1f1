// One DirectUpdate takes a cluster over two minor versions: the control plane through each, with a backup in a bucket that was proven
// by a restore before each of them, the worker straight to the last. The keys of the bucket are seen by nobody but the agent.

import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { directUpdates } from '../../../src/api/direct-update.ts'
import { allObjects } from '../../apiserver/every-request.ts'
import { plainRequests } from '../../apiserver/plain-request.ts'
import { type Bed, openBed } from '../../bed/bed.ts'
import { makeAuthority, makePair } from '../../bed/certificates.ts'
import { execute } from '../../bed/execute.ts'
import { type KubeadmCluster, raiseCluster } from '../../bed/kubeadm-cluster.ts'
import { ignoredChecks } from '../../bed/kubeadm-config.ts'
import { debVersion, minorPath } from '../../bed/kubernetes-packages.ts'
import { fromMoto, startMoto } from '../../bed/moto.ts'
import type { S3Server } from '../../bed/s3-server.ts'
import { secretsIn } from '../../bed/secret-forms.ts'
import { startTlsFront, type TlsFront } from '../../bed/tls-front.ts'
import { kubernetesVersion, olderKubernetesVersion, oldestKubernetesVersion } from '../../bed/versions.ts'
import { SecretWatch } from '../secret-watch.ts'
import { SlipwayInCluster } from '../slipway-in-cluster.ts'

const slipwayProgram = join(fileURLToPath(new URL('../../..', import.meta.url)), 'slipway')
const folder = '/var/lib/slipway/backups'
const bucket = 'cluster-backups'
const planted = {
  'access key': 'planted-access-key-Hd83',
  'secret key': 'planted-secret-key-wQ6z',
  'encryption key': randomBytes(32).toString('base64'),
}
/** Ten of this do not fit into one part of an upload, however they are compressed. */
const fillerBytes = 600_000
const upgradeMs = 30 * 60_000
const minor = /^v(\d+\.\d+)\./.exec(kubernetesVersion)?.[1] ?? ''

describe('one DirectUpdate over two minor versions', () => {
  let bed: Bed
  let cluster: KubeadmCluster
  let slipway: SlipwayInCluster
  let server: S3Server
  let tls: TlsFront
  let watch: SecretWatch
  const keep = (name: string, stringData: Readonly<Record<string, string>>) =>
    cluster.kubectl(
      ['create', '-f', '-'],
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'slipway-system' } },
        stringData,
      }),
    )
  const stored = (name: string) => fromMoto(server, `${bucket}/prod/${name}`)

  beforeAll(async () => {
    bed = await openBed()
    server = await startMoto()
    bed.atClose(() => server.stop())
    await fetch(`${server.endpoint}/${bucket}`, { method: 'PUT' })
    const authority = makeAuthority('store-ca')
    tls = await startTlsFront(server.endpoint, makePair(authority, { name: 'store', ips: [bed.address] }), bed.address)
    bed.atClose(async () => tls.stop())
    cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 1, release: oldestKubernetesVersion })
    slipway = await SlipwayInCluster.install(cluster)
    await keep('backup-s3', { accessKeyID: planted['access key'], secretAccessKey: planted['secret key'] })
    await keep('backup-key', { key: planted['encryption key'] })
    const encryption = { method: 'Aes256Gcm', secret: 'backup-key' }
    const s3 = { bucket, prefix: 'prod', endpoint: tls.url, ca: authority.certificate, secret: 'backup-s3' }
    const backupStores = [
      { name: 'far', s3, encryption },
      { name: 'here', path: folder, encryption },
    ]
    const patch = JSON.stringify({ spec: { backupStores } })
    await cluster.kubectl(['patch', 'maintenancepolicies.slipway.dev', 'default', '--type=merge', '-p', patch])
    watch = new SecretWatch(cluster.nodes, planted)
  })

  afterAll(async () => {
    try {
      await watch?.stop()
    } finally {
      await bed.close()
    }
    expect(bed.leftovers()).toEqual([])
  })

  test('finds its path, and goes it', { timeout: upgradeMs + 120_000 }, async () => {
    // The hosts' repository is that of their own minor version; of the others a person tells.
    await cluster.kubectl(
      ['apply', '-f', '-'],
      JSON.stringify({
        ...{ apiVersion: 'v1', kind: 'ConfigMap' },
        metadata: { name: 'slipway-versions', namespace: 'slipway-system' },
        data: { versions: `${olderKubernetesVersion}\n${kubernetesVersion}\n` },
      }),
    )
    for (let count = 0; count < 10; count++) {
      const data = { noise: randomBytes(fillerBytes).toString('base64') }
      const metadata = { name: `filler-${count}` }
      await cluster.kubectl(
        ['create', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }),
      )
    }
    const update = await slipway.update(
      'two-minors',
      {
        kubernetes: { version: `${minor}.*`, kubeadm: { ignorePreflightErrors: ignoredChecks.split(',') } },
        // The machines of the bed share their host's kernel, whatever cgroups that has.
        preflight: { skip: ['TargetRequirements'] },
        backup: { etcd: 'Required', store: 'far', verify: 'Restore' },
      },
      upgradeMs,
    )
    if (update.status?.phase !== 'Succeeded') expect.fail(await slipway.story())
    expect(update.status.path).toEqual({
      ...{ current: oldestKubernetesVersion, target: kubernetesVersion, step: 1, workers: [1], source: 'ConfigMap' },
      steps: [olderKubernetesVersion, kubernetesVersion],
    })
    expect(await cluster.nodeStatuses()).toEqual(
      cluster.nodes.map(({ name }) => ({ name, isReady: true, kubeletVersion: kubernetesVersion })),
    )
  })

  test('a backup was proven by a restore before each step, and lies encrypted in the bucket', async () => {
    const { status } = await slipway.get(directUpdates, 'two-minors')
    expect(status?.backups).toMatchObject(
      [olderKubernetesVersion, kubernetesVersion].map((version) => ({
        ...{ step: `ControlPlane ${version}`, store: 'far', verified: 'Restore' },
        location: expect.stringContaining(`s3://${bucket}/prod/`),
      })),
    )
    for (const { location, sha256 } of status?.backups ?? []) {
      const name = location.slice(location.lastIndexOf('/') + 1)
      const found = await stored(name)
      expect(
        createHash('sha256')
          .update(Buffer.from(await found.arrayBuffer()))
          .digest('hex'),
      ).toBe(sha256)
      // In parts.
      expect(found.headers.get('etag')).toMatch(/-\d+"$/)
      expect(await (await stored(`${name}.json`)).json()).toMatchObject({ sha256, encryption: 'Aes256Gcm' })
    }
    // Every request was signed with the key of the Secret.
    expect(tls.shown.size).toBeGreaterThan(0)
    expect([...tls.shown].filter((words) => !words.includes(`Credential=${planted['access key']}/`))).toEqual([])
  })

  test('one that is asked for lies in a folder of the host', { timeout: 300_000 }, async () => {
    const create = ['backup', 'create', '--store', 'here', '--verify', 'Restore', '--output', 'json']
    const { code, stdout, stderr } = await execute([slipwayProgram, '--kubeconfig', cluster.kubeconfigPath, ...create])
    expect(code, stderr).toBe(0)
    const { location, sha256 } = z.object({ location: z.string(), sha256: z.string() }).parse(JSON.parse(stdout))
    expect(location).toContain(folder)
    const [first] = cluster.controlPlanes
    expect(await first?.run(['sha256sum', location])).toContain(sha256)
    expect((await first?.run(['ls', folder]))?.trim().split('\n')).toHaveLength(2)
  })

  test('the keys were opened on one host, and stand nowhere else', async () => {
    expect(await watch.stop()).toEqual([])
    // There was something to look at.
    for (const { name } of cluster.nodes) {
      expect(watch.texts.get(`arguments on ${name}`)).toContain('slipway.mjs agent')
      expect(watch.texts.get(`logs on ${name}`)).toContain('"component":"agent"')
    }
    const logs = await cluster.kubectl([
      'logs',
      '-n',
      'slipway-system',
      '-l',
      'app.kubernetes.io/component=operator',
      '--tail=-1',
    ])
    expect(logs).toContain('"component":"operator"')
    const objects = [...(await allObjects(await plainRequests(cluster.kubeconfigPath)))]
    const others = objects.filter(([place]) => !place.startsWith('secrets.'))
    for (const kind of ['nodestates', 'events', 'directupdates']) {
      expect(
        others.some(([place]) => place.startsWith(`${kind}.`)),
        kind,
      ).toBe(true)
    }
    const texts = [
      ['the log of the operator', logs] as const,
      ...others.map(([place, object]) => [place, JSON.stringify(object)] as const),
    ]
    expect(texts.flatMap(([place, text]) => secretsIn(text, planted).map((what) => `${what} in ${place}`))).toEqual([])
    // The search would find them: they are in the Secrets, and in the note that only root may read.
    expect(secretsIn(JSON.stringify(objects.filter(([place]) => place.startsWith('secrets.'))), planted)).toHaveLength(
      3,
    )
    const [first, ...rest] = cluster.nodes
    const note = '/var/lib/slipway/backup-store.json'
    expect(await first?.run(['stat', '-c', '%a %U', note])).toBe('600 root\n')
    for (const node of rest) expect((await node.exec(['test', '-e', note])).code).toBe(1)
  })

  test('each step was an operation of its own, and the worker was taken once', async () => {
    const [first, second] = await Promise.all(cluster.nodes.map(({ name }) => slipway.state(name)))
    expect(first?.status?.rollout).toMatchObject({ phase: 'Done', operationID: expect.stringMatching(/\.2$/) })
    expect(first?.status?.completed).toEqual([expect.stringMatching(/\.1$/)])
    expect(second?.status?.rollout).toMatchObject({ phase: 'Done', operationID: expect.stringMatching(/\.2$/) })
    expect(second?.status?.completed ?? []).toEqual([])
  })

  test('packages are whole, held as before, and come from the last minor’s repository', async () => {
    for (const node of cluster.nodes) {
      expect(await node.run(['dpkg', '--audit'])).toBe('')
      expect((await node.run(['apt-mark', 'showhold'])).trim().split('\n')).toEqual(['kubeadm', 'kubectl', 'kubelet'])
      const versions = await node.run(['apt-cache', 'policy', 'kubelet'])
      expect(versions).toContain(`Installed: ${debVersion(kubernetesVersion)}`)
      expect(await node.readFile('/etc/apt/sources.list.d/kubernetes.list')).toContain(minorPath(kubernetesVersion))
    }
  })
})
