// Backups of etcd before control-plane nodes are taken: told with agents that answer for a store that is well or down.

import { describe, expect, it } from 'vitest'
import type { BackupStoreSpec } from '../../src/api/backup.ts'
import { events, secrets } from '../../src/api/kube.ts'
import { type NodeState, nodeStates } from '../../src/api/node-state.ts'
import type { Reason } from '../../src/api/reason.ts'
import type { PretendStores } from '../../src/main/simulation/pretend-backups.ts'
import type { NodeSpec } from '../../src/sim/sim-machine.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import { profileStory } from './profile-story.ts'
import { play, type Story, type StoryOptions, scenario } from './story.ts'

const version = 'v1.35.4'
const target = 'v1.36.3'
const here: BackupStoreSpec = { name: 'here', path: '/var/backups' }
const down: Reason = { code: 'StepFailed', message: 'connection refused by 192.0.2.7:443' }
const node = (name: string): NodeSpec => {
  return { name, version, role: name.startsWith('cp') ? 'control-plane' : 'worker' }
}
const one: StoryOptions = { nodes: ['cp1', 'w1', 'w2'].map(node) }
const three: StoryOptions = { nodes: ['cp1', 'cp2', 'cp3', 'w1'].map(node) }

/** Whom the operator has asked, and for what, as `node request`. */
function asked({ cluster }: Story): Set<string> {
  const seen = new Set<string>()
  cluster.sim.server.onCommit(({ kind, after }) => {
    if (kind !== nodeStates.kind || !after) return
    const { request } = (after as NodeState).spec.backup ?? {}
    if (request !== undefined) seen.add(`${after.metadata.name} ${request}`)
  })
  return seen
}

const hostsOf = (requests: ReadonlySet<string>) => new Set([...requests].map((one) => one.split(' ')[0]))

describe('before a control-plane node', () => {
  scenario('a backup is made, checked and recorded, and one is good for all three', three, async (story) => {
    const { cluster, person, update } = story
    const requests = asked(story)
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target).is('InProgress', 'BackupRunning')
    expect(cluster.taken).toEqual([])
    await it.succeeds()
    expect(it.status.backups).toMatchObject([{ step: `ControlPlane ${target}`, store: 'here', verified: 'Hash' }])
    expect(it.status.backupRun).toBeUndefined()
    expect(requests.size).toBe(1)
    expect(cluster.told('DirectUpdate', 'update')).toContain('BackupMade')
  })

  const failing = new Set<string>()
  const stores: PretendStores = { trouble: (host) => (failing.has(host) ? down : undefined) }

  scenario('another host is asked when one fails', { ...three, stores }, async (story) => {
    const { cluster, person, update } = story
    failing.clear()
    failing.add('cp1').add('cp2')
    const requests = asked(story)
    await person.setsPolicy({ backupStores: [here] })
    const { status } = await update.kubernetes(target).succeeds()
    expect(hostsOf(requests).size).toBe(requests.size)
    expect(status.backups).toMatchObject([{ node: 'cp3' }])
    expect(cluster.told('DirectUpdate', 'update')).toContain('BackupFailed')
  })

  scenario(
    'three failures hold everything, named with store and cause, until a retry',
    { ...one, stores },
    async (story) => {
      const { cluster, person, update } = story
      failing.clear()
      failing.add('cp1')
      const requests = asked(story)
      await person.setsPolicy({ backupStores: [here] })
      const it = await update.kubernetes(target).is('RequiresAttention', 'BackupFailed')
      expect(it.condition('Blocked')?.message).toContain('failed 3 times (on cp1)')
      expect(it.condition('Blocked')?.message).toContain('connection refused by 192.0.2.7:443 (store here)')
      expect(it.condition('Progressing')?.message).toContain('slipway retry update')
      await cluster.pass(3_600_000)
      expect(requests.size).toBe(3)
      expect(cluster.taken).toEqual([])
      failing.clear()
      await it.isRetried('again')
      await it.succeeds()
      expect(requests.size).toBe(4)
      expect(it.status.backups).toHaveLength(1)
    },
  )

  scenario('one that has become too old is made again', three, async (story) => {
    const { cluster, person, update } = story
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target, { backup: { maxAge: '5m' } }).starts()
    await it.isEdited({ desiredState: 'Paused' })
    await it.is('Paused')
    await cluster.until('the first is done', () => cluster.taken.length === 0)
    await cluster.pass(10 * 60_000)
    expect(it.status.backups).toHaveLength(1)
    await it.isEdited({ desiredState: 'Running' })
    await it.succeeds()
    expect(it.status.backups).toHaveLength(2)
  })

  scenario('none is made while something else stands in the way', one, async (story) => {
    const { cluster, person, update } = story
    const requests = asked(story)
    await person.setsPolicy({ backupStores: [here], windows: [{ start: '12:00', end: '13:00' }] })
    const it = await update.kubernetes(target).is('InProgress', 'OutsideWindow')
    await cluster.pass(2 * 3_600_000)
    expect(requests.size).toBe(0)
    await cluster.until('it is over', () => it.status.phase === 'Succeeded', 5 * 3_600_000)
    expect(requests.size).toBe(1)
  })

  scenario('and before the first worker, where the update says so', one, async (story) => {
    const { person, update } = story
    await person.setsPolicy({ backupStores: [here] })
    const before = ['ControlPlane', 'FirstWorker'] as const
    const { status } = await update.kubernetes(target, { backup: { before: [...before] } }).succeeds()
    expect(status.backups?.map(({ step }) => step)).toEqual([`ControlPlane ${target}`, `FirstWorker ${target}`])
  })

  const offered = { ...one, versionsOnOffer: ['v1.35.6', 'v1.36.1', 'v1.36.3', 'v1.37.2'] }
  scenario('and before each step of a path over two minor versions', offered, async ({ person, update }) => {
    await person.setsPolicy({ backupStores: [here] })
    const before = ['ControlPlane', 'FirstWorker'] as const
    const { status } = await update.kubernetes('v1.37.2', { backup: { before: [...before] } }).succeeds()
    const steps = ['ControlPlane v1.36.3', 'ControlPlane v1.37.2', 'FirstWorker v1.37.2']
    expect(status.backups?.map(({ step }) => step)).toEqual(steps)
  })

  scenario('also where the version is looked for first', offered, async ({ person, update }) => {
    await person.setsPolicy({ backupStores: [here] })
    const { status } = await update.kubernetes('latest-patch', { backup: { etcd: 'Required' } }).succeeds()
    expect(status.backups?.map(({ step }) => step)).toEqual(['ControlPlane v1.35.6'])
  })

  scenario('a host that goes away while it makes one is not waited for', three, async (story) => {
    const { cluster, person, update } = story
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target).is('InProgress', 'BackupRunning')
    await cluster.until('one is asked', () => it.status.backupRun?.node !== undefined)
    const first = it.status.backupRun?.node ?? ''
    cluster.machine(first).losePowerFor(120_000)
    await it.succeeds()
    expect(it.status.backups?.[0]?.node).not.toBe(first)
    expect(cluster.state(first)?.spec.backup).toBeUndefined()
  })

  scenario('an agent that is killed begins again, and is not asked twice', one, async (story) => {
    const { cluster, person, update } = story
    const requests = asked(story)
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target).is('InProgress', 'BackupRunning')
    await cluster.until('it runs', () => cluster.state('cp1')?.status?.agent?.backup?.state === 'Running')
    cluster.machine('cp1').agent?.crash()
    await it.succeeds()
    expect(requests.size).toBe(1)
  })

  scenario('a cancelled update takes its question back', one, async (story) => {
    const { cluster, person, update } = story
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target).is('InProgress', 'BackupRunning')
    await cluster.until('it runs', () => cluster.state('cp1')?.status?.agent?.backup?.state === 'Running')
    await it.isEdited({ desiredState: 'Cancelled' })
    await it.is('Cancelled')
    await cluster.until('it is not asked any more', () => cluster.state('cp1')?.spec.backup === undefined)
    await cluster.until('it has stopped', () => cluster.state('cp1')?.status?.agent?.backup === undefined)
  })

  it('the operator dies at each write until the first node is taken: the next one finds question and answer', async () => {
    const options = { nodes: ['cp1', 'w1'].map(node), operators: 1 }
    let writes = 0
    const untilTaken = async (story: Story) => {
      const { cluster, person, update, faults } = story
      const requests = asked(story)
      await person.setsPolicy({ backupStores: [here] })
      const it = await update.kubernetes(target).starts()
      writes ||= faults.count('operator', 'write')
      expect(requests.size).toBe(1)
      expect(it.status.backups).toHaveLength(1)
      expect(cluster.taken).toEqual(['cp1'])
    }
    await play(options, untilTaken)
    expect(writes).toBeGreaterThan(5)
    for (let nth = 1; nth < writes; nth++) {
      await play({ ...options, crash: { victim: 'operator', before: 'write', nth } }, untilTaken)
      await play({ ...options, crash: { victim: 'operator', after: 'write', nth } }, untilTaken)
    }
  })
})

describe('whether there is one', () => {
  scenario('without stores an update goes on', one, async ({ update }) => {
    const { status } = await update.kubernetes(target).succeeds()
    expect(status.backups).toBeUndefined()
  })

  scenario('an update that must have one is refused before anything starts', one, async (story) => {
    const { cluster, person, update } = story
    const it = await update.kubernetes(target, { backup: { etcd: 'Required' } }).is('Pending', 'BackupStoreMissing')
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ backupStores: [here] })
    await it.succeeds()
    expect(it.status.backups).toHaveLength(1)
  })

  scenario('one that names a store that is not there is refused, too', one, async ({ person, update }) => {
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target, { backup: { store: 'there' } }).is('Pending', 'BackupStoreMissing')
    expect(it.condition('Planned')?.message).toContain('in store there, which is not in spec.backupStores')
  })

  scenario('Never means never, and scripts need none', one, async (story) => {
    const { person, update } = story
    const requests = asked(story)
    await person.setsPolicy({ backupStores: [here] })
    await update.kubernetes(target, { backup: { etcd: 'Never' } }).succeeds()
    await update.script('true', { name: 'script' }).succeeds()
    expect(requests.size).toBe(0)
  })

  scenario('a script gets one where it is required', one, async ({ person, update }) => {
    await person.setsPolicy({ backupStores: [here] })
    const { status } = await update.script('true', { backup: { etcd: 'Required', verify: 'Restore' } }).succeeds()
    expect(status.backups).toMatchObject([{ step: 'ControlPlane', verified: 'Restore' }])
  })

  scenario('a store that is taken away in the middle holds the update', one, async ({ person, update, cluster }) => {
    await person.setsPolicy({ backupStores: [here] })
    const it = await update.kubernetes(target, { backup: { etcd: 'Required' } }).is('InProgress', 'BackupRunning')
    await person.setsPolicy({ backupStores: [] })
    await it.is('RequiresAttention', 'BackupStoreMissing')
    expect(cluster.taken).toEqual([])
    await person.setsPolicy({ backupStores: [here] })
    await it.succeeds()
  })
})

describe('what is secret', () => {
  const s3: BackupStoreSpec = {
    name: 'far',
    s3: { bucket: 'backups', secret: 'far-keys' },
    encryption: { secret: 'backup-key' },
  }
  const keys = (name: string, data: Readonly<Record<string, string>>) => ({
    metadata: { name, namespace: operatorNamespace },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  })

  scenario('is waited for, and reaches the host sealed to it', profileStory(3), async ({ cluster, person, update }) => {
    await person.setsPolicy({ backupStores: [s3] })
    const it = await update.kubernetes(target).is('InProgress', 'BackupSecretMissing')
    expect(it.condition('Blocked')?.message).toContain('Secret far-keys of the backup store is not in namespace')
    await person.creates(secrets, keys('far-keys', { accessKeyID: 'AKIA', secretAccessKey: 's3cr3t' }))
    await person.creates(secrets, keys('backup-key', { key: 'AGE-SECRET-KEY-1' }))
    await it.succeeds()
    const { sealed, store } = cluster.state('cp1')?.spec.backup ?? {}
    expect(store).toEqual(s3)
    const [key, context, plain] = JSON.parse(Buffer.from(sealed?.text ?? '', 'base64').toString()) as string[]
    expect([key, context]).toEqual(['key-of-cp1', `Secret far-keys key backup (${sealed?.version})`])
    expect(JSON.parse(plain ?? '')).toEqual({
      store: { accessKeyID: 'AKIA', secretAccessKey: 's3cr3t' },
      encryption: { key: 'AGE-SECRET-KEY-1' },
    })
    const elsewhere = JSON.stringify([it.object, cluster.sim.server.peekAll(events)])
    expect(elsewhere).not.toContain('s3cr3t')
  })

  scenario(
    'of an etcd elsewhere goes along with its endpoints',
    profileStory(2),
    async ({ cluster, person, update }) => {
      const endpoints = ['https://10.0.9.1:2379', 'https://10.0.9.2:2379']
      await person.setsPolicy({ backupStores: [here], etcd: { endpoints, secret: 'etcd-client' } })
      const it = await update.kubernetes(target).is('InProgress', 'BackupSecretMissing')
      expect(it.condition('Blocked')?.message).toContain('Secret etcd-client of spec.etcd is not in namespace')
      const certificates = { 'ca.crt': 'the authority', 'tls.crt': 'the certificate', 'tls.key': 'its k3y' }
      await person.creates(secrets, keys('etcd-client', certificates))
      await it.succeeds()
      const { sealed, etcd, store } = cluster.state('cp1')?.spec.backup ?? {}
      expect({ etcd, store }).toEqual({ etcd: { endpoints }, store: here })
      const [key, , plain] = JSON.parse(Buffer.from(sealed?.text ?? '', 'base64').toString()) as string[]
      expect(key).toBe('key-of-cp1')
      expect(JSON.parse(plain ?? '')).toEqual({ etcd: certificates })
      expect(JSON.stringify([it.object, cluster.sim.server.peekAll(events)])).not.toContain('its k3y')
    },
  )
})
