import { Rollout } from '../src/main/simulation/rollout.ts'
import { RecordingLog } from '../test/fakes/recording-log.ts'
import type { Bench } from './figure.ts'

/** By the virtual clock: what else runs on this machine does not matter. */
export const makespan: Bench = {
  name: 'makespan',
  alone: false,
  async measure(signal) {
    const options = { nodes: 1000, podsPerNode: 5, seed: 1, maxUnavailable: '5%', version: 'bench' }
    const rollout = new Rollout({ ...options, log: new RecordingLog(), cluster: { latencyMs: [5, 50] } }, signal)
    await rollout.bringUp()
    await rollout.start()
    await rollout.advance()
    const { phase, ratio, makespanSeconds, idealSeconds, requestsPerNode, violations } = rollout.figures()
    if (phase !== 'Succeeded' || violations.length > 0) {
      throw new Error(`the rollout ended ${phase} with ${violations.length} rules broken`)
    }
    return {
      figures: [
        {
          what: 'makespan ÷ ideal, 1,000 simulated nodes, 5 % at once',
          measured: ratio,
          wanted: { atMost: 1.02 },
          unit: '',
        },
      ],
      seen: { makespanSeconds, idealSeconds, requestsPerNode },
    }
  },
}
