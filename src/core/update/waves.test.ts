import { describe, expect, it } from 'vitest'
import type { StrategySpec, WaveStatus } from '../../api/strategy.ts'
import type { GateVerdict } from '../gates/decide-gate.ts'
import { isLost, stepWave, strategyOf, type Wave, type WaveCounts, type WaveView, waveLimit } from './waves.ts'

const now = new Date('2026-01-01T12:00:00Z')
const since = '2026-01-01T11:00:00.000Z'
const canary = strategyOf({ type: 'Canary' }).waves
const at = (index: number, part: Partial<WaveStatus> = {}): WaveStatus => ({
  ...{ index, of: 3, size: waveLimit(canary, index, 20), since },
  ...part,
})
const counts = (part: Partial<WaveCounts> = {}): WaveCounts => ({
  ...{ size: 1, open: 0, done: 0, failed: 0, unready: 0 },
  ...part,
})
const view = (part: Partial<WaveView> = {}): WaveView => ({
  ...{ waves: canary, workers: 20, recorded: at(0), counts: counts({ done: 1 }), operationID: 'op', update: 'to-1-36' },
  ...{ approvals: [], now },
  ...part,
})
const approval = (part: object = {}) => [{ operationID: 'op', wave: 0, by: 'ana', at: since, ...part }]
const soaked = { soakUntil: since }

describe('a strategy', () => {
  it.each<[string, StrategySpec | undefined, readonly (number | string)[], number | string]>([
    ['none is Rolling', undefined, ['100%'], 1],
    ['Rolling', { type: 'Rolling' }, ['100%'], 1],
    ['Parallel', { type: 'Parallel' }, ['100%'], '100%'],
    ['Parallel with a limit', { type: 'Parallel', maxUnavailable: 5 }, ['100%'], 5],
    ['Canary', { type: 'Canary' }, [1, '10%', '100%'], 1],
    ['Batches', { type: 'Batches', maxUnavailable: '10%' }, ['25%', '50%', '75%', '100%'], '10%'],
    ['waves of one’s own', { type: 'Canary', waves: [{ size: 3 }, { size: '100%' }] }, [3, '100%'], 1],
  ])('%s', (_name, spec, sizes, maxUnavailable) => {
    const strategy = strategyOf(spec)
    expect(strategy.waves.map(({ size }) => size)).toEqual(sizes)
    expect(strategy.maxUnavailable).toBe(maxUnavailable)
  })

  it.each<[string, readonly Wave[], number, readonly number[]]>([
    ['counts and percentages', canary, 40, [1, 4, 40]],
    ['a percentage is at least one node', canary, 3, [1, 1, 3]],
    ['never fewer than before', [{ size: 5 }, { size: '10%' }, { size: '100%' }], 20, [5, 5, 20]],
    ['never more than there are', [{ size: 50 }, { size: '100%' }], 3, [3, 3]],
    ['nobody', canary, 0, [0, 0, 0]],
  ])('takes in each wave: %s', (_name, waves, workers, limits) => {
    expect(waves.map((_wave, index) => waveLimit(waves, index, workers))).toEqual(limits)
  })
})

describe('the next wave', () => {
  const soakUntil = '2026-01-01T12:15:00.000Z'
  it.each<[string, Partial<WaveView>, Partial<WaveStatus>, string | undefined]>([
    ['begins with the first', { recorded: undefined, counts: counts({ open: 1 }) }, { index: 0, size: 1 }, undefined],
    ['waits for the nodes of this one', { counts: counts({ open: 1 }) }, at(0), undefined],
    ['then for the soak', {}, at(0, { soakUntil }), 'WaveSoaking'],
    [
      'and begins no soak by one that was for others',
      { recorded: at(0, { ...soaked, promotion: 'Wanted' }), counts: counts({ open: 1 }) },
      { soakUntil: undefined, promotion: undefined },
      undefined,
    ],
    ['which is not begun again', { recorded: at(0, { soakUntil }) }, at(0, { soakUntil }), 'WaveSoaking'],
    ['then for the approval', { recorded: at(0, soaked) }, at(0, { ...soaked, promotion: 'Wanted' }), 'ApprovalWanted'],
    [
      'of this very run',
      { recorded: at(0, soaked), approvals: approval({ operationID: 'old' }) },
      at(0, { ...soaked, promotion: 'Wanted' }),
      'ApprovalWanted',
    ],
    [
      'and of this very wave',
      { recorded: at(0, soaked), approvals: approval({ wave: 1 }) },
      at(0, { ...soaked, promotion: 'Wanted' }),
      'ApprovalWanted',
    ],
    [
      'begins when it is approved',
      { recorded: at(0, { ...soaked, promotion: 'Wanted' }), approvals: approval() },
      { index: 1, size: 2, since: now.toISOString() },
      undefined,
    ],
    ['but not before the soak is over', { approvals: approval() }, at(0, { soakUntil }), 'WaveSoaking'],
    [
      'begins by itself where nobody is asked',
      { recorded: at(1), counts: counts({ done: 2 }) },
      { index: 2 },
      undefined,
    ],
    ['is none after the last', { recorded: at(2), counts: counts({ done: 20 }) }, at(2), undefined],
    [
      'waits for a gate',
      { recorded: at(1), gate: () => ({ code: 'NodeNotReady', message: 'x' }) },
      at(1),
      'NodeNotReady',
    ],
    [
      'does not wait for a node that is down',
      { recorded: at(1), counts: counts({ done: 1, unready: 1 }) },
      { index: 2 },
      undefined,
    ],
    ['unless nobody else was done', { counts: counts({ unready: 1 }) }, at(0), undefined],
    ['does not begin after one that failed whole', { counts: counts({ failed: 1 }) }, at(0), undefined],
    [
      'waits for a person where nothing else is left of this one',
      { recorded: at(1), counts: counts({ size: 2, open: 1, done: 1 }), inNeed: ['w1'] },
      at(1),
      'FailedNodesInTheWay',
    ],
    [
      'says nothing of a person while others of this one are under work',
      { recorded: at(1), counts: counts({ size: 2, open: 2 }), inNeed: ['w1'] },
      at(1),
      undefined,
    ],
    [
      'keeps nobody up after the last',
      { recorded: at(2), counts: counts({ size: 20, open: 1, done: 19 }), inNeed: ['w1'] },
      at(2),
      undefined,
    ],
    [
      'does after failures that are tolerated',
      { recorded: at(1), counts: counts({ done: 1, failed: 1 }) },
      { index: 2 },
      undefined,
    ],
    [
      'passes over one that adds no node, without soak or approval',
      {
        recorded: { ...at(1), size: 1 },
        workers: 5,
        waves: [{ size: 1 }, { size: '20%', soak: '1h', promotion: 'Manual' }, { size: '100%' }],
      },
      { index: 2, size: 5 },
      undefined,
    ],
    [
      'is the last where an edit left fewer',
      { recorded: at(2), waves: [{ size: '100%' }] },
      { index: 0, of: 1 },
      undefined,
    ],
  ])('%s', (_name, part, status, reason) => {
    const step = stepWave(view(part))
    expect({ soakUntil: undefined, promotion: undefined, ...step.status }).toMatchObject(status)
    expect(step.reason?.code).toBe(reason)
  })

  it('says when to look again, and what a person can do', () => {
    expect(stepWave(view())).toMatchObject({ soaking: true, untilMs: Date.parse(soakUntil) })
    expect(stepWave(view({ recorded: at(0, soaked) })).reason?.message).toBe(
      'wave 1 of 3 is done; look at its nodes, then: slipway approve to-1-36',
    )
  })

  it.each([
    [['w1'], 'w1, which needs a person'],
    [['w1', 'w2'], 'w1, w2, which need a person'],
    [['w1', 'w2', 'w3', 'w4', 'w5'], 'w1, w2, w3 and 2 more, which need a person'],
  ])('names those that keep it up: %j', (inNeed, who) => {
    const step = stepWave(view({ counts: counts({ size: 5, open: inNeed.length, done: 1 }), inNeed }))
    const message = `wave 1 of 3 waits for ${who}; slipway why w1 tells what for and what goes on`
    expect(step).toMatchObject({ soaking: false, reason: { code: 'FailedNodesInTheWay', message } })
  })

  it('is looked at after the last one, too, where a soak is asked for', () => {
    const waves = [{ size: '100%', soak: '1h' }]
    const first = stepWave(view({ waves, recorded: undefined }))
    expect(first).toMatchObject({ soaking: true, status: { soakUntil: '2026-01-01T13:00:00.000Z' } })
    const later = new Date('2026-01-01T13:00:00Z')
    expect(stepWave(view({ waves, recorded: first.status, now: later }))).toMatchObject({ soaking: false })
  })
})

describe('a gate while a wave soaks', () => {
  const soakUntil = '2026-01-01T12:15:00.000Z'
  const reason = { code: 'GateWaiting', message: 'gate errors' } as const
  const says = (state: 'waiting' | 'unseen' | 'failed'): GateVerdict => ({ state, reason })
  const passed: GateVerdict = { state: 'passed' }
  const asked = { ...soaked, promotion: 'Wanted' } as const

  it.each<[string, GateVerdict, Partial<WaveView>, Partial<WaveStatus>, string | undefined]>([
    ['holds: the soak begins', passed, {}, { index: 0, soakUntil }, 'WaveSoaking'],
    ['not looked at: no soak begins', says('unseen'), {}, { index: 0, soakUntil: undefined }, 'GateWaiting'],
    ['does not hold: nor by that', says('waiting'), {}, { index: 0, soakUntil: undefined }, 'GateWaiting'],
    ['holds: it goes on', passed, { recorded: at(0, { soakUntil }) }, { soakUntil }, 'WaveSoaking'],
    ['not looked at: it goes on', says('unseen'), { recorded: at(0, { soakUntil }) }, { soakUntil }, 'WaveSoaking'],
    [
      'does not hold: it is broken off',
      says('waiting'),
      { recorded: at(0, { soakUntil }) },
      { soakUntil: undefined },
      'GateWaiting',
    ],
    ['failed: likewise', says('failed'), { recorded: at(0, { soakUntil }) }, { soakUntil: undefined }, 'GateWaiting'],
    [
      'holds at its end: a person is asked',
      passed,
      { recorded: at(0, soaked) },
      { index: 0, ...asked },
      'ApprovalWanted',
    ],
    [
      'not looked at since its end: the wave is not left, and the soak kept',
      says('unseen'),
      { recorded: at(0, soaked), approvals: approval() },
      { index: 0, ...soaked },
      'GateWaiting',
    ],
    [
      'does not hold at its end: it begins anew',
      says('waiting'),
      { recorded: at(0, soaked), approvals: approval() },
      { index: 0, soakUntil: undefined },
      'GateWaiting',
    ],
    [
      'does not hold while a person is waited for',
      says('waiting'),
      { recorded: at(0, asked) },
      asked,
      'ApprovalWanted',
    ],
    [
      'does not hold when the person has answered',
      says('waiting'),
      { recorded: at(0, asked), approvals: approval() },
      { index: 0, soakUntil: undefined },
      'GateWaiting',
    ],
    [
      'not looked at when the person has answered',
      says('unseen'),
      { recorded: at(0, asked), approvals: approval() },
      { index: 0, ...asked },
      'GateWaiting',
    ],
    [
      'holds when the person has answered: the next wave begins',
      passed,
      { recorded: at(0, asked), approvals: approval() },
      { index: 1 },
      undefined,
    ],
    [
      'does not hold after the last wave: it is not over',
      says('waiting'),
      { recorded: at(0, soaked), waves: [{ size: '100%', soak: '1h' }] },
      { index: 0, soakUntil: undefined },
      'GateWaiting',
    ],
    ['is not asked where nothing soaks', says('waiting'), { recorded: at(1) }, { index: 2 }, undefined],
  ])('%s', (_name, verdict, part, status, code) => {
    const step = stepWave(view({ ...part, soakGate: () => verdict }))
    expect(step.reason?.code).toBe(code)
    expect({ soakUntil: undefined, ...step.status }).toMatchObject(status)
  })
})

it.each<[WaveCounts, boolean]>([
  [counts({ failed: 1 }), true],
  [counts({ failed: 1, open: 1 }), false],
  [counts({ failed: 1, done: 1 }), false],
  [counts({ failed: 1, unready: 1 }), false],
  [counts(), false],
])('a wave is lost when none of its nodes came through: %o', (given, lost) => {
  expect(isLost(given)).toBe(lost)
})
