import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { backupCodec } from '../../adapters/backup/backup-codec.ts'
import type { BackupManifest } from '../../api/backup.ts'

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
async function stored(name: string): Promise<void> {
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
  }
  await writeFile(join(folder, name), object)
  await writeFile(join(folder, `${name}.json`), JSON.stringify(manifest))
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
