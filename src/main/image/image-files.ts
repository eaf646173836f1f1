// What goes into the image. Programs come with the libraries and the loader of this machine, at the paths they have here, where
// that loader looks for them. Node brings its own root certificates.

import { execFile } from 'node:child_process'
import { access, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { SlipwayError } from '../../api/slipway-error.ts'
import type { TarEntry } from './tar.ts'

/** Resolving names needs these; newer C libraries have them built in. */
export const nameServices = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']
/** Whom the image runs as unless somebody says otherwise; agents are told to be root. */
export const nonRoot = 65_532

export const accountFiles: readonly TarEntry[] = [
  text('etc/passwd', `root:x:0:0:root:/:/none\nslipway:x:${nonRoot}:${nonRoot}:slipway:/:/none\n`),
  text('etc/group', `root:x:0:\nslipway:x:${nonRoot}:\n`),
  text('etc/nsswitch.conf', 'hosts: files dns\n'),
  { path: 'tmp', kind: 'folder', mode: 0o1777 },
]

/** Node, nsenter to enter the machine with, and what both need. */
export async function baseLayer(nodePath: string, searchPath: string): Promise<readonly TarEntry[]> {
  const programs = [
    { from: nodePath, to: 'usr/bin/node' },
    { from: await findProgram('nsenter', searchPath), to: 'usr/bin/nsenter' },
  ]
  const linked = await Promise.all(programs.map(({ from }) => librariesOf(from)))
  const libraries = new Set(linked.flat())
  for (const library of await nameServicesBeside([...libraries])) libraries.add(library)
  return [
    ...(await Promise.all(programs.map(({ from, to }) => program(from, to)))),
    ...(await Promise.all([...libraries].map((path) => program(path, path.slice(1))))),
    ...accountFiles,
  ]
}

/** What `make build` made, below that folder; source maps stay at home, and so does what is made of it. */
export async function programFiles(dist: string, to: string): Promise<readonly TarEntry[]> {
  const found = await readdir(dist, { recursive: true, withFileTypes: true })
  const paths = found
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.map'))
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)))
    .filter((path) => !madeOfIt.includes(path.split(sep)[0] ?? ''))
  return await Promise.all(paths.map((path) => program(join(dist, path), `${to}/${path}`)))
}

const madeOfIt = ['image', 'host', 'release']

/** `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, and the loader as a bare path. */
export function parseLibraries(ldd: string): readonly string[] {
  const missing = /^\s*(\S+) => not found/m.exec(ldd)?.[1]
  if (missing !== undefined) throw new SlipwayError('NotFound', `this machine has no ${missing}`)
  return ldd.split('\n').flatMap((line) => /^\s*(?:\S+ => )?(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}

async function librariesOf(path: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ldd', [path])
  return parseLibraries(stdout)
}

async function nameServicesBeside(libraries: readonly string[]): Promise<readonly string[]> {
  const libc = libraries.find((path) => basename(path).startsWith('libc.so'))
  const paths = libc === undefined ? [] : nameServices.map((name) => join(dirname(libc), name))
  const found = await Promise.all(paths.map(isThere))
  return paths.filter((_, index) => found[index])
}

async function findProgram(name: string, searchPath: string): Promise<string> {
  for (const folder of searchPath.split(':')) {
    const path = join(folder, name)
    if (await isThere(path)) return path
  }
  throw new SlipwayError('NotFound', `${name} is not on the PATH, and the image needs it`, {
    nextStep: 'install util-linux',
  })
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

async function program(from: string, to: string): Promise<TarEntry> {
  return { path: to, kind: 'file', mode: 0o755, content: await readFile(from) }
}

function text(path: string, content: string): TarEntry {
  return { path, kind: 'file', mode: 0o644, content: Buffer.from(content) }
}
