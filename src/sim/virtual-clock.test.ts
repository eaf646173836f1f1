import { describe, expect, it } from 'vitest'
import { VirtualClock } from './virtual-clock.ts'

const sleep = (clock: VirtualClock, ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve))

describe('virtual clock', () => {
  it('fires by time, and at one time in the order asked for', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.after(20, () => seen.push('c'))
    clock.after(10, () => seen.push('a'))
    clock.after(10, () => seen.push('b'))
    clock.after(5, () => seen.push('never'))()
    expect(await clock.run({ limitMs: 100 })).toBe('idle')
    expect(seen).toEqual(['a', 'b', 'c'])
    expect(clock.monotonicMs()).toBe(20)
  })

  it('lets every microtask drain before the next timer', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.after(1, async () => {
      for (let i = 0; i < 100; i++) await undefined
      seen.push('chain')
    })
    clock.after(1, () => seen.push('next'))
    await clock.run({ limitMs: 10 })
    expect(seen).toEqual(['chain', 'next'])
  })

  it('stops at the predicate and at the limit', async () => {
    const clock = new VirtualClock()
    let ticks = 0
    const tick = () => {
      ticks++
      clock.after(1000, tick)
    }
    tick()
    expect(await clock.run({ until: () => ticks === 5, limitMs: 60_000 })).toBe('until')
    expect(await clock.run({ limitMs: 10_500 })).toBe('limit')
    expect([ticks, clock.monotonicMs()]).toEqual([15, 14_500])
  })

  it('hands on an error of a timer', async () => {
    const clock = new VirtualClock()
    clock.after(1, () => {
      throw new Error('planted')
    })
    await expect(clock.run({ limitMs: 10 })).rejects.toThrow('planted')
  })

  it('a frozen process catches up when woken, a dead one never', async () => {
    const clock = new VirtualClock()
    const scoped = clock.scoped({ skewMs: 5000 })
    const seen: number[] = []
    scoped.after(10, () => seen.push(clock.monotonicMs()))
    const dead = clock.scoped()
    dead.after(10, () => seen.push(-1))
    dead.kill()
    scoped.freeze()
    await clock.run({ limitMs: 50 })
    scoped.thaw()
    await clock.run({ limitMs: 50 })
    expect(seen).toEqual([clock.monotonicMs()])
    expect(scoped.now().getTime() - clock.nowMs()).toBe(5000)
  })

  it('what fell due while frozen can still be cancelled, freeze again, or die', async () => {
    const clock = new VirtualClock()
    const scoped = clock.scoped()
    const seen: string[] = []
    const cancel = scoped.after(10, () => seen.push('cancelled'))
    scoped.after(10, () => seen.push('twice frozen'))
    scoped.freeze()
    await clock.run({ limitMs: 20 })
    cancel()
    scoped.thaw()
    scoped.freeze()
    await clock.run({ limitMs: 20 })
    expect(seen).toEqual([])
    scoped.thaw()
    await clock.run({ limitMs: 20 })
    expect(seen).toEqual(['twice frozen'])
    scoped.after(10, () => seen.push('dead'))
    scoped.freeze()
    await clock.run({ limitMs: 20 })
    scoped.thaw()
    scoped.kill()
    await clock.run({ limitMs: 20 })
    expect(seen).toEqual(['twice frozen'])
  })

  it('cancelling many timers does not slow the rest', async () => {
    const clock = new VirtualClock()
    for (let i = 0; i < 5000; i++) clock.after(1_000_000, () => expect.unreachable())()
    let done = false
    void sleep(clock, 10).then(() => {
      done = true
    })
    await clock.run({ limitMs: 20 })
    expect(done).toBe(true)
  })
})
