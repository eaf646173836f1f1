import { describe, expect, it } from 'vitest'
import { AgentBench, idleAgent, kubernetesOrder, script, scriptOrder } from '../../test/agent/agent-bench.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import type { Driver } from './drivers/driver.ts'
import { scriptDriver } from './drivers/script.ts'
import { sha256 } from './journal/sealed-file.ts'

describe('with the API away', () => {
  it('waits before a disruptive step, and goes on when the API is back', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.cluster.goAway()
    await bench.clock.advance(600_000)
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.logged('waiting for the API before a step starts')).not.toEqual([])
    bench.cluster.comeBack()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(2)
  })

  it('goes on where the order allows it, and publishes the end when the API is back', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ role: 'ControlPlane', offline: 'Allowed' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.cluster.goAway()
    await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/orders/op-1/completed'))
    expect(bench.order?.state).toBe('Running')
    bench.cluster.comeBack()
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it('fails the order when its time is over before it may go on', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.cluster.goAway()
    await bench.clock.advance(400_000)
    bench.cluster.comeBack()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('OrderTimedOut')
  })

  it('an agent that starts meanwhile finds its step again and finishes what it may', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ role: 'ControlPlane', offline: 'Allowed' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    bench.cluster.goAway()
    bench.restart()
    await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/orders/op-1/completed'))
    expect(bench.host.executions.map(({ step }) => step)).toEqual([
      'upgrade-control-plane',
      'upgrade-kubelet',
      'restart-kubelet',
    ])
  })

  it('a lost answer to a write is looked at before the next write', async () => {
    const bench = await idleAgent()
    bench.cluster.loseNextAnswer = true
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    await bench.clock.advance(60_000)
    expect(bench.cluster.requests.filter((request) => request === 'patch nodestates')).toHaveLength(2)
  })
})

describe('a wall clock that is set while an order runs', () => {
  it.each([
    ['forward', 24 * 3_600_000],
    ['back', -24 * 3_600_000],
  ])('%s, is no time that passed', async (_, ms) => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.clock.setForward(ms)
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order?.state).toBe('Succeeded')
  })

  it('back, gives no more time', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.cluster.goAway()
    await bench.clock.advance(200_000)
    bench.clock.setForward(-24 * 3_600_000)
    await bench.clock.advance(200_000)
    bench.cluster.comeBack()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('OrderTimedOut')
  })
})

describe('a status that cannot be written', () => {
  it('is not sent again when the API server finds it wrong, but the next one is', async () => {
    const bench = await idleAgent()
    bench.cluster.refusing = 'Invalid'
    bench.cluster.place(scriptOrder())
    await bench.clock.advance(3_600_000)
    expect(bench.cluster.requests.filter((request) => request === 'patch nodestates')).toHaveLength(2)
    bench.cluster.refusing = undefined
    bench.cluster.place(scriptOrder({ id: 'op-2' }))
    await bench.clock.until(() => bench.order?.id === 'op-2' && bench.order.state === 'Succeeded')
  })

  it('is sent again after a conflict or a throttle', async () => {
    for (const code of ['Conflict', 'TooManyRequests', 'Forbidden'] as const) {
      const bench = await idleAgent()
      bench.cluster.refusing = code
      bench.cluster.place(scriptOrder())
      await bench.clock.advance(60_000)
      bench.cluster.refusing = undefined
      await bench.clock.until(bench.hasEnded('Succeeded'))
    }
  })

  it('is not sent for ever to a server that drops a field of it', async () => {
    const bench = await idleAgent()
    bench.cluster.pruned = 'epoch'
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    await bench.clock.advance(3_600_000)
    expect(bench.cluster.requests.filter((request) => request === 'patch nodestates')).toHaveLength(2)
    expect(bench.logged('did not keep all')).not.toEqual([])
  })
})

describe('a disk that fails', () => {
  it.each([
    { file: 'orders/op-1/order.json', text: '{"format": 1, "sha256": "', says: 'is damaged or half-written' },
    { file: 'orders/op-1/order.json', text: '{"format": 3}', says: 'newer version of the agent (format 3' },
    { file: 'orders/op-1/step-01-script.inprogress', text: '{"format": 1, "content": {}}', says: 'checksum' },
    { file: 'orders/op-1/step-07-other.done', text: 'x', says: 'is no step of this order' },
    { file: 'agent.json', text: '', says: 'is damaged or half-written' },
  ])('a damaged journal is reported with its path and never guessed at: $file, $says', async ({ file, text, says }) => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    bench.disk.putResult(`/var/lib/slipway/${file}`, text)
    bench.restart()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    await bench.clock.advance(3_600_000)
    expect(bench.order?.state).toBe('RequiresAttention')
    expect(bench.order?.reason?.code).toBe('JournalCorrupt')
    expect(bench.order?.reason?.message).toContain(`/var/lib/slipway/${file}`)
    expect(bench.order?.reason?.message).toContain(says)
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.cluster.api.patches.length).toBeLessThan(4)
  })

  it('damaged content is never run', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    bench.host.losePower(() => 0)
    bench.disk.putResult(`/var/lib/slipway/orders/op-1/content/${sha256(script)}`, `${script}rm -rf /`)
    bench.restart()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    const writes = bench.cluster.api.patches.length
    await bench.clock.advance(20 * 60_000)
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.cluster.api.patches).toHaveLength(writes)
  })

  it('a repaired journal is gone on with', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.kill()
    const path = '/var/lib/slipway/orders/op-1/order.json'
    const whole = bench.disk.files.get(path)?.content ?? ''
    bench.disk.putResult(path, whole.slice(0, 100))
    bench.restart()
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    bench.disk.putResult(path, whole)
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(1)
  })

  it('a full disk starts nothing and is tried again', async () => {
    const bench = await idleAgent()
    bench.disk.failing = 'DiskFull'
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.order?.reason?.code).toBe('JournalUnwritable')
    expect(bench.host.executions).toEqual([])
    bench.disk.failing = undefined
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(1)
  })

  it('a disk that is full just when a step starts leaves no process behind', async () => {
    const bench = await idleAgent()
    bench.host.onHold = () => {
      bench.disk.failing = 'DiskFull'
    }
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.host.ended_).toEqual(['script'])
    expect(bench.host.executions).toEqual([])
    bench.host.onHold = () => undefined
    bench.disk.failing = undefined
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(1)
  })

  it('a disk with no room for the result of a step has it not begun, and is no failure of it', async () => {
    const bench = await idleAgent()
    bench.host.onHold = () => {
      throw new SlipwayError('DiskFull', '/var/lib/slipway/orders/op-1/logs/x: ENOSPC', {
        path: '/var/lib/slipway/orders/op-1/logs/x',
      })
    }
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.order?.reason).toMatchObject({
      code: 'JournalUnwritable',
      message: expect.stringContaining('ENOSPC'),
    })
    bench.host.onHold = () => undefined
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions).toHaveLength(1)
  })

  it('a disk that is full just when a script ends is waited for and told, also beyond its time', async () => {
    const bench = await idleAgent()
    bench.host.fillUp()
    bench.cluster.place(scriptOrder({ timeout: '30m' }))
    await bench.clock.until(() => bench.order?.reason !== undefined)
    expect(bench.order).toMatchObject({
      state: 'Running',
      reason: { code: 'JournalUnwritable', message: expect.stringContaining('DiskFull') },
    })
    await bench.clock.advance(40 * 60_000)
    expect(bench.order?.state).toBe('Running')
    expect(bench.host.ended_).toEqual([])
    bench.kill()
    bench.restart()
    await bench.clock.advance(60_000)
    bench.host.makeRoom()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.order?.reason).toBeUndefined()
    expect(bench.host.executions).toHaveLength(1)
  })

  it('a disk that is full just when a step ends does not run it again', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    bench.disk.failing = 'DiskFull'
    await bench.clock.advance(120_000)
    expect(bench.host.executions).toHaveLength(1)
    bench.disk.failing = undefined
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions.map(({ step }) => step)).toEqual(['upgrade-kubelet', 'restart-kubelet'])
  })
})

it('a step that another agent has under way has not failed: it waits, and that is told', async () => {
  const bench = await idleAgent()
  bench.host.onHold = () => {
    throw new SlipwayError('StartedElsewhere', 'slipway-1.service runs already')
  }
  bench.cluster.place(scriptOrder())
  await bench.clock.until(() => bench.order?.reason?.message.includes('runs already') === true)
  await bench.clock.advance(600_000)
  expect(bench.order?.finishedAt).toBeUndefined()
  expect(bench.logged('StartedElsewhere')).not.toEqual([])
  bench.host.onHold = () => undefined
  await bench.clock.until(bench.hasEnded('Succeeded'))
  expect(bench.host.executions).toHaveLength(1)
})

describe('a program that cannot be killed', () => {
  async function stuck(): Promise<AgentBench> {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 24 * 3_600_000, exitCode: 0 })
    bench.host.obeysKill = false
    bench.cluster.place(scriptOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.order?.reason !== undefined)
    return bench
  }
  const reason = { code: 'StepStuck', message: expect.stringContaining('was told to end and does not end') }

  it('is told when it was to be gone, and waited for with nothing beside it', async () => {
    const bench = await stuck()
    expect(bench.clock.monotonicMs()).toBeLessThan(6 * 60_000)
    expect(bench.order).toMatchObject({ state: 'Running', reason })
    await bench.clock.advance(3_600_000)
    expect(bench.order).toMatchObject({ state: 'Running', reason })
    expect(bench.host.executions).toHaveLength(1)
    bench.host.killJobs()
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.code).toBe('StepTimedOut')
  })

  it('is told again in another life of the agent', async () => {
    const bench = await stuck()
    bench.kill()
    bench.restart()
    await bench.clock.until(() => bench.host.ended_.length === 2)
    await bench.clock.advance(30_000)
    expect(bench.order).toMatchObject({ state: 'Running', reason })
    bench.host.killJobs()
    await bench.clock.until(bench.hasEnded('Failed'))
  })

  it('holds up with its reason no longer than it is there', async () => {
    const bench = await idleAgent()
    bench.kill()
    const steps: Driver['steps'] = (order) =>
      scriptDriver.steps(order).map((step) => ({ ...step, attempts: 2, timeoutMs: 60_000 }))
    bench.drivers = [{ ...scriptDriver, steps }]
    bench.host.behave = () => ({ ms: 24 * 3_600_000, exitCode: 0 })
    bench.host.obeysKill = false
    bench.restart()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.order?.reason?.code === 'StepStuck')
    bench.host.killJobs()
    await bench.clock.until(() => bench.order?.reason === undefined)
    expect(bench.host.executions).toHaveLength(1)
    expect(bench.order?.state).toBe('Running')
  })
})

describe('a program that leaves behind what cannot be killed', () => {
  it.each([
    { name: 'ended well', ms: 60_000, exitCode: 0, state: 'Succeeded' },
    { name: 'failed', ms: 60_000, exitCode: 3, state: 'Failed' },
    { name: 'ended just before its time was over', ms: 295_000, exitCode: 0, state: 'Succeeded' },
  ])('has ended as its exit code says: it $name', async ({ ms, exitCode, state }) => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms, exitCode, leavesBehind: true })
    bench.cluster.place(scriptOrder({ timeout: '5m' }))
    await bench.clock.until(() => bench.order?.finishedAt !== undefined)
    expect(bench.order).toMatchObject({ state, ...(exitCode !== 0 && { reason: { code: 'StepFailed' } }) })
    expect(bench.host.ended_).toEqual([])
    expect(bench.clock.monotonicMs()).toBeLessThan(ms + 120_000)
  })

  it('is waited for where its exit code comes late', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 60_000, exitCode: 0, leavesBehind: true })
    bench.host.fillUp()
    bench.cluster.place(scriptOrder({ timeout: '5m' }))
    await bench.clock.advance(600_000)
    expect(bench.order).toMatchObject({ state: 'Running', reason: { code: 'JournalUnwritable' } })
    bench.host.makeRoom()
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.logged('something it left behind has not')).toHaveLength(1)
  })
})

describe('a file of the host that cannot be read', () => {
  const broken = new SlipwayError('DiskFailed', '/etc/apt/preferences.d/old is no file', {
    path: '/etc/apt/preferences.d/old',
  })

  it('while staging is tried again and called what it is, not the journal’s', async () => {
    const bench = new AgentBench()
    let isBroken = true
    const stage = () => (isBroken ? Promise.reject(broken) : Promise.resolve(undefined))
    bench.drivers = [{ ...scriptDriver, stage: async (...given) => (await stage()) ?? scriptDriver.stage?.(...given) }]
    bench.start()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.order?.reason !== undefined)
    expect(bench.order).toMatchObject({ state: 'Accepted', reason: { code: 'StagingFailed' } })
    expect(bench.order?.reason?.message).toContain('/etc/apt/preferences.d/old is no file')
    isBroken = false
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })

  it('before a step needs a person, and goes on when it was repaired', async () => {
    const bench = new AgentBench()
    let isBroken = true
    const holds = () => (isBroken ? Promise.reject(broken) : Promise.resolve(false))
    bench.drivers = [
      { ...scriptDriver, steps: (...given) => scriptDriver.steps(...given).map((step) => ({ ...step, holds })) },
    ]
    bench.start()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('RequiresAttention'))
    expect(bench.order?.reason).toEqual({ code: 'StepFailed', message: '/etc/apt/preferences.d/old is no file' })
    isBroken = false
    await bench.clock.until(bench.hasEnded('Succeeded'))
  })
})

it('a look before a step that fails is told on the NodeState, and the order goes on when it was repaired', async () => {
  const bench = new AgentBench()
  const says = 'ConfigMap kube-system/kubeadm-config names no kubernetesVersion'
  let isBroken = true
  const holds = () => (isBroken ? Promise.reject(new SlipwayError('StepFailed', says)) : Promise.resolve(false))
  bench.drivers = [
    { ...scriptDriver, steps: (...given) => scriptDriver.steps(...given).map((step) => ({ ...step, holds })) },
  ]
  bench.start()
  bench.cluster.place(scriptOrder())
  await bench.clock.until(() => bench.order?.reason !== undefined)
  expect(bench.order?.reason).toEqual({ code: 'StepFailed', message: `trying again: ${says}` })
  expect(bench.order?.finishedAt).toBeUndefined()
  isBroken = false
  await bench.clock.until(bench.hasEnded('Succeeded'))
  expect(bench.order?.reason).toBeUndefined()
})

it('a look before a later step that fails for good ends the order when its time is over', async () => {
  const bench = new AgentBench()
  const holds = () => Promise.reject(new SlipwayError('StepFailed', 'systemctl does not answer'))
  bench.drivers = [
    {
      ...scriptDriver,
      steps: (order) => scriptDriver.steps(order).flatMap((step) => [step, { ...step, name: 'second', holds }]),
    },
  ]
  bench.start()
  bench.cluster.place(scriptOrder({ timeout: '10m' }))
  await bench.clock.until(bench.hasEnded('Failed'))
  expect(bench.host.executions.map(({ step }) => step)).toEqual(['script'])
  expect(bench.order?.reason).toMatchObject({
    code: 'StepFailed',
    message: expect.stringContaining('step second cannot be looked at: systemctl does not answer'),
  })
})

it('order ids of any shape get a folder of their own', async () => {
  const bench = await idleAgent()
  for (const id of ['../../etc', 'a/b', 'a_b', `x${'y'.repeat(300)}`, '.', 'order.tmp']) {
    bench.cluster.place(scriptOrder({ id }))
    await bench.clock.until(() => bench.order?.id === id && bench.order.state === 'Succeeded')
  }
  expect(bench.host.executions).toHaveLength(6)
  expect([...bench.disk.files.keys()].every((path) => path.startsWith('/var/lib/slipway/'))).toBe(true)
})
