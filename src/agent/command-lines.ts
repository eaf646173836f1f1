import { SlipwayError } from '../api/slipway-error.ts'
import type { Host } from '../ports/host.ts'

/** The words of each program that runs on the machine. */
export async function commandLines({ files }: Pick<Host, 'files'>): Promise<readonly (readonly string[])[]> {
  const lines: string[][] = []
  for (const pid of await files.names('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const line = await files.read(`/proc/${pid}/cmdline`).catch(gone)
    // A thread of the kernel, and what has ended but is still listed, have none.
    if (line !== undefined && line !== '') lines.push(line.replace(/\0$/, '').split('\0'))
  }
  return lines
}

function gone(error: unknown): undefined {
  if (error instanceof SlipwayError && error.code.startsWith('Disk')) return undefined
  throw error
}
