import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SimulateReport {
  readonly runs: number
  readonly violations: readonly { readonly seed: number; readonly rule: string; readonly message: string }[]
  /** `kind phase` to how often. */
  readonly faults: Readonly<Record<string, number>>
  /** In how many runs two kinds struck, or one alone. */
  readonly together: Readonly<Record<string, number>>
}

export const project = fileURLToPath(new URL('../..', import.meta.url))

/** Runs `slipway simulate --faults all` of the sources in that folder, as a process of its own. */
export async function simulateFaults(
  folder: string,
  first: number,
  last: number,
  more: readonly string[] = [],
): Promise<SimulateReport> {
  const program = join(folder, 'src/main/slipway.ts')
  const args = ['simulate', '--faults', 'all', '--seeds', `${first}..${last}`, '--output', 'json', ...more]
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0 && code !== 1) throw new Error(`simulate ended with ${code}: ${err.slice(-2000)}`)
  return JSON.parse(out) as SimulateReport
}
