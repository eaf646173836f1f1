import { expect, it } from 'vitest'
import { judgeUnit } from './kubelet-unit.ts'

const shown = (active: string, sub: string, result: string, restarts: number) =>
  `Result=${result}\nNRestarts=${restarts}\nExecMainStartTimestampMonotonic=812345678\nActiveState=${active}\nSubState=${sub}\n`

it.each([
  ['runs', shown('active', 'running', 'success', 0), { state: 'up', since: '812345678/0' }],
  ['was restarted', shown('active', 'running', 'success', 2), { state: 'up', since: '812345678/2' }],
  ['has failed', shown('failed', 'failed', 'exit-code', 0), { state: 'failed' }],
  ['is restarted again and again', shown('activating', 'auto-restart', 'exit-code', 9), { state: 'starting' }],
  ['is not there', shown('inactive', 'dead', 'success', 0), { state: 'starting' }],
  ['cannot be looked at', '', { state: 'starting' }],
])('a kubelet that %s', (_, text, expected) => {
  expect(judgeUnit(text)).toMatchObject(expected)
})
