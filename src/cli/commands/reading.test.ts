import { describe, expect, it } from 'vitest'
import {
  agentOf,
  cliFixture,
  node,
  nodeState,
  noon,
  operation,
  update,
  upgradeMidway,
} from '../../../test/cli/cli-fixture.ts'
import { FakeKubeApi } from '../../../test/fakes/fake-kube-api.ts'
import { directUpdates } from '../../api/direct-update.ts'
import { nodes, pods } from '../../api/kube.ts'
import { maintenancePolicies } from '../../api/maintenance-policy.ts'
import { nodeProfiles } from '../../api/node-profile.ts'
import { nodeStates } from '../../api/node-state.ts'

describe('status', () => {
  it('lists updates with what they wait for', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('status')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "NAME     PHASE       DONE  WAVE         WORKING  WAITING  FAILED  TARGET   AGE  WHY
      to-1-36  InProgress  3/7   2/2 workers  2        2        0       v1.36.3  5m   w1 Draining: waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed) (and 1 more)
      "
    `)
  })

  it('says, as why does, that a restore of etcd holds everything', async () => {
    const api = upgradeMidway()
    const reason = {
      code: 'RollCall' as const,
      message: 'etcd was restored: nothing starts before the agents of w2 have reported',
    }
    const status = { rollCall: { name: 'a1', since: noon, waitingFor: ['w2'], left: 1, reason } }
    await api.patch(
      maintenancePolicies,
      { name: 'default' },
      { type: 'merge', body: { status } },
      AbortSignal.timeout(1000),
    )
    for (const argv of [['status'], ['why', 'to-1-36'], ['why', 'w3']]) {
      const cli = cliFixture(api)
      expect(await cli.run(...argv)).toBe(0)
      expect(cli.out.text).toContain(reason.message)
    }
  })

  it('says when there are none', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('status')).toBe(0)
    expect(cli.out.text).toBe('there are no updates; make one: slipway update --help\n')
  })

  it('shows one with waves, nodes and conditions', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('status', 'to-1-36')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "Update:     to-1-36
      Phase:      InProgress
      Target:     v1.36.3 (from v1.35.4)
      Nodes:      3/7 done, 2 under work, 2 waiting
      Started:    2026-11-15T12:00:00Z (5m ago)
      Operation:  to-1-36/1a2b3c4d-1-f00d
      Wave 1:     control plane: 3/3 done
      Wave 2:     workers: 0/4 done, 2 under work, 2 waiting

      NODE  ROLE          PHASE     SINCE  DETAIL
      cp1   ControlPlane  Done      3m
      cp2   ControlPlane  Done      3m
      cp3   ControlPlane  Done      3m
      w1    Worker        Draining  2m30s  2 of 12 pods left; waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed)
      w2    Worker        Working   1m     upgrade-kubelet
      w3    Worker        Pending   5m     budget "cluster" allows 2 nodes away; w1, w2 already are
      w4    Worker        Pending   5m     budget "cluster" allows 2 nodes away; w1, w2 already are

      CONDITION    STATUS  REASON      SINCE  MESSAGE
      Planned      True    Planned     5m     it can be carried out
      Progressing  True    InProgress  5m     3/7 nodes done
      "
    `)
  })

  it('gives the same as data', async () => {
    const cli = cliFixture(upgradeMidway())
    await cli.run('status', 'to-1-36', '--output', 'json')
    const report = JSON.parse(cli.out.text)
    expect(report).toMatchObject({
      name: 'to-1-36',
      phase: 'InProgress',
      summary: { total: 7, done: 3, working: 2, waiting: 2 },
      waves: [
        { title: 'control plane', counts: { done: 3, total: 3 } },
        { title: 'workers', counts: { done: 0, total: 4 } },
      ],
      waits: [
        { nodes: ['w1'], phase: 'Draining', reason: { code: 'PodDisruptionBudget' } },
        { nodes: ['w3', 'w4'], phase: 'Pending', reason: { code: 'BudgetSpent' } },
      ],
    })
    expect(report.nodes).toHaveLength(7)
  })

  it('keeps what an ended update came to when a later one took its nodes over', async () => {
    const api = new FakeKubeApi()
      .put(nodes, node('w1'))
      .put(nodeStates, nodeState('w1', { update: 'later', operationID: 'later/1', phase: 'Working' }))
      .put(
        directUpdates,
        update({
          phase: 'Succeeded',
          finishedAt: noon,
          summary: { total: 1, done: 1, working: 0, waiting: 0, failed: 0, skipped: 0 },
        }),
      )
    const cli = cliFixture(api)
    await cli.run('status', 'to-1-36', '-o', 'json')
    expect(JSON.parse(cli.out.text)).toMatchObject({ summary: { total: 1, done: 1 }, nodes: [] })
  })

  it.each([
    { phase: 'Failed' as const, code: 1 },
    { phase: 'RequiresAttention' as const, code: 3 },
    { phase: 'Succeeded' as const, code: 0 },
  ])('exits with $code when it is $phase', async ({ phase, code }) => {
    const cli = cliFixture(new FakeKubeApi().put(directUpdates, update({ phase })))
    expect(await cli.run('status', 'to-1-36')).toBe(code)
  })

  it('lists profiles below the updates, with what holds one up', async () => {
    const api = new FakeKubeApi()
    const cli = cliFixture(api)
    const message = 'NodeProfiles base and extra, both of priority 0, want different things of file /etc/motd'
    api.put(nodeProfiles, {
      metadata: { name: 'base' },
      spec: { sysctls: { 'vm.swappiness': '10' } },
      status: {
        phase: 'Refused',
        nodes: { total: 3, applied: 1, drifted: 2, failed: 0 },
        conditions: [
          { type: 'Accepted', status: 'False', reason: 'ProfileConflict', message, lastTransitionTime: noon },
        ],
      },
    })
    expect(await cli.run('status')).toBe(0)
    expect(cli.out.text).toMatch(/PROFILE +PHASE +APPLIED +DRIFTED +FAILED +WHY/)
    expect(cli.out.text).toMatch(/base +Refused +1\/3 +2 +0 +ProfileConflict: NodeProfiles base and extra/)
  })

  it('does not take the status of an earlier spec for the end of this one', async () => {
    const { metadata, ...rest } = update({ phase: 'Failed' })
    const edited = { ...rest, metadata: { ...metadata, generation: 2 } }
    const cli = cliFixture(new FakeKubeApi().put(directUpdates, edited))
    expect(await cli.run('status', 'to-1-36')).toBe(0)
  })

  it('leaves out what NodeStates say of an earlier run of the same update', async () => {
    const api = upgradeMidway().put(nodeStates, nodeState('w3', { operationID: 'to-1-36/earlier', phase: 'Failed' }))
    const cli = cliFixture(api)
    await cli.run('status', 'to-1-36', '-o', 'json')
    expect(JSON.parse(cli.out.text)).toMatchObject({ summary: { failed: 0, waiting: 2 } })
  })

  it('shows what a pattern came to, the step of its path, and the nodes of that step', async () => {
    const operationID = 'to-1-36/1a2b3c4d-1-f00d'
    const path = { current: 'v1.34.4', target: 'v1.36.3', steps: ['v1.35.4', 'v1.36.3'], step: 0, workers: [1] }
    const walking = update({ phase: 'InProgress', operationID, path }, { kubernetes: { version: '1.36.*' } })
    const api = new FakeKubeApi()
      .put(directUpdates, walking)
      .put(nodes, node('cp1', { controlPlane: true, kubelet: 'v1.34.4' }))
      .put(nodeStates, nodeState('cp1', { operationID: `${operationID}.1`, phase: 'Draining' }))
    const cli = cliFixture(api)
    await cli.run('status', 'to-1-36')
    expect(cli.out.text).toContain('Target:     v1.36.3 (from v1.34.4)')
    expect(cli.out.text).toContain('Course:     step 1 of 2: v1.35.4')
    expect(cli.out.text).toMatch(/cp1 +ControlPlane +Draining/)
    const why = cliFixture(api)
    await why.run('why', 'to-1-36')
    expect(why.out.text).toContain('it is InProgress, step 1 of 2: v1.35.4: ')
  })

  it('names an update that is not there', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('status', 'nope')).toBe(2)
    expect(cli.err.text).toBe(
      'error: there is no DirectUpdate named nope [NotFound]\nnext: look at what there is: slipway status, slipway nodes\n',
    )
  })
})

describe('nodes', () => {
  it('shows role, cordon, versions, phase and reason', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('nodes')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "NODE  ROLE          READY  CORDONED BY     KUBELET  AGENT  UPDATE   PHASE     STEP             REASON
      cp1   ControlPlane  yes    -               v1.36.3  0.1.0  to-1-36  Done      -
      cp2   ControlPlane  yes    -               v1.36.3  0.1.0  to-1-36  Done      -
      cp3   ControlPlane  yes    -               v1.36.3  0.1.0  to-1-36  Done      -
      w1    Worker        yes    update to-1-36  v1.35.4  0.1.0  to-1-36  Draining  -                waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed)
      w2    Worker        yes    update to-1-36  v1.35.4  0.1.0  to-1-36  Working   upgrade-kubelet
      w3    Worker        yes    -               v1.35.4  0.1.0  to-1-36  Pending   -                budget "cluster" allows 2 nodes away; w1, w2 already are
      w4    Worker        yes    a person        v1.35.4  0.1.0  to-1-36  Pending   -                budget "cluster" allows 2 nodes away; w1, w2 already are
      "
    `)
  })

  it('keeps to the selector, and gives data', async () => {
    const cli = cliFixture(upgradeMidway())
    await cli.run('nodes', '--selector', 'pool in (b)', '-o', 'json')
    expect(JSON.parse(cli.out.text)).toMatchObject([
      { name: 'w3', role: 'Worker', ready: true },
      { name: 'w4', cordonedBy: 'a person' },
    ])
  })

  it('cuts lines at the edge of a window, not in a pipe', async () => {
    const cli = cliFixture(upgradeMidway())
    cli.out.isTTY = true
    cli.out.columns = 60
    await cli.run('nodes')
    const lines = cli.out.text.trimEnd().split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBe(60)
    expect(lines.filter((line) => line.endsWith('…')).length).toBeGreaterThan(0)
  })

  it.each([
    ['nodes', /^NODE +READY +UPDATE +PHASE +REASON$/m, /^w1 .* Draining +waiting for PodDisruptionBudget shop/m],
    ['status', /^NAME +PHASE +DONE .*FAILED .*WHY$/m, /^to-1-36 .* w1 Draining: waiting for Pod/m],
  ])('%s says why also in a window of 80 columns', async (command, head, row) => {
    const cli = cliFixture(upgradeMidway())
    cli.out.isTTY = true
    cli.out.columns = 80
    await cli.run(command)
    expect(cli.out.text).toMatch(head)
    expect(cli.out.text).toMatch(row)
  })

  it('refuses a selector that is none', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('nodes', '-l', 'pool in a')).toBe(2)
    expect(cli.err.text).toContain(
      'error: "pool in a" is not a label selector: "pool in a" is not understood [Usage]\nnext: ',
    )
  })
})

describe('why', () => {
  it('without a name tells of every update that is not over, and of nothing where there is none', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('why')).toBe(0)
    expect(cli.out.text).toContain('DirectUpdate to-1-36: ')
    const idle = cliFixture(new FakeKubeApi())
    expect(await idle.run('why')).toBe(0)
    expect(idle.out.text).toBe('nothing waits: no update or profile is under way, and no node is under work\n')
  })

  it('without a name tells of nodes under work of another kind', async () => {
    const api = upgradeMidway()
    await api.delete(directUpdates, { name: 'to-1-36' }, {}, new AbortController().signal)
    const cli = cliFixture(api)
    expect(await cli.run('why')).toBe(0)
    expect(cli.out.text).toMatch(/^Node w/m)
  })

  it('explains a node that drains', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('why', 'w1')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "Node w1: pod shop/checkout-7f9c4: waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed) (since 12:03:00, 2m; looking again at 12:06:00)
        PodDisruptionBudget: a PodDisruptionBudget allows no disruption now; bring the workload back to full health
        w1 is Draining for update to-1-36, 2 of 12 pods left (since 12:02:30, 2m30s)
        w1 is cordoned by update to-1-36
        the ledger counts w1 as away for update to-1-36 (since 12:02:30, 2m30s)
      "
    `)
  })

  it('explains an update', async () => {
    const cli = cliFixture(upgradeMidway())
    expect(await cli.run('why', 'to-1-36')).toBe(0)
    expect(cli.out.text).toMatchInlineSnapshot(`
      "DirectUpdate to-1-36: w1 Draining: waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed) (since 12:03:00, 2m; looking again at 12:06:00)
        PodDisruptionBudget: a PodDisruptionBudget allows no disruption now; bring the workload back to full health
        it is InProgress: 3/7 done, 2 under work, 2 waiting
        w3, w4 Pending: budget "cluster" allows 2 nodes away; w1, w2 already are
          BudgetSpent: as many nodes are away as the budget allows; it goes on when one is back
      "
    `)
  })

  it('explains a pod, named with or without its namespace', async () => {
    const api = upgradeMidway().put(pods, {
      metadata: { name: 'checkout-7f9c4', namespace: 'shop', uid: 'p', resourceVersion: '1', creationTimestamp: noon },
      spec: { nodeName: 'w1', containers: [] },
    })
    const whole = cliFixture(api)
    await whole.run('why', 'shop/checkout-7f9c4')
    expect(whole.out.text).toMatchInlineSnapshot(`
      "Pod shop/checkout-7f9c4: it is still there: waiting for PodDisruptionBudget shop/checkout (0 of 1 disruptions allowed) (since 12:03:00, 2m; looking again at 12:06:00)
        PodDisruptionBudget: a PodDisruptionBudget allows no disruption now; bring the workload back to full health
        its node w1 is being drained for update to-1-36 (since 12:02:30, 2m30s)
      "
    `)
    const short = cliFixture(api)
    await short.run('why', 'checkout-7f9c4')
    expect(short.out.text).toBe(whole.out.text)
  })

  it('quotes a failed step', async () => {
    const steps = [
      { name: 'script', state: 'Failed' as const, attempts: 1, logTail: 'disk /dev/sdb is gone\nexit 7\n' },
    ]
    const agent = nodeState('w1').status?.agent
    const failed = nodeState(
      'w1',
      { phase: 'Failed', reason: { code: 'StepFailed', message: 'script ended with 7: disk /dev/sdb is gone' } },
      agent && { ...agent, order: { id: 'o/1', state: 'Failed', steps } },
    )
    const cli = cliFixture(new FakeKubeApi().put(nodes, node('w1', { cordon: 'update' })).put(nodeStates, failed))
    await cli.run('why', 'w1')
    expect(cli.out.text).toContain('Node w1: w1: script ended with 7: disk /dev/sdb is gone\n')
    expect(cli.out.text).toContain('step script failed; its last lines:\n      disk /dev/sdb is gone\n      exit 7\n')
  })

  it('says, as nodes and status do, that what was done was undone', async () => {
    const reason = {
      code: 'StepFailed' as const,
      message: 'what it had done was undone by step undo: script ended with 7',
    }
    const order = { id: `${operation}/1`, state: 'Failed' as const, reason, rolledBack: true, steps: [] }
    const failed = nodeState('w1', { phase: 'Failed', reason }, agentOf(order))
    const api = upgradeMidway().put(nodeStates, failed)
    const why = cliFixture(api)
    await why.run('why', 'w1')
    expect(why.out.text).toContain(`Node w1: w1: ${reason.message}`)
    expect(why.out.text).toMatch(/w1: what the order had done was undone\n +RolledBack: .*then retry\n/)
    const data = cliFixture(api)
    await data.run('nodes', '-o', 'json')
    expect(JSON.parse(data.out.text)).toContainEqual(expect.objectContaining({ name: 'w1', rolledBack: true, reason }))
    for (const argv of [['nodes'], ['status', 'to-1-36']]) {
      const cli = cliFixture(api)
      await cli.run(...argv)
      expect(cli.out.text).toContain(reason.message)
    }
  })

  it('says that nothing waits', async () => {
    const cli = cliFixture(new FakeKubeApi().put(nodes, node('w9')).put(nodeStates, nodeState('w9')))
    await cli.run('why', 'w9')
    expect(cli.out.text).toBe('Node w9: nothing waits: no update concerns w9, and it is Ready and schedulable\n')
  })

  it('says that nothing has this name', async () => {
    const cli = cliFixture(new FakeKubeApi())
    expect(await cli.run('why', 'ghost')).toBe(2)
    expect(cli.err.text).toContain('error: there is no node, update, profile or pod named ghost [NotFound]\n')
  })
})
