import { describe, expect, it } from 'vitest'
import { AgentBench, idleAgent, kubernetesOrder, script, scriptOrder } from '../../test/agent/agent-bench.ts'
import { agentStatusSchema, type Order } from '../api/node-state.ts'
import type { reasonCatalogue } from '../api/reason.ts'
import { scriptDriver } from './drivers/script.ts'
import { sha256 } from './journal/sealed-file.ts'

describe('an agent with nothing to do', () => {
  it('waits for its NodeState, publishes what it is once, and is silent', async () => {
    const bench = new AgentBench()
    bench.start()
    await bench.clock.advance(600_000)
    expect(bench.cluster.api.patches).toEqual([])
    bench.cluster.place(undefined)
    await bench.clock.advance(600_000)
    expect(bench.cluster.agent).toEqual({
      version: '0.1.0',
      bootID: 'boot-1',
      epoch: 0,
      drivers: ['script', 'kubeadm', 'kubelet', 'kubectl'],
      facts: bench.host.facts_,
    })
    expect(bench.cluster.api.patches).toHaveLength(1)
  })

  it('has nothing to say after a restart, and says only what is new after a reboot', async () => {
    const bench = await idleAgent()
    bench.kill()
    bench.restart()
    await bench.clock.advance(60_000)
    expect(bench.cluster.api.patches).toEqual([])
    bench.kill()
    bench.host.losePower(() => 0)
    bench.restart()
    await bench.clock.advance(60_000)
    expect(bench.cluster.api.patches).toEqual([{ status: { agent: { bootID: 'boot-2' } } }])
  })

  it('publishes everything again on a new NodeState of the same name', async () => {
    const bench = await idleAgent()
    bench.cluster.removeNode()
    await bench.clock.advance(1_000)
    bench.cluster.place(undefined, 'node-uid-2', 'state-uid-2')
    await bench.clock.until(() => bench.cluster.agent?.bootID === 'boot-1')
  })
})

describe('an order', () => {
  it('with a script costs four requests: content, fresh look, running, finished', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 1000, exitCode: 0, output: 'hello\n' })
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    await bench.clock.advance(10)
    expect(bench.order).toMatchObject({ state: 'Running', steps: [{ name: 'script', state: 'Running', attempts: 1 }] })
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.order?.steps).toMatchObject([{ name: 'script', state: 'Succeeded', attempts: 1, logTail: 'hello\n' }])
    expect(bench.cluster.requests).toEqual(['get configmaps', 'get nodestates', 'patch nodestates', 'patch nodestates'])
    expect(bench.host.executions).toMatchObject([
      { argv: ['/bin/sh', `/var/lib/slipway/orders/op-1/content/${sha256(script)}`], step: 'script', ended: true },
    ])
    expect(agentStatusSchema.safeParse(bench.cluster.agent).error).toBeUndefined()
    await bench.clock.advance(600_000)
    expect(bench.cluster.requests.filter((request) => request !== 'watch nodestates')).toHaveLength(4)
  })

  it('leaves a journal a person can read', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    const logs = ['logs/step-01-script.1.exit']
    const names = ['completed', `content/${sha256(script)}`, ...logs, 'notes/time', 'order.json', 'step-01-script.done']
    expect(bench.files()).toEqual(names.map((name) => `/var/lib/slipway/orders/op-1/${name}`))
    expect(JSON.parse(bench.disk.files.get('/var/lib/slipway/agent.json')?.content ?? '')).toMatchObject({
      format: 2,
      content: { epoch: 1, nodeUID: 'node-uid' },
    })
  })

  it('upgrades a worker’s kubelet with three requests, and says when it restarted it', async () => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.host.executions.map(({ argv }) => argv.join(' '))).toEqual([
      'pretend-upgrade kubelet v1.36.3',
      'pretend-restart-kubelet',
    ])
    expect(bench.cluster.requests).toEqual(['patch nodestates', 'get nodestates', 'patch nodestates'])
    expect(bench.order?.kubeletRestartedAt).toBe(bench.order?.steps[1]?.startedAt)
    expect(bench.cluster.agent?.facts.kubelet).toBe('v1.36.3')
  })

  it('runs nothing whose effect is there already, the control plane first', async () => {
    const bench = await idleAgent()
    bench.host.facts_ = { ...bench.host.facts_, apiServer: 'v1.36.3', kubelet: 'v1.35.4' }
    bench.cluster.place(kubernetesOrder({ role: 'ControlPlane' }))
    await bench.clock.until(bench.hasEnded('Succeeded'))
    expect(bench.order?.steps.map(({ name, attempts }) => [name, attempts])).toEqual([
      ['upgrade-control-plane', 0],
      ['upgrade-kubelet', 1],
      ['restart-kubelet', 1],
    ])
  })

  it('fails a step that ends well without its effect, after its attempts', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 10, exitCode: 0 })
    bench.cluster.place(kubernetesOrder())
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.host.executions).toHaveLength(3)
    expect(bench.order?.reason).toMatchObject({
      code: 'StepFailed',
      message: 'step upgrade-kubelet ended well, but the host’s kubelet is v1.35.4, not v1.36.3',
    })
  })

  it('fails with the last lines of the script', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 10, exitCode: 3, output: `${'x\n'.repeat(3000)}no such disk\n` })
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Failed'))
    expect(bench.order?.reason?.message).toMatch(
      /^step script ended with exit code 3; its last lines: x\n[\s\S]*no such disk$/,
    )
    expect(bench.order?.steps[0]).toMatchObject({ state: 'Failed', attempts: 1 })
    expect(bench.order?.steps[0]?.logTail).toHaveLength(4096)
    expect(agentStatusSchema.safeParse(bench.cluster.agent).error).toBeUndefined()
  })

  it('ends a script that takes longer than the order may', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 3_600_000, exitCode: 0 })
    bench.cluster.place(scriptOrder({ timeout: '1m' }))
    await bench.clock.until(bench.hasEnded('Failed'), 90_000)
    expect(bench.host.ended_).toEqual(['script'])
    expect(bench.order?.reason).toEqual({
      code: 'StepTimedOut',
      message: 'step script was ended after 1m: it took too long',
    })
  })

  it('does not get more time by a restart of the agent', async () => {
    const bench = await idleAgent()
    bench.host.behave = () => ({ ms: 3_600_000, exitCode: 0 })
    bench.cluster.place(scriptOrder({ timeout: '10m' }))
    await bench.clock.until(() => bench.host.executions.length === 1)
    for (let minute = 0; minute < 9; minute++) {
      await bench.clock.advance(60_000)
      bench.kill()
      bench.restart()
    }
    await bench.clock.until(bench.hasEnded('Failed'), 65_000)
    expect(bench.host.executions).toHaveLength(1)
  })

  it.each<{ name: string; prepare: (bench: AgentBench) => Order; code: keyof typeof reasonCatalogue; state: string }>([
    {
      name: 'content that is not what the order names',
      prepare: (bench) => {
        bench.cluster.storeScript('rm -rf /\n')
        return scriptOrder()
      },
      code: 'ContentMismatch',
      state: 'Failed',
    },
    {
      name: 'no ConfigMap',
      prepare: (bench) => {
        bench.cluster.removeScript()
        return scriptOrder()
      },
      code: 'ScriptMissing',
      state: 'Failed',
    },
    {
      name: 'another machine',
      prepare: () => scriptOrder({ nodeUID: 'other' }),
      code: 'FencedOff',
      state: 'Refused',
    },
  ])('runs nothing: $name', async ({ prepare, code, state }) => {
    const bench = await idleAgent()
    bench.cluster.place(prepare(bench))
    await bench.clock.until(bench.hasEnded(state))
    expect(bench.order?.reason?.code).toBe(code)
    expect(bench.host.executions).toEqual([])
    expect(bench.disk.files.has(`/var/lib/slipway/orders/op-1/${state.toLowerCase()}`)).toBe(true)
  })

  it('is refused where no driver does that work', async () => {
    const bench = new AgentBench()
    bench.cluster.place(kubernetesOrder())
    bench.start({ drivers: [scriptDriver] })
    await bench.clock.until(bench.hasEnded('Refused'))
    expect(bench.order?.reason?.code).toBe('DriverMissing')
  })
})

describe('an order that ended', () => {
  it('never runs again; its end is reported again, also on a new NodeState', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder())
    await bench.clock.until(bench.hasEnded('Succeeded'))
    const end = bench.order
    bench.cluster.place(scriptOrder({ id: 'op-2', epoch: 2 }))
    await bench.clock.until(() => bench.order?.id === 'op-2' && bench.order.state === 'Succeeded')
    bench.cluster.place(scriptOrder())
    await bench.clock.until(() => bench.order?.id === 'op-1')
    expect(bench.order).toEqual(end)
    bench.cluster.removeNode()
    await bench.clock.advance(10)
    bench.cluster.place(scriptOrder(), 'node-uid', 'state-uid-2')
    await bench.clock.until(() => bench.order?.id === 'op-1')
    expect(bench.order).toEqual(end)
    expect(bench.host.executions).toHaveLength(2)
  })

  it('with other content under its id is refused, and an older epoch is refused', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ epoch: 5 }))
    await bench.clock.until(bench.hasEnded('Succeeded'))
    bench.cluster.place(scriptOrder({ epoch: 5, role: 'ControlPlane' }))
    await bench.clock.until(bench.hasEnded('Refused'))
    bench.cluster.place(scriptOrder({ id: 'op-0', epoch: 4 }))
    await bench.clock.until(() => bench.order?.id === 'op-0')
    expect(bench.order).toMatchObject({ state: 'Refused', reason: { code: 'FencedOff' } })
    expect(bench.cluster.agent?.epoch).toBe(5)
    expect(bench.host.executions).toHaveLength(1)
  })
})

describe('a withdrawn order', () => {
  it.each<{ name: string; act: (bench: AgentBench) => void }>([
    { name: 'by the operator', act: (bench) => bench.cluster.place(kubernetesOrder({ desired: 'Withdraw' })) },
    { name: 'by its removal', act: (bench) => bench.cluster.place(undefined) },
    {
      name: 'by another order',
      act: (bench) => bench.cluster.place(kubernetesOrder({ id: 'op-2', desired: 'Withdraw' })),
    },
    { name: 'with its NodeState', act: (bench) => bench.cluster.removeNode() },
    { name: 'with its Node', act: (bench) => bench.cluster.place(kubernetesOrder(), 'another-node-uid') },
  ])('finishes the running step and starts none: $name', async ({ act }) => {
    const bench = await idleAgent()
    bench.cluster.place(kubernetesOrder())
    await bench.clock.until(() => bench.host.executions.length === 1)
    act(bench)
    await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/orders/op-1/withdrawn'))
    expect(bench.host.executions).toMatchObject([{ step: 'upgrade-kubelet', ended: true }])
  })

  it('that never began is journalled, so that it never begins', async () => {
    const bench = await idleAgent()
    bench.cluster.place(scriptOrder({ desired: 'Withdraw' }))
    await bench.clock.until(bench.hasEnded('Withdrawn'))
    bench.cluster.place(scriptOrder())
    await bench.clock.advance(60_000)
    expect(bench.order?.state).toBe('Withdrawn')
    expect(bench.host.executions).toEqual([])
  })

  it('that a stale watch still shows as wanted does not start', async () => {
    const bench = await idleAgent()
    const stale = scriptOrder()
    bench.cluster.place(stale)
    bench.cluster.withdrawUnheard()
    await bench.clock.until(() => bench.disk.files.has('/var/lib/slipway/orders/op-1/withdrawn'))
    expect(bench.host.executions).toEqual([])
  })
})
