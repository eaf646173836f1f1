// Finds the programs of a real control plane: given, cached, downloaded or built, in this order.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildPrograms } from './build-programs.ts'
import { assetsFolder, locked } from './cache-folder.ts'
import { downloadPrograms } from './download-programs.ts'
import { etcdVersion, kubernetesVersion, programs } from './versions.ts'

const sumsFile = 'SHA256SUMS'

/** A folder with etcd, kube-apiserver and the rest; throws with every reason why there is none. */
export async function findPrograms(say: (line: string) => void): Promise<string> {
  const given = process.env.KUBEBUILDER_ASSETS
  if (given !== undefined && given !== '') {
    await access(join(given, 'kube-apiserver'))
    await access(join(given, 'etcd'))
    return given
  }
  const name = `${kubernetesVersion}-etcd-${etcdVersion}-${process.platform}-${process.arch}`
  const folder = join(assetsFolder(), name)
  if (await isWhole(folder)) return folder
  return locked(`${folder}.lock`, async () => {
    if (await isWhole(folder)) return folder
    await obtain(folder, say)
    return folder
  })
}

/**
 * For `describe.skipIf`: why there is no API server to test with, said loudly. Where one is required (CI, or
 * SLIPWAY_REQUIRE_API_SERVER=1) the answer is undefined, so that the tests run and fail with the reason.
 */
export async function whyNoApiServer(): Promise<string | undefined> {
  const say = (line: string) => process.stderr.write(`${line}\n`)
  try {
    await findPrograms(say)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    say(`\n*** API SERVER TESTS SKIPPED: ${reason}\n`)
    return process.env.CI || process.env.SLIPWAY_REQUIRE_API_SERVER === '1' ? undefined : reason
  }
}

async function obtain(folder: string, say: (line: string) => void): Promise<void> {
  const reasons: string[] = []
  const ways = [
    { name: 'download', run: downloadPrograms },
    { name: 'build with go', run: buildPrograms },
  ]
  for (const way of ways) {
    const fresh = await mkdtemp(`${folder}.new-`)
    try {
      say(`Kubernetes ${kubernetesVersion} for the tests: trying to ${way.name} …`)
      await way.run(fresh, join(fresh, 'scratch'))
      await writeFile(join(fresh, sumsFile), await sumsOf(fresh))
      await rm(folder, { recursive: true, force: true })
      await rename(fresh, folder)
      say(`Kubernetes ${kubernetesVersion} for the tests: in ${folder}`)
      return
    } catch (error) {
      reasons.push(`${way.name}: ${error instanceof Error ? describe(error) : String(error)}`)
    } finally {
      await rm(fresh, { recursive: true, force: true })
    }
  }
  throw new Error(
    `no API server for the tests: ${reasons.join('; ')}. Set KUBEBUILDER_ASSETS to a folder that has one.`,
  )
}

/** fetch says only "fetch failed"; the reason is its cause. */
function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

async function isWhole(folder: string): Promise<boolean> {
  const expected = await readFile(join(folder, sumsFile), 'utf8').catch(() => undefined)
  return expected !== undefined && expected === (await sumsOf(folder).catch(() => undefined))
}

async function sumsOf(folder: string): Promise<string> {
  const lines = await Promise.all(programs.map(async (name) => `${await sha256(join(folder, name))}  ${name}\n`))
  return lines.join('')
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk)
  return hash.digest('hex')
}
