import { describe, expect, it } from 'vitest'
import { RunDigest } from '../../src/main/simulation/run-digest.ts'
import { tellHistory } from './crash-history.ts'
import { tellPair, tellSingle, type Violation } from './exhaustive-lane.ts'
import { spread } from './exhaustive-record.ts'

/** First crashes of the pairs told here, and how many seconds of each; make exhaustive tells them all. */
const slice = { firsts: 30, seconds: 5 }

const untroubled = await tellHistory({ crashes: [] })
const { points } = untroubled

describe('an update of three nodes', () => {
  it('has crash points of every kind, of the operator and of each agent', () => {
    expect(untroubled.findings).toEqual([])
    const kinds = points.map(({ victim, what }) => `${victim} ${what.split(' ').slice(0, 2).join(' ')}`)
    expect(kinds).toEqual(
      expect.arrayContaining([
        'operator at the',
        'operator when a',
        'operator before patch',
        'operator after evict',
        ...['cp1', 'w1', 'w2'].flatMap((node) =>
          ['before patch', 'after patch', 'after write', 'after rename', 'after hold', 'after release'].map(
            (kind) => `agent/${node} ${kind}`,
          ),
        ),
      ]),
    )
  })

  it('is told with each of them once, whatever their number', () => {
    for (const count of [1, 2, 191, 197, 2 * 193, points.length, 197 * 193])
      expect(spread(count).toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
  })

  it(`comes to its right end whichever of ${points.length} points a process dies at`, async () => {
    const violations: Violation[] = []
    for (const [first, point] of points.entries()) violations.push(...(await tellSingle(first, point)).violations)
    expect(violations).toEqual([])
  })

  it('and at a slice of the pairs of points', async () => {
    const violations: Violation[] = []
    for (const first of spread(points.length).slice(0, slice.firsts)) {
      const single = await tellHistory({ crashes: [first] })
      const left = single.points.length - first - 1
      for (let index = 0; index < slice.seconds; index++) {
        const second = first + 1 + Math.floor((index * left) / slice.seconds)
        if (second < single.points.length) violations.push(...(await tellPair(first, second, single)).violations)
      }
    }
    expect(violations).toEqual([])
  })

  it('moments that are folded into one point are followed by the same history, to the byte', async () => {
    const { points: moments } = await tellHistory({ crashes: [], unfolded: true })
    const different: string[] = []
    let told = { moment: -1, digest: '' }
    for (const [moment, { victim, isSame, what }] of moments.entries()) {
      if (!isSame) continue
      const original = moments.findLastIndex(
        (other, index) => index < moment && other.victim === victim && !other.isSame,
      )
      if (told.moment !== original) told = { moment: original, digest: await digestOf(original) }
      if ((await digestOf(moment)) !== told.digest) different.push(`${moment}: ${victim} ${what}`)
    }
    expect(moments.filter(({ isSame }) => isSame)).toHaveLength(untroubled.folded)
    expect(different).toEqual([])
  })
})

async function digestOf(moment: number): Promise<string> {
  const digest = new RunDigest()
  const history = await tellHistory(
    { crashes: [moment], unfolded: true },
    { watch: (cluster) => digest.watch(cluster) },
  )
  expect(history.struck).toHaveLength(1)
  return JSON.stringify(digest.recorded(0))
}
