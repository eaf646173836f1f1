// Finds the programs of real Kubernetes: given, cached, downloaded or built, in this order.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPrograms } from './build-programs.ts'
import { assetsFolder, besideIt, locked } from './cache-folder.ts'
import { downloadPrograms } from './download-programs.ts'
import { controlPlanePrograms, type ProgramSet } from './program-set.ts'
import { etcdVersion, kubernetesVersion } from './versions.ts'

type Say = (line: string) => void

/** Where a program of a control plane on loopback lies: etcd, kube-apiserver and the rest, and kubectl. */
export type FindProgram = (name: 'etcd' | 'kubectl' | (typeof controlPlanePrograms)[number]) => string

export const sayToStderr: Say = (line) => process.stderr.write(`${line}\n`)

/** Throws with every reason why there is none. */
export async function findPrograms(say: Say): Promise<FindProgram> {
  const given = process.env.KUBEBUILDER_ASSETS
  if (given !== undefined && given !== '') {
    await access(join(given, 'kube-apiserver'))
    await access(join(given, 'etcd'))
    return (name) => join(given, name)
  }
  const programs = [...controlPlanePrograms, 'kubectl']
  const kubernetes = await programFolder({ project: 'kubernetes', version: kubernetesVersion, programs }, say)
  const etcd = await programFolder({ project: 'etcd', version: etcdVersion, programs: ['etcd'] }, say)
  return (name) => join(name === 'etcd' ? etcd : kubernetes, name)
}

/**
 * For `describe.skipIf`: why there is no API server to test with, said loudly. Where one is required (CI, or
 * SLIPWAY_REQUIRE_API_SERVER=1) the answer is undefined, so that the tests run and fail with the reason.
 */
export async function whyNoApiServer(): Promise<string | undefined> {
  try {
    await findPrograms(sayToStderr)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    sayToStderr(`\n*** API SERVER TESTS SKIPPED: ${reason}. Set KUBEBUILDER_ASSETS to a folder that has one.\n`)
    return process.env.CI || process.env.SLIPWAY_REQUIRE_API_SERVER === '1' ? undefined : reason
  }
}

/** The folder with that set's programs in the cache; those that are not there, or not whole, are obtained. */
export async function programFolder(set: ProgramSet, say: Say): Promise<string> {
  const folder = join(assetsFolder(), `${set.project}-${set.version}-${process.platform}-${process.arch}`)
  if ((await missingOf(set, folder)).length === 0) return folder
  return locked(`${folder}.lock`, async () => {
    const programs = await missingOf(set, folder)
    if (programs.length > 0) await obtain({ ...set, programs }, folder, say)
    return folder
  })
}

async function obtain(set: ProgramSet, folder: string, say: Say): Promise<void> {
  const title = `${set.project} ${set.version}`
  const reasons: string[] = []
  const ways = [
    { name: 'download', run: downloadPrograms },
    { name: 'build with go', run: buildPrograms },
  ]
  for (const way of ways) {
    say(`${title} for the tests: trying to ${way.name} …`)
    try {
      await besideIt(folder, async (fresh) => {
        await way.run(set, fresh, join(fresh, 'scratch'))
        await moveIn(set, fresh, folder)
      })
      say(`${title} for the tests: in ${folder}`)
      return
    } catch (error) {
      reasons.push(`${way.name}: ${error instanceof Error ? describe(error) : String(error)}`)
    }
  }
  throw new Error(`no ${title} for the tests: ${reasons.join('; ')}`)
}

/** The sum comes last: a program without it is not taken. */
async function moveIn({ programs }: ProgramSet, from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const program of programs) {
    const sum = await sha256(join(from, program))
    await rename(join(from, program), join(to, program))
    await writeFile(sumFile(to, program), sum)
  }
}

/** fetch says only "fetch failed"; the reason is its cause. */
function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

async function missingOf({ programs }: ProgramSet, folder: string): Promise<string[]> {
  const states = await Promise.all(
    programs.map(async (program) => {
      const expected = await readFile(sumFile(folder, program), 'utf8').catch(() => undefined)
      const found = expected === undefined ? undefined : await sha256(join(folder, program)).catch(() => undefined)
      return { program, isWhole: found !== undefined && found === expected }
    }),
  )
  return states.filter(({ isWhole }) => !isWhole).map(({ program }) => program)
}

function sumFile(folder: string, program: string): string {
  return join(folder, `${program}.sha256`)
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk)
  return hash.digest('hex')
}
