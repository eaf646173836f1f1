import { describe, expect, it } from 'vitest'
import { type AgentBench, idleAgent, scriptOrder } from '../../test/agent/agent-bench.ts'
import type { Job } from '../ports/host.ts'
import type { Driver } from './drivers/driver.ts'
import { packageStep } from './packages/package-step.ts'

const waiting = 'waiting: the package manager is in use by process 4711 (unattended-upgr)\n'
const minutes = 60_000

/** Its job says what the test makes it say. */
const installs: Driver = {
  name: 'script',
  concerns: () => true,
  inspect: () => Promise.resolve({}),
  steps: () => [
    {
      ...packageStep({ name: 'install-kubelet', note: 'kubelet', disruptive: false }),
      holds: () => Promise.resolve(false),
      missing: () => Promise.resolve(undefined),
      argv: () => Promise.resolve(['install']),
    },
  ],
  undo: { possible: false, because: 'it is only pretended', endsUndo: 'Never' },
}

/** An agent whose job to install runs for ten minutes. */
async function installing(exitCode = 0): Promise<{ readonly bench: AgentBench; readonly say: (text: string) => void }> {
  const bench = await idleAgent()
  bench.kill()
  bench.drivers = [installs]
  let job: Job | undefined
  bench.host.behave = (given) => {
    job = given
    return { ms: 10 * minutes, exitCode }
  }
  bench.restart()
  bench.cluster.place(scriptOrder({ timeout: '2h' }))
  await bench.clock.until(() => bench.host.executions.length === 1)
  const say = (text: string) => {
    const path = job?.logPath ?? ''
    bench.disk.putResult(path, `${bench.disk.files.get(path)?.content ?? ''}${text}`)
  }
  return { bench, say }
}

/** As the jobs do: a line every three seconds. */
async function wait(bench: AgentBench, say: (text: string) => void, seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 3) {
    say(waiting)
    await bench.clock.advance(3_000)
  }
}

describe('a package step that waits for the lock', () => {
  const held = {
    code: 'PackageLockHeld',
    message: 'step install-kubelet waits: the package manager is in use by process 4711 (unattended-upgr)',
  }

  it('says so with the name of the holder, once, until it goes on', async () => {
    const { bench, say } = await installing()
    await wait(bench, say, 9)
    expect(bench.order).toMatchObject({ state: 'Running', reason: held })
    bench.cluster.requests.length = 0
    await wait(bench, say, 120)
    expect(bench.order?.reason).toEqual(held)
    expect(bench.cluster.requests).not.toContain('patch nodestates')
    say('Unpacking kubelet (1.36.3) ...\n')
    await bench.clock.advance(6_000)
    expect(bench.order).toMatchObject({ state: 'Running', steps: [{ name: 'install-kubelet', state: 'Running' }] })
    expect(bench.order?.reason).toBeUndefined()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.order?.reason).toBeUndefined()
  })

  it('goes on also where it says nothing about it', async () => {
    const { bench, say } = await installing()
    await wait(bench, say, 30)
    expect(bench.order?.reason).toEqual(held)
    await bench.clock.advance(30_000)
    expect(bench.order?.state).toBe('Running')
    expect(bench.order?.reason).toBeUndefined()
  })

  it('says so again in another life of the agent', async () => {
    const { bench, say } = await installing()
    bench.kill()
    bench.restart()
    await wait(bench, say, 12)
    expect(bench.order?.reason).toEqual(held)
  })

  it('says so in its failure, where the other keeps the lock for too long', async () => {
    const { bench, say } = await installing(75)
    await wait(bench, say, 30)
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('PackageLockHeld')
    expect(bench.order?.steps[0]?.attempts).toBe(3)
  })

  it('says so also where the host could not be asked once how the job is', async () => {
    const { bench, say } = await installing()
    const { look } = bench.host
    bench.host.look = () => Promise.reject(new Error('systemd says nothing'))
    await wait(bench, say, 33)
    bench.host.look = look
    expect(bench.logged('systemd says nothing')).toHaveLength(1)
    expect(bench.order?.reason).toEqual(held)
    await wait(bench, say, 33)
    expect(bench.order?.reason).toEqual(held)
    bench.host.fillUp()
    await bench.clock.until(() => bench.order?.reason?.code === 'JournalUnwritable')
  })

  it('is not taken for one where its words only look like it', async () => {
    const { bench, say } = await installing()
    say('Setting up kubelet (1.36.3) ...\nnot waiting: for anybody\n')
    await bench.clock.advance(12_000)
    expect(bench.order?.state).toBe('Running')
    expect(bench.order?.reason).toBeUndefined()
  })
})
