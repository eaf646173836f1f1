import { expect, test } from 'vitest'
import { sampleAgent, sampleState } from '../../../test/samples/cluster-objects.ts'
import { logsAnnotation, type NodeState } from '../../api/node-state.ts'
import { logTurn } from './log-turn.ts'

interface Requests {
  readonly written?: string
  readonly passedOn?: string
  readonly answered?: string
}

function stateOf({ written, passedOn, answered }: Requests): NodeState {
  const logs = answered === undefined ? {} : { logs: { request: answered, bytes: 0, gzip: '' } }
  const state = sampleState('w1', { agent: { ...sampleAgent(), ...logs } })
  const annotations = { [logsAnnotation]: JSON.stringify({ request: written, bytes: 1_000 }) }
  return {
    ...state,
    metadata: { ...state.metadata, ...(written !== undefined && { annotations }) },
    spec: passedOn === undefined ? {} : { logs: { request: passedOn, bytes: 1_000 } },
  }
}

test.each<[string, Requests, string]>([
  ['nobody asks', {}, 'free'],
  ['it is written', { written: 'ours' }, 'asked'],
  ['it is written over an answer that is kept', { written: 'ours', passedOn: 'theirs', answered: 'theirs' }, 'asked'],
  ['the agent has it', { passedOn: 'ours', answered: 'theirs' }, 'asked'],
  ['it is answered', { passedOn: 'ours', answered: 'ours' }, 'answered'],
  ['it is answered, and the next one asks', { written: 'theirs', passedOn: 'ours', answered: 'ours' }, 'answered'],
  ['another one was written in its place', { written: 'theirs' }, 'behind'],
  ['another one came before the agent answered', { written: 'theirs', passedOn: 'ours' }, 'behind'],
  ['the agent has another one', { passedOn: 'theirs' }, 'behind'],
  ['the agent has another one after an older answer', { passedOn: 'theirs', answered: 'older' }, 'behind'],
  ['another one is answered', { passedOn: 'theirs', answered: 'theirs' }, 'free'],
  ['another one was answered and taken back', { answered: 'theirs' }, 'free'],
])('%s', (_, requests, turn) => {
  expect(logTurn(stateOf(requests), 'ours')).toBe(turn)
})
