import { describe, expect, it } from 'vitest'
import { type AgentBench, idleAgent, kubernetesOrder, scriptOrder } from '../../test/agent/agent-bench.ts'
import type { Order } from '../api/node-state.ts'
import type { AgentOptions } from './agent.ts'
import type { Driver, Step, Undo } from './drivers/driver.ts'
import { rehearsalDrivers } from './drivers/rehearsal-kubernetes.ts'
import type { StepRecord } from './journal/order-folder.ts'
import { stepNamesOf } from './order-steps.ts'
import { planUndo } from './undo-plan.ts'

const step = (name: string): Step => ({
  ...{ name, disruptive: false, attempts: 1 },
  showsEffect: false,
  argv: () => Promise.resolve([name]),
})

function driver(name: string, steps: readonly string[], undo: 'possible' | Undo, undoneWith?: 'Image'): Driver {
  return {
    ...{ name, concerns: () => true, inspect: () => Promise.resolve({}), steps: () => steps.map(step) },
    undo: undo === 'possible' ? { possible: true, steps: () => [step(`undo-${name}`)] } : undo,
    ...(undoneWith && { undoneWith }),
  }
}

const impossible: Undo = { possible: false, because: 'etcd’s data is of the newer version', endsUndo: 'WhenBegun' }
const unknown: Undo = { possible: false, because: 'only its author knows', endsUndo: 'WhenDone' }
const packages = driver('packages', ['install'], 'possible')
const kubeadm = driver('kubeadm', ['fetch', 'apply'], impossible)
const kubelet = driver('kubelet', ['kubelet'], 'possible')
const image = driver('osimage', ['boot'], 'possible', 'Image')
const reboot = driver('reboot', ['reboot'], { possible: false, because: 'x', endsUndo: 'Never' })
const all = [packages, kubeadm, kubelet, image, reboot]

const begun = { begun: { starts: 1 } } as StepRecord
const done = { done: { starts: 1 } } as StepRecord
const there = { done: { starts: 0 } } as StepRecord
const not: StepRecord = {}

function acceptedBy(order: Order, drivers: readonly Driver[]) {
  const { steps, undo } = stepNamesOf(order, drivers)
  return { steps: [...steps], undo: [...undo] }
}

describe('what is undone', () => {
  const point = { step: 'apply', because: 'etcd’s data is of the newer version' }
  it.each<[string, Order['rollback'], readonly StepRecord[], number, object]>([
    ['nothing where nothing ran', 'All', [], 0, { steps: [], isWhole: true }],
    ['the first step', 'All', [begun], 0, { steps: ['undo-packages'], isWhole: true }],
    ['not what was as it should be already', 'All', [there, not, not, not], 1, { steps: [], isWhole: true }],
    [
      'only what lies after the point of no return',
      'All',
      [done, done, done, begun],
      3,
      { steps: ['undo-kubelet'], isWhole: false, pointOfNoReturn: point },
    ],
    [
      'nothing where the step that failed is that point',
      'All',
      [done, done, begun],
      2,
      { steps: [], isWhole: false, pointOfNoReturn: point },
    ],
    ['and that is no news where nothing lies before it', 'All', [there, done, begun], 2, { steps: [], isWhole: false }],
    [
      'past a step that found its effect there',
      'All',
      [done, there, there, begun],
      3,
      { steps: ['undo-kubelet', 'undo-packages'], isWhole: true },
    ],
    ['past a boot', 'All', [done, there, there, not, not, begun], 5, { steps: ['undo-packages'], isWhole: true }],
    [
      'the image alone, where no more is asked for',
      'Image',
      [done, done, done, done, begun],
      4,
      { steps: ['undo-osimage'], isWhole: false },
    ],
    ['nothing, where that is asked for', 'Never', [done, there, there, begun], 3, { steps: [], isWhole: false }],
  ])('%s', (_name, rollback, records, failed, plan) => {
    const order = scriptOrder({ rollback })
    expect(planUndo(order, all, { accepted: acceptedBy(order, all), steps: records }, failed)).toEqual(plan)
  })
})

it.each<[string, readonly StepRecord[], number, object]>([
  ['past a script that failed', [done, begun], 1, { steps: ['undo-packages'], isWhole: false }],
  [
    'but not past one that was carried out',
    [done, done, begun],
    2,
    { steps: ['undo-kubelet'], isWhole: false, pointOfNoReturn: { step: 'script', because: 'only its author knows' } },
  ],
])('is undone %s', (_name, records, failed, plan) => {
  const drivers = [packages, driver('script', ['script'], unknown), kubelet]
  const order = scriptOrder({ rollback: 'All' })
  expect(planUndo(order, drivers, { accepted: acceptedBy(order, drivers), steps: records }, failed)).toEqual(plan)
})

describe('of an order that another version began', () => {
  const order = scriptOrder({ rollback: 'All' })
  const because = 'the order was begun by an agent of another version, which had no such way back'
  const undo = ['undo-kubelet', 'undo-packages']

  it.each<[string, { readonly steps: string[]; readonly undo?: string[] }, object]>([
    ['that lacks a step', { steps: ['install', 'kubelet'], undo }, { steps: undo, isWhole: true }],
    [
      'that knew no way back for one',
      { steps: ['install', 'kubelet'], undo: ['undo-kubelet'] },
      { steps: ['undo-kubelet'], isWhole: false, pointOfNoReturn: { step: 'install', because } },
    ],
    [
      'that worked in another order',
      { steps: ['kubelet', 'install'], undo },
      { steps: undo.toReversed(), isWhole: true },
    ],
  ])('%s', (_name, accepted, plan) => {
    const drivers = [driver('control-plane', ['move-leader'], 'possible'), packages, kubelet]
    expect(planUndo(order, drivers, { accepted, steps: [done, begun] }, 1)).toEqual(plan)
  })
})

describe('an order that failed past the point of no return', () => {
  it('says which step that was, and that it was not undone', async () => {
    const bench = await idleAgent()
    bench.kill()
    const [pretendKubeadm, ...others] = rehearsalDrivers
    bench.drivers = [packages, ...(pretendKubeadm ? [pretendKubeadm] : []), kubelet, ...others.slice(1)]
    const behave = bench.host.behave
    bench.host.behave = (job) => (job.argv[0] === 'kubelet' ? { ms: 1, exitCode: 1 } : behave(job))
    bench.restart()
    bench.cluster.place(kubernetesOrder({ role: 'ControlPlane', rollback: 'All' }))
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.host.executions.map(({ step }) => step)).toEqual([
      'install',
      'upgrade-control-plane',
      'kubelet',
      'undo-kubelet',
    ])
    expect(bench.order?.rolledBack).toBeUndefined()
    expect(bench.order?.reason).toMatchObject({
      code: 'PointOfNoReturn',
      message: expect.stringMatching(
        /step kubelet ended with exit code 1.*; step upgrade-control-plane and what came before/s,
      ),
    })
    expect(bench.order?.steps.find(({ name }) => name === 'kubelet')?.reason?.code).toBe('StepFailed')
  })
})

describe('an order that is to be put back', () => {
  const steps = ['first', 'second', 'third']
  const started = async (drivers: readonly Driver[], part: Partial<Order> = {}, agent: Partial<AgentOptions> = {}) => {
    const bench = await idleAgent()
    bench.kill()
    bench.drivers = drivers
    bench.restart(agent)
    bench.cluster.place(scriptOrder({ rollback: 'All', ...part }))
    return bench
  }
  const ran = ({ host }: Awaited<ReturnType<typeof started>>) => host.executions.map(({ step: name }) => name)
  const back = scriptOrder({ rollback: 'All', desired: 'PutBack' })
  const script = driver('script', steps, 'possible')

  it('never begins where it has not begun', async () => {
    const bench = await started([script], { desired: 'Stage' })
    await bench.clock.until(() => bench.order?.state === 'Staged')
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual([])
    expect(bench.order?.rolledBack).toBeUndefined()
  })

  it('nor where it comes as such', async () => {
    const bench = await started([script], { desired: 'PutBack' })
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual([])
  })

  it('ends its step and undoes what it did', async () => {
    const bench = await started([script])
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual(['first', 'undo-script'])
    expect(bench.order).toMatchObject({ rolledBack: true, reason: { code: 'OrderWithdrawn' } })
  })

  it('also where the step was left by a life of the agent that knew nothing of it', async () => {
    const bench = await started([script])
    await bench.clock.until(() => ran(bench).length === 1)
    bench.kill()
    bench.cluster.place(back)
    const { behave } = bench.host
    let hadEnded: boolean | undefined
    bench.host.behave = (job) => {
      if (job.argv[0] === 'undo-script') hadEnded = bench.host.executions[0]?.ended
      return behave(job)
    }
    bench.restart()
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual(['first', 'undo-script'])
    expect(hadEnded).toBe(true)
    expect(statesOf(bench)[0]).toBe('first Succeeded')
  })

  it('also when the agent is killed while it does', async () => {
    const bench = await started([script])
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(() => ran(bench).length === 2)
    bench.kill()
    bench.restart()
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual(['first', 'undo-script'])
    expect(bench.order?.rolledBack).toBe(true)
  })

  it('is finished where a step has run that cannot be undone', async () => {
    const bench = await started([driver('script', steps, impossible)])
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(ran(bench)).toEqual(steps)
  })

  it('does not try a step again that failed meanwhile', async () => {
    const patient = { ...script, steps: () => [{ ...step('first'), attempts: 3 }] }
    const bench = await started([patient])
    const { behave } = bench.host
    bench.host.behave = (job) => (job.argv[0] === 'first' ? { ms: 1000, exitCode: 3 } : behave(job))
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    expect(ran(bench)).toEqual(['first', 'undo-script'])
    expect(bench.order).toMatchObject({ rolledBack: true, reason: { code: 'OrderWithdrawn' } })
  })

  it('has failed where its step has, for the last time', async () => {
    const bench = await started([script])
    breakStep(bench, 'first')
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order).toMatchObject({ rolledBack: true, reason: { code: 'StepFailed' } })
  })

  it('waits for an obstacle to pass before it undoes what it did', async () => {
    let isInTheWay = true
    const look = ({ name }: Step) =>
      Promise.resolve(
        name === 'undo-script' && isInTheWay
          ? { code: 'EtcdUnhealthy' as const, message: 'a member is away' }
          : undefined,
      )
    const bench = await started([script], {}, { obstacle: { look } })
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(() => bench.order?.reason?.code === 'EtcdUnhealthy' || bench.order?.state === 'Failed')
    isInTheWay = false
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order).toMatchObject({ state: 'Withdrawn', rolledBack: true })
    expect(ran(bench)).toEqual(['first', 'undo-script'])
  })

  it('has failed where undoing fails', async () => {
    const bench = await started([script])
    breakStep(bench, 'undo-script')
    await bench.clock.until(() => ran(bench).length === 1)
    bench.cluster.place(back)
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason).toMatchObject({ code: 'UndoFailed', message: expect.stringContaining('undo-script') })
    expect(statesOf(bench)).toEqual(['first Succeeded', 'second Pending', 'third Pending', 'undo-script Failed'])
  })
})

/** These steps end with exit code 3, and say so. */
function breakStep({ host }: AgentBench, ...names: readonly string[]): void {
  const { behave } = host
  host.behave = (job) =>
    names.includes(job.argv[0] ?? '') ? { ms: 1, exitCode: 3, output: `no ${job.argv[0]}\n` } : behave(job)
}

function statesOf({ order }: AgentBench): readonly string[] {
  return order?.steps.map(({ name, state }) => `${name} ${state}`) ?? []
}

describe('an order that failed', () => {
  const files = driver('files', ['write'], 'possible')
  const script = driver('script', ['script'], unknown)
  const failing = async (broken: readonly string[], part: Partial<Order> = {}, drivers = [packages, files, script]) => {
    const bench = await idleAgent()
    bench.kill()
    bench.drivers = drivers
    breakStep(bench, ...broken)
    bench.restart()
    bench.cluster.place(scriptOrder({ rollback: 'All', ...part }))
    return bench
  }

  it('names both failures where undoing it fails, too', async () => {
    const bench = await failing(['script', 'undo-files'])
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(statesOf(bench)).toEqual(['install Succeeded', 'write Succeeded', 'script Failed', 'undo-files Failed'])
    const undone = bench.order?.steps.at(-1)
    expect(undone).toMatchObject({ attempts: 1, logTail: 'no undo-files\n', reason: { code: 'StepFailed' } })
    expect(bench.order?.rolledBack).toBeUndefined()
    expect(bench.order?.reason).toMatchObject({
      code: 'UndoFailed',
      message: expect.stringMatching(
        /^the host is half undone: step undo-files .*; not run after it: step undo-packages; look at it with slipway logs w1 --step undo-files.*step undo-files ended with exit code 3.*What came first: step script ended with exit code 3/s,
      ),
    })
  })

  it('also where the agent is killed in between', async () => {
    const bench = await failing(['script', 'undo-files'])
    await bench.clock.until(() => bench.host.executions.at(-1)?.step === 'undo-files')
    bench.kill()
    bench.restart()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('UndoFailed')
    expect(statesOf(bench).slice(-2)).toEqual(['script Failed', 'undo-files Failed'])
  })

  it('says so where there was no time left to undo it', async () => {
    const bench = await failing([], { timeout: '10m' })
    bench.host.behave = (job) => ({ ms: job.argv[0] === 'script' ? 3_600_000 : 1, exitCode: 0 })
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason).toMatchObject({
      code: 'UndoFailed',
      message: expect.stringMatching(/step undo-files was not run: .*What came first: step script was ended/s),
    })
    expect(statesOf(bench).at(-1)).toBe('undo-files Failed')
  })

  it('says that it was undone, and by what', async () => {
    const bench = await failing(['write'])
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order).toMatchObject({
      rolledBack: true,
      reason: {
        code: 'StepFailed',
        message: expect.stringMatching(
          /^what it had done was undone by steps undo-files, undo-packages: step write ended/,
        ),
      },
    })
    expect(bench.order?.steps.find(({ name }) => name === 'write')?.reason?.message).toMatch(/^step write ended/)
  })

  it('in part, where its script is what failed', async () => {
    const bench = await failing(['script'])
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.message).toMatch(/^of what it had done a part was undone by steps undo-files/)
  })

  it('is not said to be undone where nothing was', async () => {
    const bench = await failing(['install'], { rollback: 'Image' }, [packages, image, script])
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.rolledBack).toBeUndefined()
    expect(bench.order?.reason?.message).toMatch(/^step install ended/)
  })
})
