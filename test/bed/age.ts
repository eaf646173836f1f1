// The program age, which must open what we close and close what we open: the machine's own, else built into the cache.

import { join } from 'node:path'
import { age } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { runProgram } from './run-program.ts'

export interface AgePrograms {
  readonly age: string
  readonly keygen: string
}

export async function agePrograms(): Promise<AgePrograms> {
  const own = { age: 'age', keygen: 'age-keygen' }
  try {
    for (const program of Object.values(own)) await runProgram(program, ['--version'])
    return own
  } catch {
    const folder = await programFolder(age, sayToStderr)
    return { age: join(folder, 'age'), keygen: join(folder, 'age-keygen') }
  }
}
