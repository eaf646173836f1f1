// Prometheus and promtool for the tests, unpacked from Debian's package or from the official build into the cache, and Alertmanager, built
// from its module: Debian's needs files where only root may put them.

import { createHash } from 'node:crypto'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { unpackPackages } from './host-packages.ts'
import { alertmanager } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { runProgram } from './run-program.ts'

export interface MonitoringPrograms {
  readonly prometheus: string
  readonly promtool: string
  readonly alertmanager: string
}

const names = ['prometheus', 'promtool'] as const
const officialVersion = '3.5.0'
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

export async function monitoringPrograms(): Promise<MonitoringPrograms> {
  const prometheus = await cachedFolder(`prometheus-tools-${process.platform}-${process.arch}`, async (fresh) => {
    const reasons: string[] = []
    for (const way of [fromDebian, fromOfficialBuild]) {
      try {
        await way(fresh, join(fresh, 'scratch'))
        return
      } catch (error) {
        reasons.push(error instanceof Error ? error.message : String(error))
      } finally {
        await rm(join(fresh, 'scratch'), { recursive: true, force: true })
      }
    }
    throw new Error(`no Prometheus for the tests: ${reasons.join('; ')}`)
  })
  const folder = await programFolder(alertmanager, sayToStderr)
  const [server = '', promtool = ''] = names.map((name) => join(prometheus, name))
  return { prometheus: server, promtool, alertmanager: join(folder, 'alertmanager') }
}

async function fromDebian(folder: string, scratch: string): Promise<void> {
  const root = join(scratch, 'root')
  await mkdir(root, { recursive: true })
  await unpackPackages(['prometheus'], root)
  for (const program of names) await copyFile(join(root, 'usr/bin', program), join(folder, program))
}

async function fromOfficialBuild(folder: string, scratch: string): Promise<void> {
  await mkdir(scratch, { recursive: true })
  const name = `prometheus-${officialVersion}.${process.platform}-${architectures[process.arch]}`
  const base = `https://github.com/prometheus/prometheus/releases/download/v${officialVersion}`
  const sums = (await fetched(`${base}/sha256sums.txt`)).toString().split('\n')
  const expected = sums.find((line) => line.endsWith(`${name}.tar.gz`))?.split(' ')[0]
  const archive = await fetched(`${base}/${name}.tar.gz`)
  const found = createHash('sha256').update(archive).digest('hex')
  if (found !== expected) throw new Error(`${name}: SHA-256 is ${found}, should be ${expected}`)
  await writeFile(join(scratch, 'archive.tar.gz'), archive)
  await runProgram('tar', ['-xzf', join(scratch, 'archive.tar.gz'), '-C', scratch])
  for (const program of names) await copyFile(join(scratch, name, program), join(folder, program))
}

async function fetched(url: string): Promise<Buffer> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  return Buffer.from(await answer.arrayBuffer())
}
