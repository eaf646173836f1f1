// etcd restored on its hosts, with real etcd: the data folders are gone, the members come back with every key.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { nodeRequests } from '../../src/adapters/secure-requests/node-requests.ts'
import { EtcdGateway } from '../../src/agent/control-plane/etcd-gateway.ts'
import { RestoreRun } from '../../src/agent/restore/restore-run.ts'
import { restoredAnnotation } from '../../src/api/maintenance-policy.ts'
import type { RestoreRecord } from '../../src/api/restore-record.ts'
import { readSite, restoredMembers } from '../../src/core/restore/member-site.ts'
import { planRestore } from '../../src/core/restore/restore-plan.ts'
import { policyKey } from '../../src/core/restore/restored-mark.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { makePair } from '../bed/certificates.ts'
import {
  countKeys,
  etcdPrograms,
  isCompacted,
  manifestOfSnapshot,
  putKey,
  putKeys,
  readKey,
  saveSnapshot,
} from '../bed/etcd-snapshot.ts'
import { StaticEtcd, type StaticMember } from '../bed/static-etcd.ts'
import { untilTrue } from '../bed/until-true.ts'
import { cliFixture } from '../cli/cli-fixture.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'

const keys = 120
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

interface Restoring {
  readonly cluster: StaticEtcd
  readonly gateway: EtcdGateway
  readonly plan: (member: StaticMember, restoreId?: string) => Promise<RestoreRecord>
  readonly run: (member: StaticMember) => RestoreRun
  readonly revision: bigint
  readonly snapshot: string
}

/** A cluster with a backup, to which more was written since. */
async function lost(count: number, story: (restoring: Restoring) => Promise<void>): Promise<void> {
  const cluster = await StaticEtcd.start(count)
  const folder = await mkdtemp(join(tmpdir(), 'slipway-restore-'))
  folders.push(folder)
  try {
    const { certificate, key } = makePair(cluster.authority, { name: 'test' })
    const gateway = new EtcdGateway(nodeRequests, { ca: cluster.authority.certificate, certificate, key })
    await untilTrue('etcd agrees', () => allAgree(cluster, gateway))
    await putKeys(cluster, keys)
    const policy = { apiVersion: 'slipway.dev/v1alpha1', kind: 'MaintenancePolicy', metadata: { name: 'default' } }
    await putKey(cluster, policyKey('/registry'), `${JSON.stringify(policy)}\n`)
    const snapshot = await saveSnapshot(cluster, folder)
    const { etcdutl } = await etcdPrograms()
    const backup = await manifestOfSnapshot(snapshot, etcdutl)
    await putKey(cluster, '/registry/key-late', 'written after the backup')
    const { header } = await gateway.status(cluster.members[0]?.url ?? '', AbortSignal.timeout(5_000))
    const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
    const run = (member: StaticMember) => {
      const tools = { host, requests: nodeRequests, clock: new SystemClock(), tell: () => undefined }
      return new RestoreRun(tools, join(member.folder, 'restore'))
    }
    const plan = async (member: StaticMember, restoreId = '00112233445566ff') => {
      const text = (await host.files.read(join(member.manifests, 'etcd.yaml'))) ?? ''
      const found = readSite({ manifests: member.manifests, texts: { etcd: text } })
      if ('missing' in found) throw new Error(found.missing)
      const { site } = found
      const told = restoredMembers(
        site,
        undefined,
        await gateway.membersKnown(site.etcd.url, AbortSignal.timeout(5_000)),
      )
      if ('wrong' in told) throw new Error(told.wrong)
      const id = { restoreId, isFirst: member.name === 'cp1' }
      return planRestore({ ...id, site, members: told.members, backup, etcdutl, snapshot, startedAt: new Date() })
    }
    await story({ cluster, gateway, plan, run, revision: BigInt(header.revision), snapshot })
  } finally {
    await cluster.stop()
  }
}

async function allAgree({ members }: StaticEtcd, gateway: EtcdGateway): Promise<boolean> {
  await Promise.all(members.map(({ url }) => gateway.readAgreed(url, AbortSignal.timeout(5_000))))
  return true
}

const signal = new AbortController().signal

async function isWhole({ cluster, gateway, revision }: Restoring): Promise<void> {
  expect(await allAgree(cluster, gateway)).toBe(true)
  expect(await countKeys(cluster)).toBe(keys)
  expect(await readKey(cluster, '/registry/key-late')).toBeUndefined()
  const { header } = await gateway.status(cluster.members[0]?.url ?? '', AbortSignal.timeout(5_000))
  expect(BigInt(header.revision)).toBeGreaterThan(revision + 900_000_000n)
  expect(await isCompacted(cluster, String(revision))).toBe(true)
  const marked = JSON.parse((await readKey(cluster, policyKey('/registry'))) ?? '{}')
  expect(marked.metadata.annotations[restoredAnnotation]).toMatch(/^[0-9a-f]{16}-[0-9a-f]{16}$/)
  const names = (await gateway.members(cluster.members[0]?.url ?? '', AbortSignal.timeout(5_000))).map(
    ({ name }) => name,
  )
  expect(names.toSorted()).toEqual(cluster.members.map(({ name }) => name))
}

describe('etcd is restored', () => {
  it('with one member, its data folder gone', { timeout: 240_000 }, () =>
    lost(1, async (restoring) => {
      const [member] = restoring.cluster.members
      if (!member) throw new Error('no member')
      const plan = await restoring.plan(member)
      rmSync(member.dataDir, { recursive: true, force: true })
      await restoring.run(member).carryOut(plan, signal)
      await isWhole(restoring)
      expect(await restoring.run(member).pending()).toBeUndefined()
    }),
  )

  it('with three members: each waits for the others', { timeout: 240_000 }, () =>
    lost(3, async (restoring) => {
      const plans = await Promise.all(restoring.cluster.members.map((member) => restoring.plan(member)))
      expect(new Set(plans.map(({ members, mark }) => `${members} ${mark}`)).size).toBe(1)
      for (const { dataDir } of restoring.cluster.members) rmSync(dataDir, { recursive: true, force: true })
      await Promise.all(
        restoring.cluster.members.map((member, at) =>
          restoring.run(member).carryOut(plans[at] as RestoreRecord, signal),
        ),
      )
      await isWhole(restoring)
    }),
  )

  it(
    'a second time from the same backup, host after host, while members of the first time run',
    { timeout: 240_000 },
    () =>
      lost(3, async (restoring) => {
        const { cluster, gateway, plan, run } = restoring
        const restored = async (restoreId: string) => {
          const running: Promise<void>[] = []
          for (const member of cluster.members) {
            running.push(run(member).carryOut(await plan(member, restoreId), signal))
            // The next host is only begun when this one runs again: the others still are what they were.
            await untilTrue('its etcd runs', async () => {
              const begun = (await run(member).pending())?.begun
              return (begun === undefined || begun.includes('StartEtcd')) && cluster.isRunning(member.name)
            })
          }
          await Promise.all(running)
        }
        await restored('1111111111111111')
        await putKey(cluster, '/registry/key-between', 'written between the restores')
        await restored('2222222222222222')
        expect(await readKey(cluster, '/registry/key-between')).toBeUndefined()
        await isWhole(restoring)
        const seen = await Promise.all(
          cluster.members.map(async ({ url }) => (await gateway.status(url, AbortSignal.timeout(5_000))).header),
        )
        expect(new Set(seen.map((header) => header.cluster_id)).size).toBe(1)
        const past = await Promise.all(cluster.members.map((member) => run(member).past()))
        expect(past.map((records) => records.map(({ restoreId }) => restoreId))).toEqual(
          cluster.members.map(() => ['1111111111111111', '2222222222222222']),
        )
      }),
  )

  it('goes on after it was cut off at any step', { timeout: 240_000 }, () =>
    lost(1, async (restoring) => {
      const [member] = restoring.cluster.members
      if (!member) throw new Error('no member')
      const first = await restoring.plan(member)
      for (const step of ['Stop', 'PutAside', 'Restore', 'Place', 'StartEtcd', 'Mark'] as const) {
        const cut = new AbortController()
        const tell = (line: string) => line === `${step}…` && cut.abort(new Error('cut off'))
        const tools = { host: new LinuxHost({ disk: new FileDisk(), log: silentLog }), requests: nodeRequests }
        const run = new RestoreRun({ ...tools, clock: new SystemClock(), tell }, join(member.folder, 'restore'))
        const pending = (await run.pending()) ?? first
        await expect(run.carryOut(pending, cut.signal)).rejects.toThrow('cut off')
      }
      const run = restoring.run(member)
      await run.carryOut((await run.pending()) ?? first, signal)
      await isWhole(restoring)
      const [aside] = readdirSync(member.dataDir).filter((name) => name.startsWith('before-restore-'))
      expect(existsSync(join(member.dataDir, aside ?? '', 'member/snap/db'))).toBe(true)
    }),
  )

  it('is undone while nothing was started', { timeout: 240_000 }, () =>
    lost(1, async ({ cluster, gateway, plan, run }) => {
      const [member] = cluster.members
      if (!member) throw new Error('no member')
      const record = await plan(member)
      const cut = new AbortController()
      const tell = (line: string) => line === 'Place…' && cut.abort(new Error('cut off'))
      const tools = { host: new LinuxHost({ disk: new FileDisk(), log: silentLog }), requests: nodeRequests }
      const cutOff = new RestoreRun({ ...tools, clock: new SystemClock(), tell }, join(member.folder, 'restore'))
      await expect(cutOff.carryOut(record, cut.signal)).rejects.toThrow('cut off')
      const begun = (await cutOff.pending()) ?? record
      const agreed: RestoreRecord = { ...begun, done: [...begun.done, 'StartEtcd'] }
      await expect(cutOff.undo(agreed, signal)).rejects.toMatchObject({ code: 'Refused' })
      await cutOff.undo(begun, signal)
      await untilTrue('etcd agrees', () => allAgree(cluster, gateway))
      expect(await readKey(cluster, '/registry/key-late')).toBe('written after the backup')
      expect(await run(member).pending()).toBeUndefined()
    }),
  )

  it('is undone while it waits for members that do not come, also a second time', { timeout: 240_000 }, () =>
    lost(3, async ({ cluster, gateway, plan, run, snapshot }) => {
      const [member] = cluster.members
      if (!member) throw new Error('no member')
      const cut = new AbortController()
      const record = await plan(member)
      const waiting = run(member).carryOut(record, cut.signal)
      await untilTrue('the restored etcd runs', async () => {
        const begun = (await run(member).pending())?.begun
        return begun?.includes('StartEtcd') === true && cluster.isRunning(member.name)
      })
      cut.abort(new Error('cut off'))
      await expect(waiting).rejects.toThrow('cut off')
      const begun = (await run(member).pending()) ?? record

      const state = join(member.folder, 'state')
      mkdirSync(state)
      cpSync(join(member.folder, 'restore'), join(state, 'restore'), { recursive: true })
      const other = cliFixture(new FakeKubeApi(), { clock: new SystemClock() })
      const place = ['--manifests', member.manifests, '--state-dir', state, '--file', snapshot]
      expect(await other.run('backup', 'restore', ...place, '--members', `cp1=${member.peer}`)).toBe(3)
      expect(other.err.text).toContain(`--members cp1=${member.peer}`)
      expect(other.err.text).toContain('slipway backup restore --undo')

      await run(member).undo(begun, signal)
      // As if it had been cut off before its end was written down: what is back must stay.
      await run(member).undo({ ...begun, undoing: true }, signal)
      await untilTrue('etcd agrees', () => allAgree(cluster, gateway))
      expect(await readKey(cluster, '/registry/key-late')).toBe('written after the backup')
      expect(await run(member).pending()).toBeUndefined()
      expect(readdirSync(member.dataDir)).toEqual(['member'])
      await expect(run(member).carryOut({ ...begun, undoing: true }, signal)).rejects.toMatchObject({ code: 'Refused' })
    }),
  )

  it('is not undone when a majority has formed since it stopped waiting', { timeout: 240_000 }, () =>
    lost(3, async ({ cluster, gateway, plan, run }) => {
      const [member, ...others] = cluster.members
      if (!member) throw new Error('no member')
      const plans = new Map(await Promise.all(cluster.members.map(async (one) => [one.name, await plan(one)] as const)))
      const recordOf = ({ name }: StaticMember) => plans.get(name) as RestoreRecord
      const cut = new AbortController()
      const waiting = run(member).carryOut(recordOf(member), cut.signal)
      await untilTrue('the restored etcd runs', async () => {
        const begun = (await run(member).pending())?.begun
        return begun?.includes('StartEtcd') === true && cluster.isRunning(member.name)
      })
      cut.abort(new Error('cut off'))
      await expect(waiting).rejects.toThrow('cut off')
      const rest = others.map((other) => run(other).carryOut(recordOf(other), signal))
      await untilTrue('etcd agrees', () => allAgree(cluster, gateway))

      const begun = (await run(member).pending()) ?? recordOf(member)
      expect(begun.done).not.toContain('StartEtcd')
      await expect(run(member).undo(begun, signal)).rejects.toMatchObject({
        code: 'Refused',
        message: expect.stringContaining('a majority has agreed'),
      })
      expect(cluster.isRunning(member.name)).toBe(true)
      const pending = await run(member).pending()
      expect(pending?.done).toContain('StartEtcd')
      await run(member).carryOut(pending ?? begun, signal)
      await Promise.all(rest)
    }),
  )

  it('leaves nothing behind when it is undone where nothing was', { timeout: 240_000 }, () =>
    lost(1, async ({ cluster, plan, run }) => {
      const [member] = cluster.members
      if (!member) throw new Error('no member')
      const record = await plan(member)
      renameSync(join(member.manifests, 'etcd.yaml'), join(member.folder, 'etcd.yaml'))
      await untilTrue('etcd ends', () => Promise.resolve(!cluster.isRunning(member.name)))
      rmSync(member.dataDir, { recursive: true, force: true })
      const cut = new AbortController()
      const tell = (line: string) => line === 'StartEtcd…' && cut.abort(new Error('cut off'))
      const host = new LinuxHost({ disk: new FileDisk(), log: silentLog })
      const tools = { host, requests: nodeRequests, clock: new SystemClock(), tell }
      const cutOff = new RestoreRun(tools, join(member.folder, 'restore'))
      await expect(cutOff.carryOut(record, cut.signal)).rejects.toThrow('cut off')
      expect(readdirSync(member.dataDir)).toContain('member')
      await run(member).undo((await cutOff.pending()) ?? record, signal)
      expect(readdirSync(member.dataDir)).toEqual([])
    }),
  )

  it('by the command line, which says what it does and asks', { timeout: 240_000 }, () =>
    lost(1, async (restoring) => {
      const { cluster, snapshot } = restoring
      const [member] = cluster.members
      if (!member) throw new Error('no member')
      const { etcdutl } = await etcdPrograms()
      const places = [
        '--manifests',
        member.manifests,
        '--state-dir',
        join(member.folder, 'state'),
        '--etcdutl',
        etcdutl,
      ]
      const argv = ['backup', 'restore', '--file', snapshot, ...places]
      const refusing = cliFixture(new FakeKubeApi())
      expect(await refusing.run(...argv)).toBe(3)
      expect(refusing.out.text).toContain(`mv ${member.dataDir}/member`)
      expect(refusing.out.text).toContain('Nothing was changed.')
      expect(cluster.isRunning(member.name)).toBe(true)
      rmSync(member.dataDir, { recursive: true, force: true })
      const willing = cliFixture(new FakeKubeApi(), { clock: new SystemClock() })
      expect(await willing.run(...argv, '--yes', '--members', cluster.initialCluster)).toBe(0)
      expect(willing.err.text).toBe('')
      await isWhole(restoring)
    }),
  )
})
