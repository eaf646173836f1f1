import { expect, it } from 'vitest'
import { turnTimer, usedMs } from './timer.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute))

it('counts only while work is allowed', () => {
  const started = turnTimer(undefined, true, at(0))
  expect(usedMs(started, at(10))).toBe(600_000)
  expect(turnTimer(started, true, at(5))).toBe(started)
  const stopped = turnTimer(started, false, at(10))
  expect(stopped).toEqual({ usedSeconds: 600 })
  expect(usedMs(stopped, at(50))).toBe(600_000)
  const again = turnTimer(stopped, true, at(50))
  expect(usedMs(again, at(55))).toBe(900_000)
})

it('is not fooled by a clock that went back', () => {
  expect(usedMs({ usedSeconds: 60, runningSince: at(10).toISOString() }, at(5))).toBe(60_000)
})
