// Holds a bed with one machine until somebody ends it.

import { openBed } from '../../bed/bed.ts'

const bed = await openBed()
await bed.machine()
process.stdout.write(`${JSON.stringify(bed.slot)}\n`)
setInterval(() => undefined, 60_000)
