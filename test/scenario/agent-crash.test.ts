import { describe, expect, it } from 'vitest'
import { play, type Story, type StoryOptions } from './story.ts'

const options: StoryOptions = { nodes: 2, operators: 1 }
const victim = 'agent/w1'

async function oneUpdate({ cluster, update }: Story): Promise<void> {
  await update.script('true').succeeds()
  expect(cluster.allRuns).toEqual({ cp1: 1, w1: 1 })
}

describe('the agent dies', () => {
  it.each(['write', 'disk'] as const)(
    'at each %s of its, before or after it took effect: the script runs once',
    async (at) => {
      let count = 0
      await play(options, async (story) => {
        await oneUpdate(story)
        count = story.faults.count(victim, at)
      })
      expect(count).toBeGreaterThan(at === 'write' ? 1 : 20)
      for (let nth = 1; nth <= count; nth++) {
        await play({ ...options, crash: { victim, before: at, nth } }, oneUpdate)
        await play({ ...options, crash: { victim, after: at, nth } }, oneUpdate)
      }
    },
  )
})
