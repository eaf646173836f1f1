// A process of make fault-runs: runs the seeds it is sent, slice by slice, and sends back what they showed.

import { z } from 'zod'
import { simulateRole } from '../../src/main/roles/simulate-role.ts'
import type { SliceReport } from './fault-progress.ts'

const sliceSchema = z.object({ first: z.int(), last: z.int(), commit: z.string() })
const { signal } = new AbortController()

process.on('message', async (message) => {
  const { first, last, commit } = sliceSchema.parse(message)
  const before = process.cpuUsage()
  const options = { podsPerNode: 0, maxUnavailable: 1, faults: 'all', seeds: { first, last } } as const
  const { violations, faults = {}, together = {} } = await simulateRole('0.0.0', options, () => undefined, signal)
  const { user, system } = process.cpuUsage(before)
  const cpuSeconds = (user + system) / 1e6
  process.send?.({ first, last, commit, cpuSeconds, violations, faults, together } satisfies SliceReport)
})
// A Ctrl-C is for the one who sends.
process.on('SIGINT', () => undefined)
process.on('disconnect', () => process.exit())
