import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SystemClock } from './system-clock.ts'

test('fires in order, once, and not after it was cancelled', async () => {
  const clock = new SystemClock()
  const fired: string[] = []
  clock.after(10, () => fired.push('b'))
  clock.after(5, () => fired.push('a'))
  clock.after(7, () => fired.push('never'))()
  const cancelFarAway = clock.after(2 ** 40, () => fired.push('at once?'))
  await wait(40)
  cancelFarAway()
  expect(fired).toEqual(['a', 'b'])
})
