import { describe, expect, it } from 'vitest'
import { play, type Story, type StoryOptions } from './story.ts'

const options: StoryOptions = { nodes: 2, operators: 1 }
const victim = 'agent/w1'

const upgrade = ['upgrade-kubelet', 'restart-kubelet']
const cases = (['write', 'disk'] as const).flatMap((at) => [
  { at, what: 'script' as const, steps: ['script'] },
  { at, what: 'kubernetes' as const, steps: upgrade },
])

describe('the agent dies', () => {
  it.each(cases)(
    'at each $at of its $what work, before or after it took effect: each step runs once',
    async (given) => {
      const { at, what, steps } = given
      const oneUpdate = async ({ cluster, update }: Story): Promise<void> => {
        await (what === 'script' ? update.script('true') : update.kubernetes('v1.36.3')).succeeds()
        expect(cluster.machine('w1').host.executions.map(({ step }) => step)).toEqual(steps)
      }
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
