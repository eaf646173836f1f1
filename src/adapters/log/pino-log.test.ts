import { expect, test } from 'vitest'
import { KubeError } from '../../api/kube-error.ts'
import { pinoLog } from './pino-log.ts'

test('writes one JSON object a line, with inherited fields and the error’s code', () => {
  const lines: string[] = []
  const log = pinoLog({ level: 'info', component: 'operator', destination: { write: (line) => lines.push(line) } })
  log.debug('not shown')
  log.with({ node: 'n1' }).warn('failed', { error: new KubeError('Conflict', 'modified', { status: 409 }) })
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 'warn',
      component: 'operator',
      node: 'n1',
      msg: 'failed',
      error: { code: 'Conflict', message: 'modified' },
    },
  ])
})

test('says where an unexpected error was thrown, and only what happened of a known one', () => {
  const lines: string[] = []
  const log = pinoLog({ level: 'info', component: 'agent', destination: { write: (line) => lines.push(line) } })
  for (const error of [new KubeError('Forbidden', 'no right'), new TypeError('a bug'), 'words']) {
    log.error('failed', { error })
  }
  const errors = lines.map((line) => JSON.parse(line).error)
  expect(errors).toEqual([
    expect.not.objectContaining({ stack: expect.anything() }),
    expect.objectContaining({ message: 'a bug', stack: expect.stringContaining('pino-log.test.ts') }),
    'words',
  ])
  expect(errors[0]).toMatchObject({ type: 'KubeError', code: 'Forbidden', message: 'no right' })
})
