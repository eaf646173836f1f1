import { spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { endingWithUs } from './ending-with-us.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program to its end with low priority and returns its standard output; throws with its last lines of error. */
export function runProgram(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    // Interrupted, not killed: a program that mounts something clears up.
    const [file, argv] = endingWithUs('INT', program, args)
    const child = spawn(file, argv, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL)
    const output: Buffer[] = []
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4_000)
    })
    child.once('error', (error) => reject(new Error(`${program} cannot be run: ${error.message}`, { cause: error })))
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString())
      else reject(new Error(`${program} ${args.slice(0, 3).join(' ')} ended with ${code}: ${errors.trim()}`))
    })
  })
}
