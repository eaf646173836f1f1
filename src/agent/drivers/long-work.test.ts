import { describe, expect, it } from 'vitest'
import { kubernetesOrder } from '../../../test/agent/agent-bench.ts'
import { StepBench } from '../../../test/agent/step-bench.ts'
import { longWork } from './long-work.ts'

const work = { name: 'pull-image', argv: ['crictl', 'pull', 'pause:3.10'], timeoutMs: 90_000 }

function bench(exitCode = 0, output = ''): StepBench {
  const made = new StepBench(kubernetesOrder())
  made.host.behave = () => ({ ms: 0, exitCode, output })
  return made
}

describe('long work', () => {
  it('runs in a unit of its own, is given its time, and says how it ended', async () => {
    const made = bench(3, 'not found')
    expect(await longWork(made.context, work, made.signal)).toEqual({ exitCode: 3, output: 'not found' })
    expect(made.host.executions).toMatchObject([
      { argv: ['timeout', '-k', '10', '90', 'crictl', 'pull', 'pause:3.10'], ended: true },
    ])
  })

  it('is waited for by the next life of the agent, not started again', async () => {
    const made = bench()
    made.host.behave = () => ({ ms: 60_000, exitCode: 0, output: 'pulled' })
    const life = new AbortController()
    const cut = longWork(made.context, work, life.signal)
    await expect.poll(() => made.host.executions.length).toBe(1)
    life.abort(new Error('the agent ends'))
    await expect(cut).rejects.toThrow('the agent ends')
    const next = longWork(made.context, work, made.signal)
    await made.clock.advance(60_000)
    expect(await next).toEqual({ exitCode: 0, output: 'pulled' })
    expect(made.host.executions).toHaveLength(1)
  })

  it('whose end was told is done again when asked for again', async () => {
    const made = bench()
    await longWork(made.context, work, made.signal)
    await longWork(made.context, work, made.signal)
    expect(made.host.executions).toHaveLength(2)
  })

  it('that a boot cut off is started again', async () => {
    const made = bench()
    made.host.behave = () => ({ ms: 60_000, exitCode: 0 })
    const life = new AbortController()
    const cut = longWork(made.context, work, life.signal)
    await expect.poll(() => made.host.executions.length).toBe(1)
    life.abort(new Error('power'))
    await expect(cut).rejects.toThrow('power')
    made.host.losePower(() => 1)
    made.host.behave = () => ({ ms: 0, exitCode: 0 })
    expect(await longWork(made.context, work, made.signal)).toMatchObject({ exitCode: 0 })
    expect(made.host.executions).toHaveLength(2)
  })

  it('of other words is other work', async () => {
    const made = bench()
    await longWork(made.context, work, made.signal)
    await longWork(made.context, { ...work, argv: ['crictl', 'pull', 'etcd:3.6'] }, made.signal)
    expect(new Set(made.host.executions.map(({ step }) => step)).size).toBe(2)
  })

  it.each([
    [124, /did not end within 1m30s$/],
    [137, /did not end within 1m30s, or was killed/],
  ])('that took too long (exit code %s) says so', async (exitCode, message) => {
    const made = bench(exitCode)
    await expect(longWork(made.context, work, made.signal)).rejects.toMatchObject({
      code: 'CommandTimedOut',
      message: expect.stringMatching(message),
    })
  })

  it('that was killed by hand is a failure that may pass', async () => {
    const made = bench()
    made.host.behave = () => ({ ms: 60_000, exitCode: 0 })
    const ended = longWork(made.context, work, made.signal)
    await expect.poll(() => made.host.executions.length).toBe(1)
    await made.host.end({ pid: 100, startTime: '100', bootId: 'boot-1' })
    await expect(ended).rejects.toMatchObject({ code: 'StagingFailed' })
  })
})
