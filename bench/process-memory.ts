import { readFileSync } from 'node:fs'

export interface ProcessMemory {
  readonly rssMiB: number
  /** What is this process's alone and cannot be read again from a file. */
  readonly privateDirtyMiB: number
}

export function memoryOf(pid: number): ProcessMemory {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const field = (name: string) => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]
    if (kib === undefined) throw new Error(`the kernel does not tell ${name} of process ${pid}`)
    return Number(kib) / 1024
  }
  return { rssMiB: field('Rss'), privateDirtyMiB: field('Private_Dirty') }
}
