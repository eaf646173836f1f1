// `node bench/run.ts [NAME…]`: all benches but the one of scale, or these.

import { agentMemory } from './agent-memory.ts'
import { backupStream } from './backup-stream.ts'
import { commandLine } from './command-line.ts'
import { consolePage } from './console-page.ts'
import { faultRuns } from './fault-runs.ts'
import { firstCordon } from './first-cordon.ts'
import { idleOperator } from './idle-operator.ts'
import { makespan } from './makespan.ts'
import { plan } from './plan.ts'
import { planWave } from './plan-wave.ts'
import { realRollout } from './real-rollout.ts'
import { runBenches } from './run-benches.ts'
import { schedules } from './schedules.ts'
import { simulatedScale } from './simulated-scale.ts'

const benches = [
  planWave,
  schedules,
  commandLine,
  consolePage,
  makespan,
  realRollout,
  idleOperator,
  firstCordon,
  agentMemory,
  simulatedScale,
  plan,
  backupStream,
  faultRuns,
]
const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !benches.some((bench) => bench.name === name))
if (unknown.length > 0) {
  process.stderr.write(`no bench ${unknown.join(', ')}; there are ${benches.map(({ name }) => name).join(', ')}\n`)
  process.exit(2)
}
const chosen = asked.length === 0 ? benches : benches.filter(({ name }) => asked.includes(name))
const proof = chosen.length === benches.length ? 'make bench' : undefined
process.exit(await runBenches(chosen, (name) => `node bench/run.ts ${name}`, proof))
