import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { CapturedTerminal } from '../../../test/cli/cli-fixture.ts'
import { ManualClock } from '../../../test/fakes/manual-clock.ts'
import { barText, withActivity } from './activity.ts'

function bench(changes: { readonly isTTY?: boolean; readonly quiet?: boolean } = {}) {
  const err = new CapturedTerminal()
  err.isTTY = changes.isTTY ?? true
  const clock = new ManualClock('2026-11-15T12:00:00Z')
  const options = { color: true, quiet: changes.quiet ?? false }
  return { err, clock, context: { err, clock, options } }
}

describe('a line of progress', () => {
  it('turns while nothing can be counted, shows a bar once it can, and is gone at the end', async () => {
    const { err, clock, context } = bench()
    const answer = await withActivity(context, 'reading the cluster', async (activity) => {
      await clock.advance(1000)
      expect(err.text).toMatch(/reading the cluster, 1s$/)
      activity.at('rehearsal 2 of 4', 1, 4)
      await clock.advance(200)
      expect(err.text).toMatch(/\[#{6}\.{18}\] {2}25% rehearsal 2 of 4, 1s$/)
      return 7
    })
    expect(answer).toBe(7)
    expect(err.text.endsWith('\r\u001b[2K')).toBe(true)
    const { length } = err.text
    await clock.advance(5000)
    expect(err.text).toHaveLength(length)
  })

  it('is gone as well when the work fails', async () => {
    const { err, context } = bench()
    await expect(withActivity(context, 'work', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(err.text.endsWith('\r\u001b[2K')).toBe(true)
  })

  it.each([30, 40, 80])('never fills a line of %i columns, so that it does not wrap', async (columns) => {
    const { err, clock, context } = bench()
    err.columns = columns
    await withActivity(context, 'work', async (activity) => {
      activity.at('rehearsal 200 of 400 of a cluster with a very long name', 1, 4)
      await clock.advance(400)
    })
    const lines = err.text.split('\r\u001b[2K').map((line) => stripVTControlCharacters(line))
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(columns)
    expect(lines.some((line) => line.includes('rehears'))).toBe(true)
  })

  it.each([{ isTTY: false }, { quiet: true }])('says nothing with %o', async (changes) => {
    const { err, clock, context } = bench(changes)
    await withActivity(context, 'work', async (activity) => {
      activity.at('more work', 1, 2)
      await clock.advance(1000)
    })
    expect(err.text).toBe('')
  })

  it.each([
    [0, 0, '  0%'],
    [1, 3, ' 33%'],
    [3, 3, '100%'],
    [9, 3, '100%'],
  ])('%i of %i is %s', (done, of, share) => {
    expect(barText(done, of)).toMatch(new RegExp(`^\\[[#.]{24}\\] ${share}$`))
  })
})
