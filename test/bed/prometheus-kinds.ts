// The definitions of ServiceMonitor and PrometheusRule as the Prometheus operator brings them, from its module, in the user's cache.

import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { cachedFolder } from './cache-folder.ts'
import { runProgram } from './run-program.ts'

const version = 'v0.85.0'
const module = 'github.com/prometheus-operator/prometheus-operator'
const files = ['servicemonitors', 'prometheusrules'].map((plural) => `monitoring.coreos.com_${plural}.yaml`)
const downloaded = z.object({ Dir: z.string() })

/** Undefined where they can be had. */
export async function whyNoPrometheusKinds(): Promise<string | undefined> {
  return prometheusKinds().then(
    () => undefined,
    (error: unknown) => `the definitions of ${module} cannot be had: ${error instanceof Error ? error.message : error}`,
  )
}

/** Paths of files. */
export async function prometheusKinds(): Promise<readonly string[]> {
  const folder = await cachedFolder(`prometheus-kinds-${version}`, async (fresh) => {
    const scratch = join(fresh, 'scratch')
    await mkdir(scratch)
    await runProgram('go', ['mod', 'init', 'slipway.test/kinds'], { cwd: scratch })
    const told = await runProgram('go', ['mod', 'download', '-json', `${module}@${version}`], { cwd: scratch })
    const { Dir } = downloaded.parse(JSON.parse(told))
    for (const file of files) await copyFile(join(Dir, 'example/prometheus-operator-crd', file), join(fresh, file))
    await rm(scratch, { recursive: true })
  })
  return files.map((file) => join(folder, file))
}
