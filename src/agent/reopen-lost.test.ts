import { expect, test } from 'vitest'
import { scriptOrder } from '../../test/agent/agent-bench.ts'
import { ProfileBench } from '../../test/agent/profile-bench.ts'
import { nodeProfile, stateOf } from '../../test/samples/profiles.ts'
import type { Work } from '../api/work.ts'

const wanted = stateOf(nodeProfile('base', { kernelArguments: { add: ['panic=30'] } }))
const { script } = scriptOrder().work
const withScript: Work = { ...(script && { script }) }

/** Dies with its machine, which comes back without what was to be kept at its shutdown. */
function losePower(bench: ProfileBench): void {
  bench.kill()
  bench.host.losePower(() => 0)
  bench.loseKernelArguments()
  bench.clock.loseTimers(30_000)
  bench.restart()
}

test('what lost power took back is done again, and told of', async () => {
  const bench = new ProfileBench()
  bench.start()
  bench.want(wanted, { work: withScript })
  await bench.clock.until(() => bench.host.executions.length === 1)
  expect(bench.kernelArguments).toContain('panic=30')
  losePower(bench)
  await bench.clock.until(bench.hasEnded('Succeeded'))
  expect(bench.kernelArguments).toContain('panic=30')
  expect(bench.order?.warnings).toEqual([expect.stringContaining('a boot took it back (panic=30 is not set)')])
})

test('an agent that only died does nothing again', async () => {
  const bench = new ProfileBench()
  bench.start()
  bench.want(wanted, { work: withScript })
  await bench.clock.until(() => bench.host.executions.length === 1)
  bench.kill()
  bench.restart()
  await bench.clock.until(bench.hasEnded('Succeeded'))
  expect(bench.order?.warnings).toBeUndefined()
})

test('a reboot that did not keep it fails the order, and no second one is tried', async () => {
  const bench = new ProfileBench()
  let reboots = 0
  bench.host.onReboot = () => {
    reboots += 1
    return new Promise(() => undefined)
  }
  bench.start()
  bench.want(wanted, { work: { reboot: 'Always' } })
  await bench.clock.until(() => reboots === 1)
  losePower(bench)
  await bench.clock.until(bench.hasEnded('Failed'))
  expect(bench.order?.reason).toEqual({
    code: 'StepFailed',
    message:
      'step profile-kernel-arguments was done, but the machine came back from its reboot without it: panic=30 is not set; was the power lost, or is /boot full?',
  })
  expect(reboots).toBe(1)
})

test('what takes the work back is looked at again, too', async () => {
  const other = stateOf(nodeProfile('base', { kernelArguments: { add: ['audit=1'] } }))
  let losses = 0
  for (let cut = 0; ; cut++) {
    const bench = new ProfileBench()
    bench.start()
    await bench.apply(wanted)
    bench.kill()
    bench.host.behave = () => ({ ms: 1000, exitCode: 1 })
    bench.want(other, { rollback: 'All', work: withScript })
    const isDead = await bench.startAndDieAfter(cut, bench.hasEnded('Failed'))
    if (!isDead) break
    bench.host.losePower(() => 1)
    const left = bench.files()
    if (left.some((path) => path.endsWith('undo-profile-kernel-arguments.done')) && !left.some(isEnd)) {
      losses += 1
      bench.kernelArguments.delete('panic=30')
      bench.kernelArguments.add('audit=1')
    }
    bench.clock.loseTimers(30_000)
    bench.restart()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect([...bench.kernelArguments].sort(), `cut at ${cut}`).toEqual(['panic=30', 'quiet'])
  }
  expect(losses).toBeGreaterThan(0)
})

function isEnd(path: string): boolean {
  return path.endsWith('op-2/failed')
}
