import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BackupAnswer } from '../../api/backup.ts'
import { type BackupRun, backupRunSchema, maxBackupTries } from '../../api/backup-plan.ts'
import type { BackupHost } from './host-choice.ts'
import { questionOf, type RunStep, type RunView, stepRun } from './run.ts'

const start = Date.UTC(2026, 0, 5, 10)
const subject = 'ControlPlane v1.36.3'
const host = (name: string, more: Partial<BackupHost> = {}): BackupHost => ({
  ...{ name, isReady: true, isTaken: false },
  agent: { canBackUp: true },
  ...more,
})
const view = (run: BackupRun | undefined, hosts: readonly BackupHost[], more: Partial<RunView> = {}): RunView => ({
  ...{ run, subject, label: 'to-1-36', hosts, needsKey: false, isExternal: true, now: new Date(start) },
  ...more,
})
const asked: BackupRun = { subject, try: 1, node: 'cp1', askedAt: new Date(start).toISOString(), failures: [] }
const { request = '', name = '' } = questionOf('to-1-36', asked) ?? {}
const answer = (state: BackupAnswer['state'], more: Partial<BackupAnswer> = {}): BackupAnswer => ({
  ...{ request, state, store: 'here', startedAt: new Date(start).toISOString() },
  ...more,
})
const failed = answer('Failed', { reason: { code: 'BackupFailed', message: 'connection refused' } })
const manifest = {} as NonNullable<BackupAnswer['manifest']>

describe('a backup', () => {
  it('is on record before anybody is asked', () => {
    expect(stepRun(view(undefined, [host('cp1')]))).toEqual({ step: 'record', run: asked })
  })

  it('is asked for under a name that its record alone decides', () => {
    expect(stepRun(view(asked, [host('cp1')]))).toMatchObject({ step: 'ask', question: { node: 'cp1', request, name } })
    expect(name).toMatch(/^to-1-36-20260105T100000Z-cp1-[0-9a-f]{6}$/)
    const other = { ...asked, try: 2 }
    expect(questionOf('to-1-36', other)?.request).not.toBe(request)
  })

  it.each<[string, Partial<BackupHost>, RunStep['step']]>([
    ['is waited for', { asked: request }, 'wait'],
    ['is waited for while it runs', { asked: request, answer: answer('Running') }, 'wait'],
    ['has succeeded', { asked: request, answer: answer('Succeeded', { manifest }) }, 'succeeded'],
    ['is asked for again where the question was lost', { asked: undefined }, 'ask'],
    [
      'is not answered by the answer to another question',
      { asked: request, answer: { ...failed, request: 'x' } },
      'wait',
    ],
  ])('%s', (_what, state, step) => {
    expect(stepRun(view(asked, [host('cp1', state)])).step).toBe(step)
  })

  it.each([
    ['just now, where it is seen in time', 5, 5],
    ['as long ago as an answer may take, where nobody led meanwhile', 600, 62],
  ])('counts as made %s', (_when, seenMinutes, madeMinutes) => {
    const hosts = [host('cp1', { asked: request, answer: answer('Succeeded', { manifest }) })]
    const step = stepRun(view(asked, hosts, { now: new Date(start + seenMinutes * 60_000) }))
    expect(step).toMatchObject({ step: 'succeeded', at: new Date(start + madeMinutes * 60_000) })
  })

  it('that failed is tried on another host, a while later', () => {
    const step = stepRun(view(asked, [host('cp1', { asked: request, answer: failed }), host('cp2')]))
    expect(step).toMatchObject({ step: 'record', failure: { node: 'cp1' }, run: { failures: [{ node: 'cp1' }] } })
    if (step.step !== 'record') return
    expect(step.run.node).toBeUndefined()
    const hosts = [host('cp1'), host('cp2')]
    expect(stepRun(view(step.run, hosts))).toMatchObject({ step: 'wait', untilMs: start + 10_000 })
    const later = { now: new Date(start + 10_000) }
    expect(stepRun(view(step.run, hosts, later))).toMatchObject({ step: 'record', run: { node: 'cp2', try: 2 } })
    // A clock that was put back, or the one of another leader: nobody waits for hours.
    const earlier = { now: new Date(start - 3 * 3_600_000) }
    expect(stepRun(view(step.run, hosts, earlier))).toMatchObject({ step: 'record', run: { node: 'cp2', try: 2 } })
  })

  it.each([
    ['is not Ready', [host('cp1', { isReady: false, asked: request }), host('cp2')]],
    ['is gone', [host('cp2')]],
  ])('whose host %s is asked of another, and that counts as no failure', (_what, hosts) => {
    const step = stepRun(view(asked, hosts))
    expect(step).toMatchObject({ step: 'record', run: { failures: [], try: 1 } })
    if (step.step !== 'record') return
    const later = { now: new Date(start + 5_000) }
    expect(stepRun(view(step.run, hosts, later))).toMatchObject({ step: 'record', run: { node: 'cp2', try: 2 } })
  })

  it('that nobody answers has failed after its time', () => {
    const hosts = [host('cp1', { asked: request })]
    const untilMs = start + 62 * 60_000
    expect(stepRun(view(asked, hosts, { now: new Date(untilMs) }))).toMatchObject({ step: 'wait', untilMs })
    const step = stepRun(view(asked, hosts, { now: new Date(untilMs + 1) }))
    expect(step).toMatchObject({
      step: 'record',
      failure: { reason: { message: expect.stringContaining('within 1h') } },
    })
  })

  it('waits where no host can be asked', () => {
    expect(stepRun(view(undefined, []))).toMatchObject({ step: 'wait', reason: { code: 'BackupHostMissing' } })
  })

  it('for something else begins anew', () => {
    const step = stepRun(view({ ...asked, try: 3 }, [host('cp1')], { subject: 'FirstWorker v1.36.3' }))
    expect(step).toMatchObject({ step: 'record', run: { subject: 'FirstWorker v1.36.3', try: 1 } })
  })

  const at = new Date(start).toISOString()
  const failure = { node: 'cp1', at, reason: { code: 'BackupFailed', message: 'connection refused' } } as const
  const over: BackupRun = { subject, try: 3, retried: 'a', failures: [failure, { ...failure, node: 'cp2' }, failure] }

  it.each([[undefined], ['a']])('that failed three times waits for a person (word: %s)', (retry) => {
    expect(stepRun(view(over, [host('cp1')], { retry }))).toEqual({
      step: 'failed',
      reason: {
        code: 'BackupFailed',
        message: 'a backup of etcd failed 3 times (on cp1, cp2), the last time: connection refused',
        since: at,
      },
    })
  })

  it('is tried again when somebody says so, under another name', () => {
    const step = stepRun(view(over, [host('cp1')], { retry: 'b' }))
    expect(step).toMatchObject({ step: 'record', run: { try: 4, failures: [], node: 'cp1' } })
  })

  it('never asks two hosts at once, never more than three times, and keeps to its schema', () => {
    const event = fc.record({
      host: fc.nat(2),
      what: fc.constantFrom('answer', 'fail', 'lose', 'return', 'time'),
      ms: fc.nat(5_000_000),
    })
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const hosts = new Map(['cp1', 'cp2', 'cp3'].map((one) => [one, host(one)]))
        let run: BackupRun | undefined
        let now = start
        let failures = 0
        for (const { host: index, what, ms } of events) {
          const one = `cp${index + 1}`
          const there = hosts.get(one) ?? host(one)
          if (what === 'time') now += ms
          if (what === 'lose') hosts.set(one, { ...there, isReady: false })
          if (what === 'return') hosts.set(one, { ...there, isReady: true })
          if (what === 'fail' && there.asked !== undefined)
            hosts.set(one, { ...there, answer: { ...failed, request: there.asked } })
          const step = stepRun(view(run, [...hosts.values()], { now: new Date(now) }))
          if (step.step === 'record') {
            run = backupRunSchema.parse(step.run)
            if (step.failure) failures++
          }
          if (step.step === 'ask') {
            const { node } = step.question
            expect(run?.node).toBe(node)
            hosts.set(node, { ...(hosts.get(node) ?? host(node)), asked: step.question.request })
          }
        }
        expect(failures).toBeLessThanOrEqual(maxBackupTries)
      }),
    )
  })
})
