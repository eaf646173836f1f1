// A process that campaigns for a lease and, while it leads, writes its name again and again through the fence.

import { SystemClock } from '../../src/adapters/clock/system-clock.ts'
import { SystemRandom } from '../../src/adapters/random/system-random.ts'
import { configMaps } from '../../src/api/kube.ts'
import { SlipwayError } from '../../src/api/slipway-error.ts'
import { fencedApi } from '../../src/kube/fenced-api.ts'
import { LeaderElection } from '../../src/kube/leader-election.ts'
import { sleep } from '../../src/kube/sleep.ts'
import { RecordingLog } from '../fakes/recording-log.ts'
import { realClient } from './real-client.ts'

const [kubeconfig = '', identity = ''] = process.argv.slice(2)
const clock = new SystemClock()
const { api } = await realClient(kubeconfig)
const stop = new AbortController()
const unstoppable = new AbortController().signal
process.once('SIGTERM', () => stop.abort())

const election = new LeaderElection({
  api,
  clock,
  random: new SystemRandom(),
  log: new RecordingLog(),
  namespace: 'default',
  name: 'diary',
  identity,
  leaseDurationMs: 6_000,
  renewEveryMs: 1_000,
  renewDeadlineMs: 4_000,
})
await election.run(async (term) => {
  const fenced = fencedApi(api, () => term.isCurrent())
  let count = 0
  try {
    for (;;) {
      count += 1
      const body = { data: { writer: identity, count: String(count) } }
      // Not stopped by the term's signal: the fence alone must hold it back.
      await fenced.patch(configMaps, { name: 'diary', namespace: 'default' }, { type: 'merge', body }, unstoppable)
      await sleep(clock, 20, unstoppable)
    }
  } catch (error) {
    // The term is over: that is how this work ends.
    if (!term.signal.aborted && !(error instanceof SlipwayError && error.code === 'NotLeader')) throw error
  }
}, stop.signal)
await api.close()
