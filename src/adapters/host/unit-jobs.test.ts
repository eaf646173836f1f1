// How units behave is tested on booted machines, in test/e2e/unit-jobs.test.ts.

import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { FileDisk } from '../disk/file-disk.ts'
import { MachineFiles } from './machine-files.ts'
import { startArguments, UnitJobs } from './unit-jobs.ts'
import { parseUnitState } from './unit-state.ts'

describe('what systemd-run is told', () => {
  it('keeps every argument as it is, and has no variable filled in', () => {
    const argv = startArguments('slipway-1.service', {
      name: 'slipway-1',
      argv: ['echo', '$HOME', '$$', 'a b'],
      env: { SLIPWAY_ORDER: 'op-1', SLIPWAY_STEP: 'upgrade', PRICE: '$5' },
      logPath: '/l',
      logBytes: 1024,
      resultPath: '/r',
    })
    expect(argv.slice(-8)).toEqual(['slipway-job', '/r', '/l', '2', 'echo', '$$HOME', '$$$$', 'a b'])
    expect(argv).toContain('--setenv=PRICE=$5')
    expect(argv).toContain('--description=Slipway order op-1, step upgrade')
  })
})

describe('what systemctl shows', () => {
  it.each([
    { name: 'running', text: 'MainPID=42\nActiveState=active\nInvocationID=ab\n', isRunning: true, invocation: 'ab' },
    {
      name: 'ending',
      text: 'MainPID=0\nActiveState=deactivating\nInvocationID=ab\n',
      isRunning: true,
      invocation: 'ab',
    },
    { name: 'failed', text: 'MainPID=0\nActiveState=failed\nInvocationID=ab\n', isRunning: false, invocation: 'ab' },
    { name: 'not there', text: 'MainPID=0\nActiveState=inactive\nInvocationID=\n', isRunning: false, invocation: '' },
    {
      name: 'given up, with processes that cannot be killed',
      text: 'MainPID=0\nActiveState=failed\nInvocationID=ab\nTasksCurrent=2\n',
      isRunning: true,
      invocation: 'ab',
    },
    ...['0', '[not set]', '18446744073709551615'].map((tasks) => ({
      name: `failed, with ${tasks} tasks`,
      text: `MainPID=0\nActiveState=failed\nInvocationID=ab\nTasksCurrent=${tasks}\n`,
      isRunning: false,
      invocation: 'ab',
    })),
  ])('a unit that is $name', ({ text, isRunning, invocation }) => {
    expect(parseUnitState(text)).toMatchObject({ isRunning, invocation })
  })

  it('is refused where it says nothing', () => {
    expect(() => parseUnitState('')).toThrow()
  })
})

describe('waiting for the end of a unit', () => {
  it('goes on where nothing can be watched', async () => {
    const files = new MachineFiles('/no/such/root', () => Promise.resolve())
    const run = async () => {
      await delay(50)
      return { exitCode: 0, stdout: 'MainPID=0\nActiveState=inactive\nInvocationID=\n', stderr: '' }
    }
    const identity = { pid: 1, startTime: 'ab', bootId: 'b', unit: 'slipway-1.service' }
    await new UnitJobs({ root: '/no/such/root', disk: new FileDisk(), files, run }).ended(
      identity,
      new AbortController().signal,
    )
    await expect(files.watch(['/a'], () => undefined, new AbortController().signal)).rejects.toThrow()
  })
})
