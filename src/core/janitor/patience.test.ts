import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Finding, noteFinding, pauseMs, sweepMs } from './patience.ts'

describe('when something left behind is told', () => {
  it('within a minute, whenever it was left and whatever it waits for meanwhile', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: sweepMs }),
        fc.array(fc.constantFrom('the agent', 'the node', 'the ledger'), { minLength: 10 }),
        (leftBeforeMs, messages) => {
          let nowMs = 0
          let finding: Finding | undefined
          for (const message of messages) {
            finding = noteFinding(finding, message, nowMs)
            if (finding.told !== undefined) break
            nowMs += pauseMs([finding], nowMs)
          }
          expect(finding?.told).toBeDefined()
          expect(leftBeforeMs + nowMs).toBeLessThan(60_000)
        },
      ),
    )
  })

  it('not at once: most is put right by then', () => {
    const seen = noteFinding(undefined, 'the agent', 0)
    expect(noteFinding(seen, 'the agent', sweepMs).told).toBeUndefined()
  })

  it('again where it waits for something else', () => {
    const told = noteFinding({ sinceMs: 0 }, 'the agent', 60_000)
    expect(noteFinding(told, 'the node', 80_000)).toEqual({ sinceMs: 0, told: 'the node' })
  })

  it.each<[string, readonly Finding[], number]>([
    ['nothing is left', [], sweepMs],
    ['all is told', [{ sinceMs: 0, told: 'x' }], sweepMs],
    ['one was seen just now', [{ sinceMs: 50_000 }], sweepMs],
    ['one is due before', [{ sinceMs: 50_000 }, { sinceMs: 20_000 }], 5_000],
    ['one is overdue', [{ sinceMs: 0 }], 1],
  ])('the next sweep where %s', (_name, findings, ms) => expect(pauseMs(findings, 50_000)).toBe(ms))
})
