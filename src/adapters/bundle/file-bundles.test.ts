import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  access,
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bundleFormat } from '../../api/bundle.ts'
import { manifestText } from '../../core/bundle/manifest.ts'
import { paddingAfter, tarHeader } from '../../core/bundle/tar-header.ts'
import { FileBundles } from './file-bundles.ts'

const run = promisify(execFile)
const never = new AbortController().signal
const bundles = new FileBundles()
const hash = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const contents = {
  'packages/deb/a_1.0_amd64.deb': 'deb',
  'packages/rpm/a-1.0-1.x86_64.rpm': 'rpm',
  'images/pause.tar': 'x'.repeat(2_500_000),
  'binaries/k3s': '',
}

let folder: string
let output: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-bundle-'))
  output = join(folder, 'bundle.tar')
  for (const [path, content] of Object.entries(contents)) await put(`in/${path}`, content)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), content)
}

const create = () => bundles.create({ folder: join(folder, 'in'), output }, never)

describe('a bundle', () => {
  it('is made, checked and unpacked', async () => {
    const made = await create()
    expect(made.manifest.files.map(({ path }) => path)).toEqual(Object.keys(contents).toSorted())
    expect(made.sha256).toBe(hash(await readFile(output)))
    expect(await bundles.verify(output, never)).toEqual(made)
    const to = join(folder, 'staging/bundle')
    expect(await bundles.unpack(output, made.sha256, to, never)).toEqual(made.manifest)
    for (const [path, content] of Object.entries(contents)) expect(await readFile(join(to, path), 'utf8')).toBe(content)
    expect(await readdir(join(folder, 'staging'))).toEqual(['bundle'])
    // Again, as after a crash: what lies there is replaced.
    await mkdir(`${to}.part/images`, { recursive: true })
    await bundles.unpack(output, made.sha256, to, never)
    expect(await readdir(join(folder, 'staging'))).toEqual(['bundle'])
  })

  it('is the same for the same files, and any tar can read it', async () => {
    const first = await create()
    await rm(join(folder, 'in/binaries'), { recursive: true })
    await put('in/binaries/k3s', '')
    await utimes(join(folder, 'in/images/pause.tar'), 1, 1)
    expect((await create()).sha256).toBe(first.sha256)
    const { stdout } = await run('tar', ['-tf', output])
    expect(stdout.trim().split('\n')).toEqual(['manifest.json', ...Object.keys(contents).toSorted()])
  })

  it('is made of a good folder only, and leaves nothing behind', async () => {
    await put('in/charts/a.tgz', '')
    await symlink('pause.tar', join(folder, 'in/images/other.tar'))
    await expect(create()).rejects.toMatchObject({
      code: 'Usage',
      message: expect.stringMatching(/no folder charts.*other.tar is a link/),
    })
    await expect(bundles.create({ folder: join(folder, 'none'), output }, never)).rejects.toMatchObject({
      code: 'NotFound',
    })
    await expect(
      bundles.create({ folder: join(folder, 'in'), output: join(folder, 'in/b.tar') }, never),
    ).rejects.toMatchObject({ code: 'Usage' })
    expect(await readdir(folder)).toEqual(['in'])
  })

  it('lies under the root of a machine', async () => {
    const { sha256, bytes } = await create()
    await mkdir(join(folder, 'srv'))
    await symlink('/bundle.tar', join(folder, 'srv/link.tar'))
    const machine = new FileBundles(folder)
    expect(await machine.bytes('/srv/link.tar')).toBe(bytes)
    expect(await machine.bytes('/srv/none.tar')).toBeUndefined()
    await machine.unpack('/srv/link.tar', sha256, '/staging/bundle', never)
    expect(await readdir(join(folder, 'staging/bundle/images'))).toEqual(['pause.tar'])
  })
})

describe('unpacking', () => {
  it('that is killed in the middle leaves no half bundle, and goes well the next time', async () => {
    await put('in/images/large.tar', 'y'.repeat(64_000_000))
    const { sha256 } = await create()
    const to = join(folder, 'staging/bundle')
    const program = `import { FileBundles } from ${JSON.stringify(import.meta.resolve('./file-bundles.ts'))}
      const [, file, sha256, to] = process.argv
      await new FileBundles().unpack(file, sha256, to, new AbortController().signal)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program, output, sha256, to])
    const ended = once(child, 'exit')
    while (!(await isThere(`${to}.part/images/large.tar`))) await pause(1)
    child.kill('SIGKILL')
    expect((await ended)[1]).toBe('SIGKILL')
    expect(await readdir(join(folder, 'staging'))).toEqual(['bundle.part'])
    await bundles.unpack(output, sha256, to, never)
    expect(await readdir(join(folder, 'staging'))).toEqual(['bundle'])
    expect(hash(await readFile(join(to, 'images/large.tar')))).toBe(hash('y'.repeat(64_000_000)))
  })
})

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

/** A tar as an enemy would write it. */
async function forge(entries: readonly { path: string; content: string; header?: Uint8Array }[]): Promise<void> {
  const blocks = entries.flatMap(({ path, content, header }) => {
    const bytes = Buffer.byteLength(content)
    return [header ?? tarHeader({ path, bytes }), Buffer.from(content), Buffer.alloc(paddingAfter(bytes))]
  })
  await writeFile(output, Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

const manifest = (...files: readonly { path: string; content: string }[]) => ({
  path: 'manifest.json',
  content: manifestText({
    format: bundleFormat,
    architecture: 'amd64',
    files: files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content), sha256: hash(content) })),
  }),
})

const one = { path: 'binaries/one', content: 'first' }
const two = { path: 'binaries/two', content: 'second' }
const outside = { path: '../../outside', content: 'bad' }

describe('a bundle that is no good', () => {
  it.each([
    ['misses a file', [manifest(one, two), one], /lacks binaries\/two/],
    ['has one more', [manifest(one), one, two], /binaries\/two.* is not in its manifest/],
    ['has one twice', [manifest(one, two), one, one], /comes twice/],
    ['has another content', [manifest(one), { ...one, content: 'other' }], /has SHA-256/],
    ['has another size', [manifest(one), { ...one, content: 'longer' }], /has 6 bytes, its manifest.json says 5/],
    ['leads out of its folder', [manifest(outside), outside], /none of the folders/],
    ['hides what leads out of its folder', [manifest(one), one, outside], /is not in its manifest/],
    ['has no manifest', [one], /does not begin with manifest.json/],
    ['has no end of its manifest', [{ path: 'manifest.json', content: '{' }], /not one/],
  ])('%s', async (_what, entries, why) => {
    await forge(entries)
    await refuses(why)
  })

  it('is cut off anywhere', async () => {
    const { bytes } = await create()
    for (const left of [0, 100, 512, 5000, bytes - 1024, bytes - 1]) {
      await create()
      await truncate(output, left)
      await refuses(/is cut off/)
    }
  })

  it('goes on after its end', async () => {
    await create()
    await appendFile(output, Buffer.alloc(9 * 1024))
    await bundles.verify(output, never)
    await appendFile(output, 'x')
    await refuses(/something follows/)
  })

  it('is a tar of another program', async () => {
    await run('tar', ['-cf', output, '-C', join(folder, 'in'), '.'])
    await refuses(/is a folder/)
  })

  it('is not a tar at all, or not there', async () => {
    await writeFile(output, 'x'.repeat(2000))
    await refuses(/not a tar/)
    await expect(bundles.verify(join(folder, 'none'), never)).rejects.toMatchObject({ code: 'BundleMissing' })
    await expect(bundles.verify(folder, never)).rejects.toMatchObject({ code: 'BundleMissing' })
  })

  it('is another one than was named', async () => {
    await create()
    const to = join(folder, 'bundle')
    await expect(bundles.unpack(output, hash(''), to, never)).rejects.toMatchObject({ code: 'ContentMismatch' })
    expect(await readdir(folder)).toEqual(['bundle.tar', 'in'])
  })
})

/** By looking and by unpacking, and nothing is left of it. */
async function refuses(why: RegExp): Promise<void> {
  const refused = { code: 'BundleBroken', message: expect.stringMatching(why) }
  await expect(bundles.verify(output, never)).rejects.toMatchObject(refused)
  await expect(bundles.unpack(output, '', join(folder, 'to'), never)).rejects.toMatchObject(refused)
  expect(await readdir(folder)).toEqual(['bundle.tar', 'in'])
}
