// Helm for the tests, and the chart as it lies in the repository.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Execution, execute } from './execute.ts'
import { helm } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'

export const chart = fileURLToPath(new URL('../../deploy/chart', import.meta.url))

/** For `describe.skipIf`, as whyNoApiServer: where Helm is required (CI) the tests run and fail with the reason. */
export async function whyNoHelm(): Promise<string | undefined> {
  try {
    await programFolder(helm, sayToStderr)
    return undefined
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    sayToStderr(`\n*** CHART TESTS SKIPPED: ${reason}\n`)
    return process.env.CI ? undefined : reason
  }
}

/** Runs Helm to its end and says how it ended. `input` is what `--values -` reads. */
export async function tryHelm(args: readonly string[], input = ''): Promise<Execution> {
  // What it remembers of an API server goes by the address, and another one had it before.
  const kubeconfig = args[args.indexOf('--kubeconfig') + 1]
  const env = { ...process.env, ...(args.includes('--kubeconfig') && { KUBECACHEDIR: `${kubeconfig}.cache` }) }
  return await execute([join(await programFolder(helm, sayToStderr), 'helm'), ...args], { input, env })
}

/** The same where it must succeed: its standard output. */
export async function runHelm(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await tryHelm(args, input)
  if (code !== 0) throw new Error(`helm ${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr}`)
  return stdout
}
