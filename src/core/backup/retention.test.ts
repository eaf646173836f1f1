import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FoundBackup, outdatedBackups, type RetentionQuestion } from './retention.ts'

const now = new Date('2026-06-01T00:00:00Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString()
const backup = (hours: number, part: { cluster?: string; objectBytes?: number | undefined } = {}): FoundBackup => ({
  manifest: { name: `b${hours}`, at: hoursAgo(hours), cluster: part.cluster ?? 'c1', bytes: 10 },
  objectBytes: 'objectBytes' in part ? part.objectBytes : 10,
})
const ask = (found: readonly FoundBackup[], part: Partial<RetentionQuestion> = {}) =>
  outdatedBackups({ found, retention: {}, made: 'b0', cluster: 'c1', now, ...part })

describe('old backups', () => {
  const five = [0, 10, 20, 30, 40].map((hours) => backup(hours))
  it.each([
    { name: 'all stay without a limit', retention: {}, gone: [] },
    { name: 'by count', retention: { count: 3 }, gone: ['b40', 'b30'] },
    { name: 'by age', retention: { age: '25h' }, gone: ['b40', 'b30'] },
    { name: 'by what comes first', retention: { count: 4, age: '15h' }, gone: ['b40', 'b30', 'b20'] },
    {
      name: 'the newest stays whatever its age',
      retention: { count: 1, age: '1s' },
      gone: ['b40', 'b30', 'b20', 'b10'],
    },
  ])('$name', ({ retention, gone }) => {
    expect(ask(five, { retention })).toEqual(gone)
  })

  it('of another cluster stay, and do not count', () => {
    const found = [...five, ...[1, 2, 3].map((hours) => backup(hours, { cluster: 'c2' }))]
    expect(ask(found, { retention: { count: 4 } })).toEqual(['b40'])
    expect(ask(found, { retention: { count: 1 }, cluster: undefined })).toEqual([])
  })

  it('of which something else lies there stay, and do not count as good', () => {
    const found = [backup(0), backup(10, { objectBytes: 9 }), backup(20), backup(30)]
    expect(ask(found, { retention: { count: 2 } })).toEqual(['b30'])
  })

  it('whose object is gone leave nothing behind', () => {
    const found = [backup(0), backup(10), backup(20, { objectBytes: undefined })]
    expect(ask(found, { retention: { count: 1 } })).toEqual(['b20', 'b10'])
  })

  it('made while the clock was wrong: the one of just now stays, and so does the newest', () => {
    const found = [backup(-100), backup(10), backup(20)]
    expect(ask(found, { retention: { count: 1 }, made: 'b20' })).toEqual(['b10'])
  })

  it('never leave a cluster without a good one, and never go twice', () => {
    const drawn = fc.array(
      fc.record({
        hours: fc.integer({ min: -50, max: 2_000 }),
        cluster: fc.constantFrom('c1', 'c2'),
        objectBytes: fc.constantFrom(10, 10, 10, 9, undefined),
      }),
      { maxLength: 30 },
    )
    const limits = fc.record(
      { count: fc.integer({ min: 1, max: 10 }), age: fc.constantFrom('1s', '24h', '1000h') },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(drawn, limits, fc.nat(), (all, retention, pick) => {
        const found = all.map(({ hours, cluster, objectBytes }, at) => {
          const one = backup(hours, { cluster, objectBytes })
          return { ...one, manifest: { ...one.manifest, name: `n${at}` } }
        })
        const made = found[pick % Math.max(1, found.length)]?.manifest.name ?? 'none'
        const gone = new Set(ask(found, { retention, made }))
        const left = found.filter(({ manifest }) => !gone.has(manifest.name))
        const isGood = ({ manifest, objectBytes }: FoundBackup) =>
          objectBytes === manifest.bytes && manifest.cluster === 'c1'
        const newestAt = Math.max(...found.filter(isGood).map(({ manifest }) => Date.parse(manifest.at)))
        expect(left.some(isGood)).toBe(found.some(isGood))
        if (found.some(isGood)) {
          expect(Math.max(...left.filter(isGood).map(({ manifest }) => Date.parse(manifest.at)))).toBe(newestAt)
        }
        expect(gone.has(made)).toBe(false)
        for (const { manifest, objectBytes } of found) {
          if (manifest.cluster !== 'c1' || objectBytes === 9) expect(gone.has(manifest.name)).toBe(false)
        }
        if (retention.count !== undefined) {
          // The one made just now may be one more.
          expect(left.filter(isGood).length).toBeLessThanOrEqual(retention.count + 1)
        }
        expect(ask(left, { retention, made })).toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })
})
