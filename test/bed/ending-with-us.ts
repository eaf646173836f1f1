import { accessSync } from 'node:fs'

const setpriv = '/usr/bin/setpriv'

/** The command line of a program that the kernel sends this signal when we die, also by SIGKILL; as it is where that cannot be had. */
export function endingWithUs(
  signal: 'KILL' | 'INT',
  program: string,
  args: readonly string[],
): readonly [program: string, args: readonly string[]] {
  return hasSetpriv() ? [setpriv, ['--pdeathsig', signal, program, ...args]] : [program, args]
}

function hasSetpriv(): boolean {
  try {
    accessSync(setpriv)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}
