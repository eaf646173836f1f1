import { describe, expect, it } from 'vitest'
import type { DirectUpdateStatus, UpdateCondition } from '../../api/direct-update.ts'
import { newsOf } from './news.ts'

const at = (text: string) => `2026-01-05T${text}:00.000Z`
const condition = (type: string, status: 'True' | 'False', since: string): UpdateCondition => ({
  ...{ type, status, reason: type, message: type, lastTransitionTime: at(since) },
})
const run: DirectUpdateStatus = { operationID: 'march/1-5f2c', phase: 'InProgress', startedAt: at('08:00') }
const metadata = { name: 'march', uid: 'u1', resourceVersion: '1', creationTimestamp: at('08:00') }

const newsAt = (now: string, status: DirectUpdateStatus) => {
  const updates = [{ metadata, spec: {}, status: { ...run, ...status } }]
  return newsOf({ updates, broken: [], scheduled: [], policy: undefined }, new Date(at(now)))
}

describe('an approval that is wanted', () => {
  const wave = { index: 0, of: 2, size: 1, since: at('09:00'), promotion: 'Wanted' } as const
  const soaked = { ...wave, soakSince: at('09:30'), soakUntil: at('11:00') }
  const conditions = [condition('Blocked', 'True', '09:30')]

  it('is news from the end of the soak before it, and for as long as it is wanted', () => {
    for (const now of ['11:00', '23:00']) {
      expect(newsAt(now, { wave: soaked, conditions })).toMatchObject([{ kind: 'ApprovalWanted', at: at('11:00') }])
    }
  })

  it('is other news in each step of a path, and for each wave that is looked at anew', () => {
    const path = { current: 'v1.35.4', target: 'v1.37.1', steps: ['v1.36.3', 'v1.37.1'] }
    const keys = [
      { wave, path },
      { wave, path: { ...path, step: 1 } },
      { wave: { ...wave, since: at('10:00') }, path: { ...path, step: 1 } },
      { wave: soaked, path },
      { wave: { ...soaked, soakSince: at('10:00') }, path },
    ].map((status) => newsAt('11:00', status)[0]?.key)
    expect(keys[0]).toContain('march/1-5f2c.1 ApprovalWanted 0')
    expect(new Set(keys).size).toBe(keys.length)
  })
})

describe('an update that needs a person', () => {
  const phase = 'RequiresAttention'

  it('is news from when nothing of it ran any more, though a node needed one long before', () => {
    const conditions = [condition('Stalled', 'True', '09:00'), condition('Progressing', 'False', '10:30')]
    for (const now of ['10:30', '23:00']) {
      expect(newsAt(now, { phase, conditions })).toMatchObject([{ kind: 'NeedsAttention', at: at('10:30') }])
    }
  })
})

it('is no news any more an hour after it was over', () => {
  const status = { phase: 'Failed', finishedAt: at('09:00') } as const
  expect(newsAt('10:00', status)).toMatchObject([{ kind: 'Failed', at: at('09:00') }])
  expect(newsAt('10:01', status)).toEqual([])
})
