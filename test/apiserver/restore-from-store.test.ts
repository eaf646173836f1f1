// A backup as agents make it, encrypted, in a folder of the host that was asked: proven by the command, and put back on three hosts by
// following the words that the command prints.

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupCodec } from '../../src/adapters/backup/backup-codec.ts'
import { backupStores } from '../../src/adapters/backup/open-stores.ts'
import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { FileDisk } from '../../src/adapters/disk/file-disk.ts'
import { LinuxHost } from '../../src/adapters/host/linux-host.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { nodeRequests, nodeStreams } from '../../src/adapters/secure-requests/node-requests.ts'
import { keepStore } from '../../src/agent/backup/backup-record.ts'
import { makeBackup } from '../../src/agent/backup/make-backup.ts'
import type { BackupRequest } from '../../src/api/backup.ts'
import { policyKey } from '../../src/core/restore/restored-mark.ts'
import { silentLog } from '../../src/sim/silent-log.ts'
import { makePair } from '../bed/certificates.ts'
import { countKeys, etcdPrograms, putKey, putKeys, readKey } from '../bed/etcd-snapshot.ts'
import { StaticEtcd, type StaticMember } from '../bed/static-etcd.ts'
import { untilTrue } from '../bed/until-true.ts'
import { cliFixture } from '../cli/cli-fixture.ts'
import { FakeKubeApi } from '../fakes/fake-kube-api.ts'

const keys = 150
const name = '20260105-080000-cp1'
const clock = new SystemClock()

describe('a backup of three members', () => {
  let etcd: StaticEtcd
  let places: (member: StaticMember) => readonly string[]

  beforeAll(async () => {
    etcd = await StaticEtcd.start(3)
    const programs = await etcdPrograms()
    places = ({ folder, manifests }) => [
      ...['--manifests', manifests, '--state-dir', join(folder, 'state')],
      ...['--etcdutl', programs.etcdutl, '--etcd', programs.etcd],
    ]
    await untilTrue('etcd takes keys', async () => {
      await putKeys(etcd, keys)
      return true
    })
    const policy = { apiVersion: 'slipway.dev/v1alpha1', kind: 'MaintenancePolicy', metadata: { name: 'default' } }
    await putKey(etcd, policyKey('/registry'), JSON.stringify(policy))
    await backUp(etcd)
    await putKey(etcd, '/registry/key-late', 'written after the backup')
  }, 240_000)
  afterAll(() => etcd?.stop())

  test('is proven by a restore, by the command alone', { timeout: 120_000 }, async () => {
    const [member] = etcd.members
    const { run, out, err } = cliFixture(new FakeKubeApi(), { clock })
    expect(await run('backup', 'verify', '--restore', ...places(member as StaticMember)), err.text).toBe(0)
    expect(out.text).toMatch(new RegExp(`${name} restores: .* has ${keys + 1} keys`))
  })

  test('comes back on each host as the first one prints it', { timeout: 240_000 }, async () => {
    const [first, ...others] = etcd.members
    if (!first) throw new Error('no member')
    const looking = cliFixture(new FakeKubeApi(), { clock })
    expect(await looking.run('backup', 'restore', ...places(first)), looking.err.text).toBe(3)
    const { copies, argv } = wordsOf(looking.out.text)
    for (const { dataDir } of etcd.members) rmSync(dataDir, { recursive: true, force: true })

    const [stranger] = others
    const lost = cliFixture(new FakeKubeApi(), { clock })
    expect(await lost.run('backup', 'restore', name, ...places(stranger as StaticMember))).toBe(2)
    expect(lost.err.text).toContain('copy it from the control-plane host that made the last backup')

    expect(copies.map(([from]) => from)).toEqual([
      join(first.folder, 'state/backup-store.json'),
      join(first.folder, 'backups', name),
      join(first.folder, 'backups', `${name}.json`),
    ])
    // All hosts are one machine here: only what gets another name has to be copied.
    for (const [from, to] of copies) if (from !== to) await copyFile(from, to)
    const [, restoreId = ''] = /--restore-id (\S+)/.exec(looking.out.text) ?? []
    const own = ['backup', 'restore', '--members', etcd.initialCluster, '--restore-id', restoreId]
    const runs = [own, ...others.map(() => argv)]
    const ended = await Promise.all(
      etcd.members.map(async (member, at) => {
        const { run, err } = cliFixture(new FakeKubeApi(), { clock })
        return { code: await run(...(runs[at] ?? []), ...places(member), '--yes'), err: err.text }
      }),
    )
    expect(ended).toEqual(etcd.members.map(() => ({ code: 0, err: '' })))
    expect(await countKeys(etcd)).toBe(keys)
    expect(await readKey(etcd, '/registry/key-late')).toBeUndefined()
    // Once more under the same id: a member that forgot what it agreed to must not be taken for the one that did.
    const again = cliFixture(new FakeKubeApi(), { clock })
    expect(await again.run(...own, ...places(first), '--yes')).toBe(3)
    expect(again.err.text).toContain('was carried out on this host already')
  })
})

/** As the desk of the agent does. */
async function backUp(etcd: StaticEtcd): Promise<void> {
  const [member] = etcd.members
  if (!member) throw new Error('no member')
  const disk = new FileDisk()
  const host = new LinuxHost({ disk, log: silentLog })
  const stateDir = join(member.folder, 'state')
  const random = new SystemRandom()
  const stores = backupStores({ clock, random, host, root: '', folder: join(stateDir, 'mounts') })
  const request: BackupRequest = {
    ...{ request: 'r1', name, verify: 'Hash', timeout: '10m', etcd: { endpoints: [member.url] } },
    store: {
      ...{ name: 'here', path: join(member.folder, 'backups') },
      encryption: { method: 'Aes256Gcm', secret: 'backup-key' },
    },
  }
  const { certificate, key } = makePair(etcd.authority, { name: 'backup' })
  const secrets = {
    encryption: { key: randomBytes(32).toString('base64') },
    etcd: { 'ca.crt': etcd.authority.certificate, 'tls.crt': certificate, 'tls.key': key },
  }
  const parts = { codec: backupCodec, requests: nodeRequests, streams: nodeStreams, clock, nodeName: member.name }
  const { manifest } = await makeBackup(
    { ...parts, log: silentLog, host, stores },
    request,
    secrets,
    new AbortController().signal,
  )
  await keepStore(disk, stateDir, { at: clock.now().toISOString(), store: request.store, secrets, manifest })
}

function wordsOf(text: string): { readonly copies: readonly (readonly [string, string])[]; readonly argv: string[] } {
  const copies = [...text.matchAll(/^ {2}(\S+) -> (\S+)$/gm)].map(([, from = '', to = '']) => [from, to] as const)
  const [, words = ''] = /^ {2}slipway (backup restore .*)$/m.exec(text) ?? []
  return { copies, argv: words.split(' ') }
}
