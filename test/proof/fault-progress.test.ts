import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  type FaultProgress,
  loadProgress,
  nothingDone,
  runsDone,
  type SliceReport,
  saveProgress,
  slicesLeft,
  withSlice,
} from './fault-progress.ts'

const path = join(mkdtempSync(join(tmpdir(), 'slipway-progress-')), 'deep/fault-runs.json')
const slice = (first: number, last: number, more: Partial<SliceReport> = {}): SliceReport => ({
  first,
  last,
  commit: 'abc',
  cpuSeconds: 1,
  violations: [],
  faults: { 'conflict none': 2 },
  together: { conflict: 1 },
  ...more,
})
const having = (...slices: readonly SliceReport[]): FaultProgress => slices.reduce(withSlice, nothingDone('of today'))
const spans = (progress: FaultProgress, last: number) =>
  slicesLeft(progress, last, 10).map((range) => `${range.first}..${range.last}`)

describe('what is left to run', () => {
  const broken = { violations: [{ seed: 12, rule: '1', message: 'too many' }] }
  it.each([
    ['all of it at first', having(), 25, ['1..10', '11..20', '21..25']],
    ['what comes after what is done', having(slice(1, 10)), 25, ['11..20', '21..25']],
    ['a gap that one lane left', having(slice(1, 10), slice(21, 30)), 35, ['11..20', '31..35']],
    ['the rest of a cut slice, when more is asked for', having(slice(1, 7)), 20, ['8..17', '18..20']],
    ['nothing, when less is asked for', having(slice(1, 30)), 20, []],
    ['a lone seed before what is done', having(slice(2, 10)), 10, ['1..1']],
    ['nothing of a broken slice', having(slice(1, 10), slice(11, 20, broken)), 20, []],
  ])('is %s', (_, progress, last, expected) => {
    expect(spans(progress, last)).toEqual(expected)
  })
})

describe('what was done', () => {
  it('is summed up, and ranges of one commit that touch are one', () => {
    const progress = having(slice(11, 20), slice(1, 10))
    expect(progress.done).toEqual([{ first: 1, last: 20, commit: 'abc' }])
    expect(progress.faults).toEqual({ 'conflict none': 4 })
    expect(progress.together).toEqual({ conflict: 2 })
    expect(runsDone(progress)).toBe(20)
  })

  it('keeps what a broken slice showed out of its figures', () => {
    const broken = slice(11, 20, { violations: [{ seed: 12, rule: '1', message: 'too many' }] })
    const progress = having(slice(1, 10), broken)
    expect(progress.faults).toEqual({ 'conflict none': 2 })
    expect(progress.broken).toEqual([{ first: 11, last: 20, commit: 'abc', violations: broken.violations }])
    expect(runsDone(progress)).toBe(10)
  })

  it('comes back from its file, and a broken file says what to do', () => {
    expect(loadProgress(path)).toBeUndefined()
    const progress = having(slice(1, 10))
    saveProgress(path, progress)
    expect(loadProgress(path)).toEqual(progress)
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 20))
    expect(() => loadProgress(path)).toThrow('remove it to start anew')
  })
})
