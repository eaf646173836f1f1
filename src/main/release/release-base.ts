// The lowest layer of a release's image, for either architecture: Node, nsenter, the libraries these two name, and nothing that
// could run besides. Where the packages came from stands where scanners look for it.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { SlipwayError } from '../../api/slipway-error.ts'
import { accountFiles, nameServices } from '../image/image-files.ts'
import type { TarEntry } from '../image/tar.ts'
import { readElf } from './elf.ts'
import type { FetchedInputs } from './fetch-inputs.ts'
import type { Architecture } from './release-inputs.ts'

const run = promisify(execFile)
const triplets: Readonly<Record<Architecture, string>> = { amd64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }

export interface ReleaseBase {
  readonly layer: readonly TarEntry[]
  readonly node: Buffer
  readonly nodeLicence: Buffer
}

export async function releaseBase(inputs: FetchedInputs, debianRelease: string): Promise<ReleaseBase> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-base-'))
  try {
    const root = join(folder, 'root')
    await mkdir(root)
    await run('tar', ['-xzf', inputs.node, '-C', folder, 'package/bin/node', 'package/LICENSE'])
    const papers = []
    for (const { name, file } of inputs.debian) {
      await unpack(file, root)
      papers.push(...(await papersOf(name, file, root)))
    }
    const node = await readFile(join(folder, 'package/bin/node'))
    const programs = [
      { path: 'usr/bin/node', content: node },
      { path: 'usr/bin/nsenter', content: await readFile(join(root, 'usr/bin/nsenter')) },
    ]
    const nodeLicence = await readFile(join(folder, 'package/LICENSE'))
    const release = `PRETTY_NAME="Slipway on Debian ${debianRelease}"\nID=debian\nVERSION_ID="${debianRelease}"\n`
    const layer = [
      ...(await withLibraries(programs, root, inputs.architecture)).map(executable),
      ...papers,
      ...accountFiles,
      plain('etc/os-release', Buffer.from(release)),
      plain('usr/share/doc/node/copyright', nodeLicence),
    ]
    return { layer, node, nodeLicence }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function unpack(deb: string, root: string): Promise<void> {
  await run('dpkg-deb', ['-x', deb, root]).catch((error: unknown) => {
    throw new SlipwayError('NotFound', `dpkg-deb cannot unpack ${basename(deb)}`, {
      nextStep: 'install dpkg; a release is made with it',
      cause: error,
    })
  })
}

/** What it is and under which terms: its control file and its copyright, as images without a package manager keep them. */
async function papersOf(name: string, deb: string, root: string): Promise<readonly TarEntry[]> {
  const { stdout } = await run('dpkg-deb', ['-f', deb])
  const copyright = await readFile(join(root, 'usr/share/doc', name, 'copyright')).catch(() => undefined)
  return [
    plain(`var/lib/dpkg/status.d/${name}`, Buffer.from(`${stdout.trim()}\n`)),
    ...(copyright === undefined ? [] : [plain(`usr/share/doc/${name}/copyright`, copyright)]),
  ]
}

interface BinaryFile {
  readonly path: string
  readonly content: Buffer
}

/** The programs, every library that one of them needs at any remove, and the loader. */
async function withLibraries(
  programs: readonly BinaryFile[],
  root: string,
  architecture: Architecture,
): Promise<readonly BinaryFile[]> {
  const folder = `usr/lib/${triplets[architecture]}`
  const found = new Map(programs.map((program) => [program.path, program]))
  const waiting = [...programs]
  const take = async (name: string, path: string) => {
    if (found.has(path)) return
    const library = { path, content: await libraryIn(root, folder, name) }
    found.set(path, library)
    waiting.push(library)
  }
  const loaders = new Set<string>()
  for (const name of nameServices) await take(name, `${folder}/${name}`)
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const elf = readElf(file.content)
    if (elf?.architecture !== architecture)
      throw foreign(file.path, elf?.architecture ?? 'nothing that runs', architecture)
    if (elf.interpreter !== undefined) {
      loaders.add(basename(elf.interpreter))
      await take(basename(elf.interpreter), elf.interpreter.slice(1))
    }
    // A library may name the loader, too; that is the one at its own place.
    for (const name of elf.needed) if (!loaders.has(name)) await take(name, `${folder}/${name}`)
  }
  return [...found.values()]
}

async function libraryIn(root: string, folder: string, name: string): Promise<Buffer> {
  const path = await realpath(join(root, folder, name)).catch(() => '')
  if (!path.startsWith(`${await realpath(root)}${sep}`)) {
    throw new SlipwayError('NotFound', `none of the Debian packages has ${name}`, {
      nextStep: 'name its package in src/main/release/lock-inputs.ts, then: make release-inputs',
    })
  }
  return await readFile(path)
}

function foreign(path: string, found: string, wanted: string): SlipwayError {
  return new SlipwayError('ContentMismatch', `${path} is for ${found}, not for ${wanted}`, {
    nextStep: 'write deploy/release/inputs.json anew: make release-inputs',
  })
}

function executable({ path, content }: BinaryFile): TarEntry {
  return { path, kind: 'file', mode: 0o755, content }
}

function plain(path: string, content: Buffer): TarEntry {
  return { path, kind: 'file', mode: 0o644, content }
}
