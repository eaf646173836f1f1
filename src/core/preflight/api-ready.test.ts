import { describe, expect, it } from 'vitest'
import { answerOf, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import { apiReady } from './api-ready.ts'

describe('the check ApiReady', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['it is', {}, 'Passed: the API server says it is ready'],
    [
      'it is not',
      { sights: { api: { seen: { ready: false, failing: '[-]etcd failed' } } } },
      'Failed: the API server is not ready: [-]etcd failed',
    ],
    ['it could not be asked', { sights: { api: unseen } }, `Unknown: ${unseen.unseen}`],
    ['nobody has looked', { sights: 'none' }, undefined],
    [
      'skipped',
      { sights: { api: unseen }, spec: { reboot: 'Always', preflight: { skip: ['ApiReady'] } } },
      `Skipped: skipped; it would have said Unknown: ${unseen.unseen}`,
    ],
  ])('%s', (_name, traits, answer) => expect(answerOf(apiReady, traits)).toBe(answer))
})
