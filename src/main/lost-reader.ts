// Whoever reads our output may go first: `slipway nodes | head -1`.

import type { Writable } from 'node:stream'

export interface Outputs {
  readonly stdout: Pick<Writable, 'on'>
  readonly stderr: Pick<Writable, 'on'>
}

/** What only tells ends with its reader. What changes something is not left half-way: it ends with its own code. */
export function outliveReaders({ stdout, stderr }: Outputs, onlyReads: boolean, exit: (code: number) => void): void {
  stdout.on('error', (error) => {
    mustBeClosedPipe(error)
    if (onlyReads) exit(0)
  })
  stderr.on('error', mustBeClosedPipe)
}

function mustBeClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
