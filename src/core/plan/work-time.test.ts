import { expect, it } from 'vitest'
import type { StepTime } from './step-times.ts'
import { workTime } from './work-time.ts'

const minute = 60_000
const step = (medianMs: number, measured: number): StepTime => ({ leastMs: 0, mostMs: medianMs, medianMs, measured })
const work = { kubernetes: { version: 'v1.36.3' } }

it.each([
  { role: 'ControlPlane' as const, seen: 1, time: { ms: 6 * minute, isMeasured: true } },
  { role: 'Worker' as const, seen: 0, time: { ms: 2 * minute, isMeasured: true } },
  { role: 'ControlPlane' as const, seen: 0, time: { ms: 6 * minute, isMeasured: false } },
])('of a $role is the sum of its steps, known only if each of them is', ({ role, seen, time }) => {
  const times = new Map([
    ['upgrade-control-plane', step(4 * minute, seen)],
    ['upgrade-kubelet', step(minute, 3)],
    ['restart-kubelet', step(minute, 2)],
    ['reboot', step(9 * minute, 0)],
  ])
  expect(workTime(work, role, times)).toEqual(time)
})

it('of nothing is not known', () => {
  expect(workTime({}, 'Worker', new Map())).toEqual({ ms: 0, isMeasured: false })
})
