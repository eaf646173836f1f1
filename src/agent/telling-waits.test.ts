import { describe, expect, it, vi } from 'vitest'
import { idleAgent, scriptOrder } from '../../test/agent/agent-bench.ts'
import { ManualClock } from '../../test/fakes/manual-clock.ts'
import { RecordingLog } from '../../test/fakes/recording-log.ts'
import type { Reason } from '../api/reason.ts'
import { type LookForWait, tellingWaits } from './telling-waits.ts'

const signal = new AbortController().signal
const held: Reason = { code: 'PackageLockHeld', message: 'held' }

/** A wait that lasts a minute. */
async function waitFor(looks: readonly LookForWait[]) {
  const clock = new ManualClock()
  const log = new RecordingLog()
  const told: (string | undefined)[] = []
  const tell = (reason: Reason | undefined) => void told.push(reason?.message)
  const work = () => new Promise<void>((resolve) => void clock.after(60_500, resolve))
  const waited = tellingWaits({ clock, log, looks, tell }, work, signal)
  await clock.advance(61_000)
  await waited
  expect(clock.pendingTimers).toBe(0)
  return { told, lines: log.lines }
}

describe('a look for what is waited for', () => {
  it('that fails keeps no other from being told, is logged and asked again', async () => {
    let asked = 0
    const failing = {
      everyMs: 5_000,
      look: () =>
        ++asked < 4 ? Promise.reject(new Error('no answer')) : Promise.resolve({ ...held, message: 'seen' }),
    }
    const { told, lines } = await waitFor([failing, { everyMs: 10_000, look: () => Promise.resolve(held) }])
    expect(told).toEqual(['held', 'seen', undefined])
    expect(lines).toEqual([
      { level: 'warn', message: 'cannot see what a step waits for', fields: { error: 'no answer' } },
    ])
  })

  it('that gets no answer holds no other up', async () => {
    const mute = { everyMs: 5_000, look: () => new Promise<undefined>(() => undefined) }
    const { told } = await waitFor([mute, { everyMs: 10_000, look: () => Promise.resolve(held) }])
    expect(told).toEqual(['held', undefined])
  })

  it('is asked as often as it says', async () => {
    const [often, seldom] = [5_000, 30_000].map((everyMs) => ({
      everyMs,
      look: vi.fn(() => Promise.resolve(undefined)),
    }))
    await waitFor([often, seldom].flatMap((look) => look ?? []))
    expect(often?.look).toHaveBeenCalledTimes(12)
    expect(seldom?.look).toHaveBeenCalledTimes(2)
  })

  it('is asked of a program that never says that it waits no more than twice a minute', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 600_000, exitCode: 0 })
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    await bench.clock.advance(1_000)
    const timers = vi.spyOn(bench.clock, 'after')
    await bench.clock.advance(120_000)
    expect(timers.mock.calls.filter(([ms]) => ms >= 1_000 && ms < 30_000)).toEqual([])
  })
})
