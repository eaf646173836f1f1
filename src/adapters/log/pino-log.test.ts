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
