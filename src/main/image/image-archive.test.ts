// That containerd imports and runs it is tested in test/e2e/image.test.ts.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { imageArchive, indexedImage } from './image-archive.ts'
import { parseLibraries } from './image-files.ts'
import { type TarEntry, tar } from './tar.ts'

const file = (path: string, text: string, mode = 0o644): TarEntry => ({
  path,
  kind: 'file',
  mode,
  content: Buffer.from(text),
})
const listed = (archive: Buffer, ...flags: readonly string[]) =>
  execFileSync('tar', [...flags, '-f', '-'], { input: archive, env: { PATH: process.env.PATH, TZ: 'UTC' } }).toString()

describe('a tar archive', () => {
  const entries = [
    file('usr/bin/b', 'x'.repeat(513), 0o755),
    file('usr/bin/a', ''),
    { path: 'tmp', kind: 'folder', mode: 0o1777 } as const,
  ]

  it('is read by tar: folders first, sorted, of nobody and no time', () => {
    expect(listed(tar(entries), '--numeric-owner', '-tv').replaceAll(/ +/g, ' ')).toBe(
      [
        'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
        'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/',
        'drwxr-xr-x 0/0 0 1970-01-01 00:00 usr/bin/',
        '-rw-r--r-- 0/0 0 1970-01-01 00:00 usr/bin/a',
        '-rwxr-xr-x 0/0 513 1970-01-01 00:00 usr/bin/b',
        '',
      ].join('\n'),
    )
    expect(listed(tar(entries), '-xO', 'usr/bin/b')).toBe('x'.repeat(513))
  })

  it('follows from its entries alone', () => {
    expect(tar(entries.toReversed())).toEqual(tar(entries))
  })

  it('refuses names it cannot hold', () => {
    expect(() => tar([file('n'.repeat(101), '')])).toThrow(RangeError)
  })
})

describe('an image', () => {
  const image = {
    name: 'slipway',
    tag: '1.0.0',
    architecture: 'amd64',
    entrypoint: ['node'],
    user: '65532:65532',
    env: [],
    layers: [[file('a', 'base')], [file('b', 'program')]],
  }
  const archive = imageArchive(image)
  const json = (path: string) => JSON.parse(listed(archive, '-xO', path))
  const blob = (digest: string) =>
    execFileSync('tar', ['-xO', '-f', '-', `blobs/sha256/${digest.replace('sha256:', '')}`], { input: archive })
  const sha256 = (content: Buffer) => `sha256:${createHash('sha256').update(content).digest('hex')}`

  it('names each part by its content, from the index down to the layers', () => {
    const [{ digest, size }] = json('index.json').manifests
    const manifest = blob(digest)
    expect({ digest, size }).toEqual({ digest: sha256(manifest), size: manifest.length })
    const { config, layers } = JSON.parse(manifest.toString())
    const { rootfs } = JSON.parse(blob(config.digest).toString())
    const plain = layers.map((layer: { digest: string }) => gunzipSync(blob(layer.digest)))
    expect(rootfs.diff_ids).toEqual(plain.map(sha256))
    expect(json('manifest.json')).toMatchObject([{ RepoTags: ['slipway:1.0.0'] }])
  })

  it('is the same every time', () => {
    expect(imageArchive(image)).toEqual(archive)
  })
})

describe('an image for several architectures', () => {
  const one = (architecture: string) => ({
    ...{ name: 'slipway', tag: '1.0.0', architecture, entrypoint: ['node'], env: [], user: '65532:65532' },
    labels: { 'org.opencontainers.image.version': '1.0.0' },
    layers: [[file('base', architecture)], [file('program', 'the same')]],
  })
  const { archive, digest } = indexedImage([one('amd64'), one('arm64')])
  const read = (path: string) => JSON.parse(listed(archive, '-xO', path))
  const blob = (name: string) => read(`blobs/sha256/${name.replace('sha256:', '')}`)

  it('has one index, which names each by its platform; what they share is there once', () => {
    expect(read('index.json').manifests).toMatchObject([
      { digest, annotations: { 'io.containerd.image.name': 'docker.io/library/slipway:1.0.0' } },
    ])
    const { manifests, annotations } = blob(digest)
    expect(annotations).toEqual({ 'org.opencontainers.image.version': '1.0.0' })
    const platforms = manifests.map(({ platform }: { platform: object }) => platform)
    expect(platforms).toEqual(['amd64', 'arm64'].map((architecture) => ({ architecture, os: 'linux' })))
    const configs = manifests.map((each: { digest: string }) => blob(blob(each.digest).config.digest))
    expect(configs).toMatchObject(
      ['amd64', 'arm64'].map((architecture) => ({ architecture, config: { User: '65532:65532' } })),
    )
    // An index, two manifests, two configurations, two lower layers and the one they share.
    expect(listed(archive, '-t').match(/blobs\/sha256\/.+/g)).toHaveLength(8)
  })
})

describe('libraries of a program', () => {
  it('are those ldd finds, the loader included', () => {
    const ldd = [
      '\tlinux-vdso.so.1 (0x00007f9216766000)',
      '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f921621e000)',
      '\t/lib64/ld-linux-x86-64.so.2 (0x00007f9216768000)',
    ].join('\n')
    expect(parseLibraries(ldd)).toEqual(['/lib/x86_64-linux-gnu/libc.so.6', '/lib64/ld-linux-x86-64.so.2'])
    expect(() => parseLibraries('\tlibz.so.1 => not found\n')).toThrow('libz.so.1')
  })
})
