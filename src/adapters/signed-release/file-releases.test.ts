// A small release, signed with a key of its own; every byte of it that changes is found. A real one: make-release.test.ts.

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cliFixture } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { sumsText } from '../../core/signed-release/sums.ts'
import { provenanceText, sbomText } from '../../main/release/release-papers.ts'
import { FileReleases } from './file-releases.ts'

const { signal } = new AbortController()
const pair = () => generateKeyPairSync('ed25519')
const pemOf = (keys: ReturnType<typeof pair>) => keys.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const sha256 = (content: string) => createHash('sha256').update(content).digest('hex')
const maker = pair()
const source = { version: '1.0.0', revision: 'c0ffee', committedAt: '2026-11-15T12:00:00Z', repository: undefined }
const components = [
  {
    name: 'x',
    version: '1',
    purl: 'pkg:npm/x@1',
    licence: 'MIT',
    digest: { algorithm: 'sha512', hex: 'f'.repeat(128) },
  },
] as const
const image = { reference: 'slipway:1.0.0', digest: 'sha256:1234' }

let root: string
let folder: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'slipway-release-'))
  folder = join(root, '1.0.0')
  await writeRelease(folder)
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function writeRelease(to: string, changed: Readonly<Record<string, string>> = {}): Promise<void> {
  const files: Record<string, string> = {
    'slipway-1.0.0-image.tar': 'image',
    'slipway-1.0.0-linux-amd64.tar.gz': 'bundle',
    'slipway-1.0.0-sbom.cdx.json': sbomText(source, components),
  }
  const sums = () => Object.entries(files).map(([name, content]) => ({ name, sha256: sha256(content) }))
  files['slipway-1.0.0-provenance.json'] = provenanceText({ source, components, files: sums(), image })
  Object.assign(files, changed)
  const text = sumsText(sums())
  await mkdir(to, { recursive: true })
  for (const [name, content] of Object.entries(files)) await writeFile(join(to, name), content)
  await writeFile(join(to, 'SHA256SUMS'), text)
  await writeFile(join(to, 'SHA256SUMS.sig'), sign(null, Buffer.from(text), maker.privateKey))
}

const verify = (path: string, ...keys: readonly string[]) => new FileReleases([pemOf(maker)]).verify(path, keys, signal)

describe('a release', () => {
  it('is whole where it is what was signed', async () => {
    expect(await verify(folder)).toMatchObject({
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
      whole: { version: '1.0.0', revision: 'c0ffee', image, components: 1 },
    })
  })

  it('is found out wherever a byte of any file is changed', async () => {
    for (const name of await readdir(folder)) {
      const content = await readFile(join(folder, name))
      for (let at = 0; at < content.length; at += name.startsWith('SHA256SUMS') ? 1 : 97) {
        const altered = Buffer.from(content)
        altered[at] = (altered[at] ?? 0) ^ 0x01
        await writeFile(join(folder, name), altered)
        const code = name.startsWith('SHA256SUMS') ? 'ReleaseUntrusted' : 'ReleaseBroken'
        await expect(verify(folder), `${name}, byte ${at}`).rejects.toMatchObject({ code })
      }
      await writeFile(join(folder, name), content)
    }
    await verify(folder)
  })

  it.each([
    ['a file is gone', 'slipway-1.0.0-image.tar is missing', () => rm(join(folder, 'slipway-1.0.0-image.tar'))],
    ['the sums are gone', 'SHA256SUMS is missing', () => rm(join(folder, 'SHA256SUMS'))],
    ['the signature is gone', 'SHA256SUMS.sig is missing', () => rm(join(folder, 'SHA256SUMS.sig'))],
    ['a file was put in', 'more.sh is no part of the release', () => writeFile(join(folder, 'more.sh'), '')],
    [
      'a file is a link to one like it',
      'slipway-1.0.0-image.tar is missing',
      async () => {
        await rename(join(folder, 'slipway-1.0.0-image.tar'), join(root, 'image'))
        await symlink(join(root, 'image'), join(folder, 'slipway-1.0.0-image.tar'))
      },
    ],
    [
      'it tells of another build',
      'the provenance does not say that the build made slipway-1.0.0-image.tar',
      () => writeRelease(folder, { 'slipway-1.0.0-image.tar': 'another' }),
    ],
    [
      'its SBOM is none',
      'slipway-1.0.0-sbom.cdx.json cannot be read',
      () => writeRelease(folder, { 'slipway-1.0.0-sbom.cdx.json': '{}' }),
    ],
  ])('is refused where %s', async (_what, words, spoil: () => Promise<unknown>) => {
    await spoil()
    await expect(verify(folder)).rejects.toMatchObject({
      code: 'ReleaseBroken',
      message: expect.stringContaining(words),
    })
  })

  it('is trusted by the key that signed it alone', async () => {
    await verify(folder, pemOf(pair()), pemOf(maker))
    await expect(verify(folder, pemOf(pair()))).rejects.toMatchObject({ code: 'ReleaseUntrusted' })
    await expect(new FileReleases([]).verify(folder, [], signal)).rejects.toMatchObject({ code: 'ReleaseUntrusted' })
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' })
    await expect(verify(folder, rsa.toString())).rejects.toMatchObject({ code: 'Usage' })
  })
})

describe('slipway verify', () => {
  const cli = () =>
    cliFixture(new FakeKubeApi(), {
      readFile: (path) => readFile(path, 'utf8'),
      signedReleases: async () => new FileReleases([]),
    })

  it('says what a release is, and of a file that it is part of one', async () => {
    const key = join(root, 'key.pem')
    await writeFile(key, pemOf(maker))
    const { run, out, err } = cli()
    expect(await run('verify', folder, '--key', key), err.text).toBe(0)
    expect(out.text).toContain(`${folder} is whole, and signed with key `)
    expect(out.text).toContain('image    slipway:1.0.0@sha256:1234\n')
    out.text = ''
    expect(await run('verify', join(folder, 'slipway-1.0.0-image.tar'), '--key', key, '-o', 'json')).toBe(0)
    expect(JSON.parse(out.text)).toMatchObject({ files: [{ name: 'slipway-1.0.0-image.tar', bytes: 5 }] })
  })

  it('says what to do where it is not', async () => {
    const { run, err } = cli()
    expect(await run('verify', folder)).toBe(1)
    expect(err.text).toContain('next: name the public key of whoever made the release: --key FILE\n')
    expect(await run('verify', join(root, 'none'))).toBe(2)
    expect(await run('verify', folder, '--key', join(root, 'none.pem'))).toBe(2)
    await writeFile(join(root, 'key.pem'), pemOf(maker))
    await writeFile(join(folder, 'stranger'), '')
    expect(await run('verify', join(folder, 'stranger'), '--key', join(root, 'key.pem'))).toBe(1)
    expect(err.text).toContain('SHA256SUMS beside it does not name it')
  })
})
