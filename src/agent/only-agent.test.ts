import { describe, expect, it } from 'vitest'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { SeededRandom } from '../sim/seeded-random.ts'
import { becomesOnlyAgent } from './only-agent.ts'

function candidate() {
  const clock = new ManualClock()
  const log = new RecordingLog()
  const stop = new AbortController()
  let state: boolean | Error = true
  let asked = 0
  const take = () => {
    asked += 1
    return typeof state === 'boolean' ? Promise.resolve(state) : Promise.reject(state)
  }
  const parts = { locks: { take }, clock, random: new SeededRandom(1), log, stateDir: '/var/lib/slipway' }
  let isOnly: boolean | undefined
  const start = (is: boolean | Error) => {
    state = is
    void becomesOnlyAgent(parts, stop.signal).then((answer) => {
      isOnly = answer
    })
  }
  const becomes = (is: boolean | Error) => {
    state = is
  }
  return { clock, log, stop, start, becomes, isOnly: () => isOnly, asked: () => asked }
}

describe('an agent that starts on its host', () => {
  it('works at once where it is alone, and says nothing of it', async () => {
    const { clock, log, start, isOnly } = candidate()
    start(true)
    await clock.until(() => isOnly() === true)
    expect(log.lines).toEqual([])
  })

  it('waits while another one works, says so once, and takes over when that one is gone', async () => {
    const { clock, log, start, becomes, isOnly, asked } = candidate()
    start(false)
    await clock.advance(600_000)
    expect(isOnly()).toBeUndefined()
    expect(asked()).toBeGreaterThan(100)
    expect(log.lines).toHaveLength(1)
    expect(log.lines[0]).toMatchObject({ level: 'warn', message: 'this agent waits' })
    expect(JSON.stringify(log.lines[0])).toMatch(/AnotherAgent.*works with \/var\/lib\/slipway.*pgrep/)
    becomes(true)
    await clock.advance(4_000)
    expect(isOnly()).toBe(true)
    expect(log.lines.at(-1)).toMatchObject({ level: 'info', message: 'this agent works now' })
  })

  it.each([
    new SlipwayError('DiskFailed', '/var/lib/slipway cannot be locked', { nextStep: 'look' }),
    new Error('spawn EAGAIN'),
  ])('tries again where it cannot tell: %s', async (error) => {
    const { clock, log, start, becomes, isOnly } = candidate()
    start(error)
    await clock.advance(60_000)
    expect(isOnly()).toBeUndefined()
    expect(log.lines).toHaveLength(1)
    expect(JSON.stringify(log.lines[0])).toContain(error.message)
    becomes(true)
    await clock.until(() => isOnly() === true)
  })

  it('stops while it waits', async () => {
    const { clock, stop, start, isOnly } = candidate()
    start(false)
    await clock.advance(1_000)
    stop.abort()
    await clock.until(() => isOnly() === false)
  })
})
