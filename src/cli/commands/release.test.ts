import { describe, expect, it } from 'vitest'
import { agentOf, cliFixture, node, nodeState, operation, upgradeMidway } from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { nodes } from '../../api/kube.ts'
import { KubeError } from '../../api/kube-error.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { type NodeState, nodeStates, type Rollout } from '../../api/node-state.ts'

const autoscaler = 'cluster-autoscaler.kubernetes.io/scale-down-disabled'
const found = (api: FakeKubeApi) => {
  const { metadata, spec } = api.found(nodes, { name: 'w1' })
  return { annotations: metadata.annotations ?? {}, unschedulable: spec.unschedulable ?? false }
}
const untouched = { annotations: {}, unschedulable: false }

function cluster(annotations: Readonly<Record<string, string>>, cordoned: boolean, state?: NodeState): FakeKubeApi {
  const { metadata, status } = node('w1')
  const api = new FakeKubeApi().put(nodes, {
    metadata: { ...metadata, annotations },
    spec: cordoned ? { unschedulable: true } : {},
    status,
  })
  return state ? api.put(nodeStates, state) : api
}

const left = { 'slipway.dev/cordon': operation, 'slipway.dev/marks': autoscaler, [autoscaler]: 'true' }
const hold = { 'slipway.dev/hold': '{"by":"ana","why":"disk"}' }
const order = (state: 'Running' | 'Succeeded') =>
  nodeState(
    'w1',
    { phase: 'Working' },
    agentOf({ id: `${operation}/1`, state, steps: [{ name: 'upgrade-kubelet', state: 'Running', attempts: 1 }] }),
  )

describe('release', () => {
  it('puts back what an operator that is gone left, and says what it did', async () => {
    const api = cluster(left, true, order('Succeeded'))
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(0)
    expect(found(api)).toEqual(untouched)
    expect(cli.out.text).toBe(`w1: uncordoned (it was cordoned for ${operation})\nw1: took off ${autoscaler}\n`)
  })

  it('refuses while the agent works, and does it by force with a warning', async () => {
    const api = cluster(left, true, order('Running'))
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(3)
    expect(found(api).unschedulable).toBe(true)
    const doubt = `order ${operation}/1 may still run on w1: its agent says Running, at step upgrade-kubelet`
    expect(cli.err.text).toBe(
      `error: ${doubt} [Refused]\nnext: wait for it, or delete its update; slipway release w1 --force puts the node back all the same\n`,
    )
    expect(await cli.run('release', 'w1', '--force')).toBe(0)
    expect(found(api)).toEqual(untouched)
    expect(cli.err.text).toContain(`warning: ${doubt}\n`)
  })

  const taken = { takenAt: '2026-11-15T12:00:00Z' }
  it.each<[Partial<Rollout>, string, string]>([
    [
      { phase: 'Draining' },
      'w1 is being drained for update to-1-36',
      'slipway cancel to-1-36 ends that, and so does deleting it',
    ],
    [
      { phase: 'Pending', ...taken },
      'w1 is about to be drained for update to-1-36',
      'slipway cancel to-1-36 ends that, and so does deleting it',
    ],
    [
      { phase: 'Draining', kind: 'NodeProfile', update: 'base' },
      'w1 is being drained for NodeProfile base',
      'changing or deleting NodeProfile base ends that',
    ],
    [
      { phase: 'Draining', kind: 'Maintenance', update: 'w1' },
      'w1 is being drained for its own maintenance',
      'wait for it: the node is put back when its maintenance is done',
    ],
  ])('refuses while it is emptied, and by force says that it is taken again: %j', async (rollout, doubt, ends) => {
    const api = cluster(left, true, nodeState('w1', rollout))
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(3)
    expect(found(api).unschedulable).toBe(true)
    const again = 'an operator that runs takes it again at once'
    expect(cli.err.text).toBe(
      `error: ${doubt} [Refused]\nnext: ${ends}; slipway release w1 --force uncordons it all the same, but ${again}\n`,
    )
    expect(await cli.run('release', 'w1', '--force')).toBe(0)
    expect(found(api)).toEqual(untouched)
    expect(cli.err.text).toContain(`warning: ${doubt}: ${again}\n`)
  })

  it.each<[string, NodeState, string]>([
    ['is emptied', nodeState('w1', { phase: 'Draining' }), 'w1 is being drained for update to-1-36'],
    [
      'is worked on',
      order('Running'),
      `order ${operation}/1 may still run on w1: its agent says Running, at step upgrade-kubelet`,
    ],
  ])('takes a hold back while the node %s, and leaves cordon and marks', async (_, state, doubt) => {
    const api = cluster({ ...left, ...hold }, true, state)
    const cli = cliFixture(api)
    expect(await cli.run('hold', 'w1', '--release')).toBe(0)
    expect(found(api)).toEqual({ annotations: left, unschedulable: true })
    expect(cli.out.text).toBe(`w1: the hold has ended (ana: disk)\nw1: else it stays as it is: ${doubt}\n`)
    expect(cli.err.text).toBe('')
    expect(await cli.run('release', 'w1')).toBe(3)
  })

  it('puts a node back that waits for a slot it has not got', async () => {
    const api = cluster(left, true, nodeState('w1', { phase: 'Pending' }))
    expect(await cliFixture(api).run('release', 'w1')).toBe(0)
    expect(found(api)).toEqual(untouched)
  })

  it('refuses where nobody may tell, and says which right is missing', async () => {
    const api = cluster({ ...left, ...hold }, true)
    api.before = (verb, type) => {
      if (verb === 'get' && type === nodeStates) throw new KubeError('Forbidden', 'no', { status: 403 })
    }
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(3)
    expect(cli.err.text).toMatch(/you may not read the NodeState of w1.*\nnext: ask for the right to get nodestates;/)
  })

  it('says on the node that it is fit where a profile failed that disturbs nobody', async () => {
    const rollout = { phase: 'Failed', cordon: { prior: 'Schedulable' }, operationID: 'profile:base/r1-1' } as const
    const api = cluster({}, false, nodeState('w1', { ...rollout, update: 'base' }))
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(0)
    expect(found(api).annotations).toEqual({ 'slipway.dev/released': 'profile:base/r1-1/1' })
    expect(cli.out.text).toMatch(/^w1: its slot is given back; that NodeProfile base failed there stands/)
  })

  it('leaves the cordon of a person', async () => {
    const api = cluster({ 'slipway.dev/marks': autoscaler, [autoscaler]: 'true' }, true)
    const cli = cliFixture(api)
    expect(await cli.run('release', 'w1')).toBe(0)
    expect(found(api)).toEqual({ annotations: {}, unschedulable: true })
    expect(cli.out.text).toBe(
      `w1: took off ${autoscaler}\nw1: stays cordoned: that is a person’s; kubectl uncordon ends it\n`,
    )
  })

  it('ends a hold, and the cordon that was kept for it', async () => {
    const api = cluster({ ...hold, 'slipway.dev/cordon': 'hold' }, true)
    const cli = cliFixture(api)
    expect(await cli.run('hold', 'w1', '--release')).toBe(0)
    expect(found(api)).toEqual(untouched)
    expect(cli.out.text).toBe('w1: the hold has ended (ana: disk)\nw1: uncordoned (it was cordoned for hold)\n')
  })

  it('says when there is nothing to do, and when there is no such node', async () => {
    const cli = cliFixture(cluster({}, false))
    expect(await cli.run('release', 'w1')).toBe(0)
    expect(cli.out.text).toBe('w1: nothing of Slipway is on it\n')
    expect(await cli.run('release', 'w9')).toBe(2)
  })

  it('is done again when somebody else wrote the node meanwhile', async () => {
    const api = cluster(left, true)
    let others = 2
    api.before = (verb) => {
      if (verb === 'patch' && others-- > 0) throw new KubeError('Conflict', 'changed', { status: 409 })
    }
    expect(await cliFixture(api).run('release', 'w1')).toBe(0)
    expect(found(api)).toEqual(untouched)
  })
})

describe('hold', () => {
  it('says who, why and when on the node', async () => {
    const api = cluster(left, true)
    const cli = cliFixture(api)
    expect(await cli.run('hold', 'w1', '--by', 'ana', '--reason', 'disk')).toBe(0)
    expect(JSON.parse(found(api).annotations['slipway.dev/hold'] ?? '')).toEqual({
      by: 'ana',
      why: 'disk',
      at: '2026-11-15T12:05:00.000Z',
    })
    expect(cli.out.text).toBe(
      'w1 is on hold: no new work starts there\nwhat is under way there ends, and the node stays cordoned after it\nslipway release w1 ends it\n',
    )
  })
})

describe('stop and start', () => {
  it('need to be told that all is meant', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('stop')).toBe(2)
    expect(cli.err.text).toBe(
      'error: stop is for the whole cluster and needs --all [Usage]\nnext: run: slipway stop --all\n',
    )
  })

  it('set the policy, and say what is under way', async () => {
    const api = upgradeMidway()
    const cli = cliFixture(api)
    expect(await cli.run('stop', '--all')).toBe(0)
    expect(api.found(maintenancePolicies, { name: 'default' }).spec.paused).toBe(true)
    expect(await cli.run('stop', '--all')).toBe(0)
    expect(await cli.run('start', '--all')).toBe(0)
    expect(api.found(maintenancePolicies, { name: 'default' }).spec.paused).toBe(false)
    expect(cli.out.text).toBe(
      'stopped: nothing new starts; work that is under way ends on w1\nslipway start --all goes on\nit was stopped already\nstarted: what waited goes on\n',
    )
  })

  it('make the policy where there is none', async () => {
    const api = new FakeKubeApi()
    expect(await cliFixture(api).run('stop', '--all')).toBe(0)
    expect(api.found(maintenancePolicies, { name: 'default' }).spec.paused).toBe(true)
  })
})
