// Holds one job on a machine, and lets it run if told so. Usage: node unit-holder.ts INIT_PID JOB_JSON [release]

import type { Job } from '../../src/ports/host.ts'
import { hostOfInit } from '../conformance/host-of-machine.ts'

const [initPid = '', jobText = '', flag] = process.argv.slice(2)
const held = await hostOfInit(Number(initPid)).hold(JSON.parse(jobText) as Job, new AbortController().signal)
if (flag === 'release') await held.release()
process.stdout.write(`${JSON.stringify(held.identity)}\n`)
setInterval(() => undefined, 1000)
