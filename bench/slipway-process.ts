// The program as a process of its own, from the sources or from the bundle.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ChildProgram } from '../test/bed/child-program.ts'
import { runProgram } from '../test/bed/run-program.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))

/** Runs until stopped; what it says goes to the log. */
export function startFromSources(args: readonly string[], logPath: string): ChildProgram {
  return new ChildProgram(process.execPath, [`${repository}src/main/slipway.ts`, ...args], logPath)
}

export interface Bundle {
  start(nodeFlags: readonly string[], args: readonly string[], logPath: string): ChildProgram
}

export async function buildBundle(): Promise<Bundle> {
  const program = await builtProgram()
  return {
    start: (nodeFlags, args, logPath) => new ChildProgram(process.execPath, [...nodeFlags, program, ...args], logPath),
  }
}

/** The path of the program as it ships, built anew. */
export async function builtProgram(): Promise<string> {
  await runProgram(`${repository}node_modules/.bin/rolldown`, ['-c', 'rolldown.config.ts', '--log-level', 'warn'], {
    cwd: repository,
  })
  return `${repository}dist/slipway.mjs`
}

/** Runs it to its end; its standard output. */
export async function runFromSources(args: readonly string[], signal: AbortSignal): Promise<string> {
  const argv = [`${repository}src/main/slipway.ts`, ...args]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { maxBuffer: 64 * 2 ** 20, signal })
  return stdout
}
