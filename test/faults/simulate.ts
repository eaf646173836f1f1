import { spawn } from 'node:child_process'
import type { SimulateResult } from '../../src/cli/dependencies.ts'
import { type Planted, project } from './plant.ts'

export const unharmed: Planted = { flags: [], env: process.env }

/** Runs `slipway simulate` as a process of its own; a broken rule is no failure of it. */
export async function simulate({ flags, env }: Planted, ...args: readonly string[]): Promise<SimulateResult> {
  const all = [...flags, 'src/main/slipway.ts', 'simulate', ...args, '--output', 'json']
  const child = spawn(process.execPath, all, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
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
  return JSON.parse(out) as SimulateResult
}

export function simulateFaults(sources: Planted, first: number, last: number): Promise<SimulateResult> {
  return simulate(sources, '--faults', 'all', '--seeds', `${first}..${last}`)
}
