import { expect, test } from 'vitest'
import { sampleState } from '../../test/samples/cluster-objects.ts'
import { gzipCompression } from '../adapters/compression/gzip.ts'
import { type NodeState, nodeStates } from '../api/node-state.ts'
import { SeededRandom } from '../sim/seeded-random.ts'
import { SimCluster } from '../sim/sim-cluster.ts'
import { NodeQuestions } from './node-questions.ts'

const alone = 'no answer from w1 within a minute'

test.each<[string, NodeState['spec'], string]>([
  ['nobody answers', {}, alone],
  [
    'nor anybody else who asks',
    { logs: { request: 'theirs', bytes: 1_000 } },
    `${alone}: it is asked for another log, too, and answers one question at a time`,
  ],
])('%s: that is said after a minute', async (_, spec, message) => {
  const cluster = new SimCluster({ seed: 1, nodes: [], which: [] })
  cluster.server.restore(nodeStates, { ...sampleState('w1'), spec })
  const questions = new NodeQuestions({
    ...{ api: cluster.client('person'), clock: cluster.clock, random: new SeededRandom(1) },
    compression: async () => gzipCompression,
  })
  const told = questions.log('w1', { full: true }, new AbortController().signal).catch((error: unknown) => error)
  await cluster.run({ limitMs: 120_000 })
  expect(await told).toMatchObject({ code: 'Refused', message, nextStep: expect.stringContaining('slipway why w1') })
})
