import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeAuthority } from '../../../test/bed/certificates.ts'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { backupCodec } from '../../adapters/backup/backup-codec.ts'
import { clusterIdentity } from '../../agent/backup/cluster-identity.ts'
import { seal } from '../../agent/journal/sealed-file.ts'
import type { BackupManifest } from '../../api/backup.ts'
import type { MemberSite } from '../../api/restore-record.ts'
import { planRestore } from '../../core/restore/restore-plan.ts'

async function cli(argv: readonly string[]) {
  const { run, out, err } = cliFixture(new FakeKubeApi())
  const code = await run(...argv)
  return { code, out: out.text, err: err.text }
}

let folder: string
const key = randomBytes(32).toString('base64')
const snapshot = randomBytes(300_000)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-backup-cli-'))
  await writeFile(join(folder, 'key'), key)
  await writeFile(join(folder, 'other-key'), randomBytes(32).toString('base64'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A backup as an agent leaves it in a folder. */
async function stored(name: string, part: Partial<BackupManifest> = {}, place = folder): Promise<void> {
  const pieces: Uint8Array[] = []
  const content = (async function* () {
    yield await Promise.resolve(snapshot)
  })()
  for await (const piece of backupCodec.encode(content, { method: 'Aes256Gcm', key })) pieces.push(Buffer.from(piece))
  const object = Buffer.concat(pieces)
  const manifest: BackupManifest = {
    name,
    at: '2026-01-05T08:00:00Z',
    node: 'cp1',
    etcd: '3.6.8',
    revision: '41',
    sha256: sha256(object),
    bytes: object.length,
    snapshotSha256: sha256(snapshot),
    snapshotBytes: snapshot.length,
    compression: 'zstd',
    encryption: 'Aes256Gcm',
    verified: 'Hash',
    ...part,
  }
  await mkdir(place, { recursive: true })
  await writeFile(join(place, name), object)
  await writeFile(join(place, `${name}.json`), JSON.stringify(manifest))
}

const verify = (name: string, keyFile = 'key') =>
  cli(['backup', 'verify', name, '--folder', folder, '--key-file', join(folder, keyFile)])

describe('slipway backup verify', () => {
  it('reads a whole one back', async () => {
    await stored('whole')
    const { code, out } = await verify('whole')
    expect(code).toBe(0)
    expect(out).toContain('is whole: etcd 3.6.8 at revision 41 or later')
  })

  it('sees an altered object, a cut one, a wrong key and one that is not there, each by its own reason', async () => {
    await stored('altered')
    const bytes = await readFile(join(folder, 'altered'))
    bytes[1000] = (bytes[1000] ?? 0) ^ 1
    await writeFile(join(folder, 'altered'), bytes)
    expect(await verify('altered')).toMatchObject({ code: 1, err: expect.stringMatching(/altered/) })
    await stored('cut')
    await truncate(join(folder, 'cut'), 5000)
    expect(await verify('cut')).toMatchObject({ code: 1, err: expect.stringMatching(/cut/) })
    await stored('locked')
    expect(await verify('locked', 'other-key')).toMatchObject({ code: 1, err: expect.stringMatching(/key/) })
    expect(await verify('missing')).toMatchObject({ code: 2, err: expect.stringMatching(/no such backup/) })
  })
})

describe('a place where nothing is', () => {
  it.each([
    ['a folder that is not there', () => ['--folder', join(folder, 'nope')], /there is no folder \S+\/nope/],
    ['a folder without its beginning', () => ['--folder', 'nope'], /the folder nope is not named from \/ on/],
    ['a file for a folder', () => ['--folder', join(folder, 'key')], /key is a file, no folder/],
    ['a folder without a backup', () => ['--folder', join(folder, 'empty')], /\/empty holds no backup/],
    ['a snapshot that is not there', () => ['--file', join(folder, 'nope.db')], /there is no file \S+\/nope\.db/],
  ])('is told: %s', async (_, place, said) => {
    await mkdir(join(folder, 'empty'), { recursive: true })
    const { code, err } = await cli(['backup', 'verify', ...place()])
    expect(code).toBe(2)
    expect(err).toMatch(said)
    expect(err).not.toMatch(/etcdutl|credentials/)
  })
})

describe('slipway backup restore', () => {
  const there = () => ['--folder', folder, '--state-dir', join(folder, 'state'), '--manifests', join(folder, 'none')]

  it('lists what the store holds', async () => {
    await stored('listed')
    const { code, out } = await cli(['backup', 'restore', '--list', ...there()])
    expect(code).toBe(0)
    expect(out).toMatch(/NAME +AT +ETCD/)
    expect(out).toContain('listed')
  })

  it('is refused where no etcd runs, and there is nothing to undo', async () => {
    expect(await cli(['backup', 'restore', ...there()])).toMatchObject({
      code: 3,
      err: expect.stringContaining('no etcd runs here'),
    })
    expect(await cli(['backup', 'restore', '--undo', ...there()])).toMatchObject({ code: 2 })
  })
})

describe('a place that two clusters share', () => {
  const authority = makeAuthority('etcd-ca').certificate
  const ours = clusterIdentity(authority) ?? ''
  const peer = 'https://10.0.0.1:2380'
  const at = (hour: number) => ({ at: `2026-01-05T0${hour}:00:00Z` })
  const place = () => join(folder, 'shared')
  const arguments_ = () => [
    ...['--folder', place(), '--key-file', join(folder, 'key'), '--state-dir', join(folder, 'state')],
    ...['--manifests', join(folder, 'manifests')],
  ]
  const etcdutl = () => ['--etcdutl', join(folder, 'etcdutl')]
  const members = ['--members', `cp1=${peer}`]
  const restore = (...more: readonly string[]) =>
    cli(['backup', 'restore', ...more, ...arguments_(), ...etcdutl(), ...members])

  beforeAll(async () => {
    await stored('old-ours', { ...at(1), cluster: ours }, place())
    await stored('ours', { ...at(2), cluster: ours }, place())
    await stored('theirs', { ...at(3), cluster: 'ca-theirs', node: 'cp7' }, place())
    await mkdir(join(folder, 'manifests'))
    await writeFile(join(folder, 'ca.crt'), authority)
    await writeFile(join(folder, 'etcdutl'), '#!/bin/sh\necho etcdutl version: 3.6.8\n', { mode: 0o755 })
    const urls = ['--advertise-client-urls=https://10.0.0.1:2379', `--initial-advertise-peer-urls=${peer}`]
    const files = [`--data-dir=${folder}/etcd`, `--trusted-ca-file=${folder}/ca.crt`]
    const command = ['etcd', '--name=cp1', ...urls, ...files]
    const pod = JSON.stringify({ spec: { containers: [{ image: 'i', command }] } })
    await writeFile(join(folder, 'manifests/etcd.yaml'), pod)
  })

  it('gives back the newest of this cluster, not the newest of all', async () => {
    const { out, err } = await restore()
    expect(err).toBe('')
    expect(out).toContain('goes back to ours, revision 41')
    expect(out).not.toContain('ANOTHER CLUSTER')
    expect((await cli(['backup', 'verify', ...arguments_()])).out).toContain(`${place()}/ours is whole`)
  })

  it('gives the one of another cluster only by its name, and says so', async () => {
    const { out } = await restore('theirs')
    expect(out).toContain('theirs is a backup of ANOTHER CLUSTER (ca-theirs)')
  })

  describe('leaves nothing of etcd in clear on the host', () => {
    const kept = () => join(folder, 'state/restore/snapshot.db')
    const asked = (confirm: () => Promise<boolean>, ...more: readonly string[]) => {
      const { run, out, err } = cliFixture(new FakeKubeApi(), { confirm })
      const argv = ['backup', 'restore', ...more, ...arguments_(), ...etcdutl(), ...members]
      return run(...argv).then((code) => ({ code, out: out.text, err: err.text }))
    }

    it('when the answer is no, or none', async () => {
      let seen = ''
      const said = await asked(async () => {
        seen = sha256(await readFile(kept()))
        return false
      })
      expect(said).toMatchObject({ code: 3, out: expect.stringContaining('Nothing was changed.') })
      expect(seen).toBe(sha256(snapshot))
      expect(existsSync(kept())).toBe(false)
      expect((await asked(() => Promise.reject(new Error('Aborted with Ctrl+C')))).code).not.toBe(0)
      expect(existsSync(kept())).toBe(false)
    })

    it('when --yes is refused, because the members are a guess', async () => {
      const refused = await cli(['backup', 'restore', '--yes', ...arguments_(), ...etcdutl()])
      expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('from the manifest alone') })
      expect(existsSync(kept())).toBe(false)
    })

    it('when there is no plan: no program of etcd fits, or the backup is damaged', async () => {
      const none = ['--etcdutl', join(folder, 'no-etcdutl')]
      expect((await cli(['backup', 'restore', ...arguments_(), ...none, ...members])).code).not.toBe(0)
      expect(existsSync(kept())).toBe(false)
      await stored('damaged', { ...at(1), cluster: ours, snapshotSha256: '0'.repeat(64) }, place())
      expect((await restore('damaged')).err).toMatch(/damaged/)
      expect(existsSync(kept())).toBe(false)
      for (const name of ['damaged', 'damaged.json']) await rm(join(place(), name))
    })

    it('but what a restore needs that was begun', async () => {
      const site: MemberSite = {
        kind: 'StaticPod',
        ...{ name: 'cp1', dataDir: join(folder, 'etcd'), peerURLs: peer, prefix: '/registry' },
        initialCluster: `cp1=${peer}`,
        ...{ manifests: join(folder, 'manifests'), etcd: { url: 'https://10.0.0.1:2379' }, components: [] },
      }
      const backup = { name: 'ours', revision: '41', etcd: '3.6.8', snapshotSha256: sha256(snapshot) }
      const ids = { restoreId: '00112233445566ff', isFirst: true, startedAt: new Date('2026-01-05T09:00:00Z') }
      const rest = { site, members: `cp1=${peer}`, backup, etcdutl: '/etcdutl', snapshot: kept() }
      const begun = { ...planRestore({ ...ids, ...rest }), begun: ['Stop' as const] }
      await writeFile(join(folder, 'state/restore/record.json'), seal(begun))
      await writeFile(kept(), snapshot)
      const { run, out, err } = cliFixture(new FakeKubeApi())
      expect(await run('backup', 'restore', '--state-dir', join(folder, 'state')), err.text).toBe(3)
      expect(out.text).toContain('was begun here')
      expect(existsSync(kept())).toBe(true)
      for (const name of ['record.json', 'snapshot.db']) await rm(join(folder, 'state/restore', name))
    })

    it('and does not begin with another one than it was asked about', async () => {
      const exchanged = await asked(async () => {
        await writeFile(kept(), 'of another run of the command')
        return true
      })
      expect(exchanged).toMatchObject({ code: 3, err: expect.stringContaining('is not what was fetched') })
      expect(existsSync(join(folder, 'manifests/etcd.yaml'))).toBe(true)
      expect(existsSync(kept())).toBe(false)
    })
  })

  it('is asked for a name where nothing tells which cluster this is, or it has none of this cluster', async () => {
    await rename(join(folder, 'ca.crt'), join(folder, 'ca.gone'))
    const unknown = await restore()
    await writeFile(join(folder, 'ca.crt'), makeAuthority('etcd-ca').certificate)
    const another = await restore()
    await rename(join(folder, 'ca.gone'), join(folder, 'ca.crt'))
    for (const refused of [unknown, another]) expect(refused).toMatchObject({ code: 3, out: '' })
    expect(unknown.err).toContain('cannot be told')
    expect(another.err).toContain('no backup of the cluster of this host')
    expect(another.err).toContain('name the backup')
  })

  it('is listed with who made what', async () => {
    const { out } = await cli(['backup', 'restore', '--list', ...arguments_()])
    expect(out).toMatch(/NAME +NODE +CLUSTER +AT/)
    expect(out).toMatch(/theirs +cp7 +ca-theirs/)
  })
})
