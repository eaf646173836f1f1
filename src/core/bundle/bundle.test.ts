import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partOf, pathFault } from './bundle-path.ts'
import { manifestText, readManifest } from './manifest.ts'
import { planBundle } from './plan-bundle.ts'
import { blockBytes, readTarHeader, tarHeader } from './tar-header.ts'

const sha256 = 'a'.repeat(64)
const file = (path: string) => ({ path, kind: 'file' }) as const

describe('a path in a bundle', () => {
  it.each([
    ['packages/deb/kubelet_1.36.3-1.1_amd64.deb', 'deb'],
    ['packages/deb/tzdata_2%3a2026a~rc1+deb13u1_all.deb', 'deb'],
    ['packages/rpm/kubelet-1.36.3^git1-150500.1.1.x86_64.rpm', 'rpm'],
    ['images/pause.tar', 'image'],
    ['binaries/k3s', 'binary'],
  ])('%s is a %s', (path, part) => {
    expect(pathFault(path)).toBeUndefined()
    expect(partOf(path)).toBe(part)
  })

  it.each([
    ['../images/a.tar', 'none of the folders'],
    ['/etc/passwd', 'none of the folders'],
    ['images/../../etc/cron.d/a.tar', 'too deep'],
    ['images/..', 'a name that'],
    ['binaries/.hidden', 'a name that'],
    ['binaries/-rf', 'a name that'],
    ['binaries/a b', 'a name that'],
    ['binaries/a\nb', 'a name that'],
    ['binaries/', 'a name that'],
    [`binaries/${'a'.repeat(101)}`, 'a name that'],
    ['packages/deb/Packages', 'does not end in .deb'],
    ['packages/x.deb', 'none of the folders'],
    ['manifest.json', 'none of the folders'],
  ])('%j cannot be: %s', (path, why) => {
    expect(pathFault(path)).toContain(why)
  })
})

describe('a folder', () => {
  it('becomes a bundle of its files in one order, for the architecture of its packages', () => {
    const found = [
      { path: 'packages', kind: 'folder' },
      { path: 'packages/deb', kind: 'folder' },
      file('packages/deb/b_1_amd64.deb'),
      file('packages/deb/B_1_all.deb'),
      file('images/z.tar'),
    ] as const
    const plan = { ok: true, architecture: 'amd64' }
    const paths = ['images/z.tar', 'packages/deb/B_1_all.deb', 'packages/deb/b_1_amd64.deb']
    expect(planBundle(found, undefined)).toEqual({ ...plan, paths })
    expect(planBundle(found.toReversed(), 'amd64')).toEqual({ ...plan, paths })
  })

  it.each([
    ['nothing', [], undefined, /nothing in it/],
    ['an unknown folder', [{ path: 'charts', kind: 'folder' }], undefined, /no folder charts/],
    ['a file at its top', [file('README.md')], undefined, /README.md lies in none/],
    ['a link', [{ path: 'images/a.tar', kind: 'link' }], undefined, /images\/a.tar is a link/],
    ['a pipe', [{ path: 'images/a.tar', kind: 'other' }], undefined, /is not a file/],
    [
      'two architectures',
      ['a_1_amd64', 'a_1_arm64'].map((a) => file(`packages/deb/${a}.deb`)),
      undefined,
      /one bundle/,
    ],
    ['another than it was told', [file('packages/rpm/a-1-1.x86_64.rpm')], 'arm64', /amd64 and arm64/],
    ['no word on its architecture', [file('images/a.tar')], undefined, /--architecture/],
  ] as const)('with %s is refused', (_what, found, architecture, why) => {
    expect(JSON.stringify(planBundle(found, architecture))).toMatch(why)
    expect(planBundle(found, architecture).ok).toBe(false)
  })
})

describe('a manifest', () => {
  const files = ['binaries/a', 'binaries/b'].map((path) => ({ path, bytes: 1, sha256 }))
  const whole = { format: 1, architecture: 'amd64', files } as const

  it('is read as it was written', () => {
    expect(readManifest(manifestText({ ...whole, files }))).toEqual({ ok: true, value: whole })
  })

  it.each([
    ['half of one', '{"format":1', /not one/],
    ['a later format', JSON.stringify({ ...whole, format: 2 }), /format is 2/],
    ['a file twice', JSON.stringify({ ...whole, files: [files[0], files[0]] }), /twice or out of order/],
    ['no order', JSON.stringify({ ...whole, files: files.toReversed() }), /twice or out of order/],
    ['a way out', JSON.stringify({ ...whole, files: [{ ...files[0], path: '../a' }] }), /none of the folders/],
  ])('with %s is refused', (_what, text, why) => {
    expect(JSON.stringify(readManifest(text))).toMatch(why)
  })
})

describe('a tar header', () => {
  const names = fc.stringMatching(/^[a-z0-9._~+-]{1,100}$/)

  it('says what was put into it', () => {
    fc.assert(
      fc.property(names, fc.nat({ max: 2 ** 45 }), fc.boolean(), (name, bytes, deep) => {
        const path = deep ? `packages/deb/${name}` : name
        expect(readTarHeader(tarHeader({ path, bytes }))).toEqual({ kind: 'file', path, bytes })
      }),
    )
  })

  it('with one wrong bit is refused', () => {
    fc.assert(
      fc.property(names, fc.nat({ max: blockBytes * 8 - 1 }), (path, bit) => {
        const block = tarHeader({ path, bytes: 7 })
        const at = Math.floor(bit / 8)
        block[at] = (block[at] ?? 0) ^ (1 << (bit % 8))
        // How the sum itself is written has some freedom.
        if (at < 148 || at > 155) expect(readTarHeader(block).kind).toBe('refused')
      }),
    )
  })

  it.each([
    ['2', 'a link'],
    ['1', 'a hard link'],
    ['5', 'a folder'],
    ['L', 'an extension'],
  ])('of type %s is refused', (type, what) => {
    const block = tarHeader({ path: 'images/a.tar', bytes: 0 })
    const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0) + type.charCodeAt(0) - 48
    block[156] = type.charCodeAt(0)
    block.set(new TextEncoder().encode(sum.toString(8).padStart(6, '0')), 148)
    expect(readTarHeader(block)).toMatchObject({ kind: 'refused', fault: expect.stringContaining(what) })
  })
})
