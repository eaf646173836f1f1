// Situations in which a node or an update waits for its turn, for somebody else, or for a person.

import type { Driver } from '../../src/agent/drivers/driver.ts'
import { rehearsalDrivers } from '../../src/agent/drivers/rehearsal-kubernetes.ts'
import { scriptDriver } from '../../src/agent/drivers/script.ts'
import { directUpdates } from '../../src/api/direct-update.ts'
import { nodes, secrets } from '../../src/api/kube.ts'
import { nodeProfiles } from '../../src/api/node-profile.ts'
import { operatorNamespace } from '../../src/sim/workloads.ts'
import type { Story } from './story.ts'
import type { StoryCluster } from './story-cluster.ts'
import type { Situation } from './why-asking.ts'

const workers = {
  matchExpressions: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'DoesNotExist' as const }],
}
const onWorkers = { nodeSelector: workers }
const named = (name: string) => ({ nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } } })

/** Hosts that never finish fetching. */
const slowToStage: Driver = { ...scriptDriver, stage: () => new Promise(() => undefined) }

const listed = async ({ cluster }: Story, code: string) => {
  const waits = () => cluster.sim.server.peek(directUpdates, { name: 'update' })?.status?.nodes ?? []
  await cluster.until(code, () => waits().some(({ reason }) => reason?.code === code))
}

const waitsFor = (code: string) => async (story: Story, update: () => unknown) => {
  update()
  await listed(story, code)
}

export const waitingSituations: readonly Situation[] = [
  {
    name: 'as many are away as the update says',
    arrange: (story) => waitsFor('BudgetSpent')(story, () => story.update.script('true', onWorkers)),
    asked: [
      { of: 'w2', code: 'BudgetSpent', names: /w2 waits for its turn in update update: .*strategy\.maxUnavailable/ },
      { of: 'update', code: 'BudgetSpent', names: /1 node\(s\) at once/ },
    ],
  },
  {
    name: 'as many are away as the cluster allows',
    arrange: async (story) => {
      await story.person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
      await waitsFor('BudgetSpent')(story, () =>
        story.update.script('true', { ...onWorkers, strategy: { maxUnavailable: 3 } }),
      )
    },
    asked: [
      { of: 'w2', code: 'BudgetSpent', names: /cluster: 1 of 1 away: w1/ },
      { of: 'update', code: 'BudgetSpent', names: /w1/ },
    ],
  },
  {
    name: 'a person’s cordon uses the budget up',
    arrange: async (story) => {
      await story.person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
      await story.person.cordons('w3')
      await waitsFor('BudgetAllowsNothing')(story, () => story.update.script('true', named('w1')))
    },
    asked: [
      { of: 'w1', code: 'BudgetAllowsNothing', names: /w3/ },
      { of: 'update', code: 'BudgetAllowsNothing', names: /w3/ },
    ],
  },
  {
    name: 'a node that failed uses the budget up',
    arrange: async (story) => {
      await story.person.setsPolicy({ budgets: [{ maxUnavailable: 1 }] })
      story.cluster.failing.add('w1')
      await waitsFor('FailedNodesInTheWay')(story, () =>
        story.update.script('true', { ...onWorkers, strategy: { maxFailures: 2 } }),
      )
    },
    asked: [
      { of: 'w2', code: 'FailedNodesInTheWay', names: /w1 \(failed for/ },
      { of: 'update', code: 'FailedNodesInTheWay', names: /slipway release w1/ },
    ],
  },
  {
    name: 'the policy is paused',
    arrange: async (story) => {
      await story.person.setsPolicy({ paused: true })
      await waitsFor('PolicyPaused')(story, () => story.update.script('true'))
    },
    asked: [
      { of: 'cp1', code: 'PolicyPaused', names: /MaintenancePolicy\/default is paused|nothing new starts/ },
      { of: 'update', code: 'PolicyPaused', names: /nothing new starts/ },
    ],
  },
  {
    name: 'a node failed while another is under work',
    arrange: async (story) => {
      story.cluster.failing.add('w1')
      story.cluster.machine('w2').host.slowDown(50)
      await waitsFor('FailuresReached')(story, () =>
        story.update.script('true', { ...onWorkers, strategy: { maxUnavailable: 2 } }),
      )
    },
    asked: [
      { of: 'w3', code: 'FailuresReached', names: /w1 failed/ },
      { of: 'update', code: 'StepFailed', names: /w1 Failed/ },
    ],
  },
  {
    name: 'the node is not Ready',
    arrange: async (story) => {
      story.cluster.machine('w1').losePower()
      await story.cluster.pass(60_000)
      const waiting = story.update.script('true', { ...onWorkers, strategy: { maxUnavailable: 3 } })
      await waiting.is('InProgress', 'NodeNotReady')
    },
    asked: [{ of: 'update', code: 'NodeNotReady', names: /w1 is not Ready/ }],
  },
  {
    name: 'another update holds the node',
    arrange: async (story) => {
      story.cluster.machine('w1').host.slowDown(100)
      await story.update.script('true', { ...named('w1'), name: 'first' }).starts()
      await waitsFor('NodeHeldElsewhere')(story, () => story.update.script('echo', named('w1')))
    },
    asked: [{ of: 'update', code: 'NodeHeldElsewhere', names: /w1 is held by first/ }],
  },
  {
    name: 'no agent has reported',
    options: { withoutAgent: ['w1'] },
    arrange: (story) => story.update.script('true').is('Pending', 'AgentMissing'),
    asked: [
      { of: 'update', code: 'AgentMissing', names: /no agent has reported from w1/ },
      { of: 'w1', code: 'AgentMissing', names: /no agent has reported/ },
    ],
  },
  {
    name: 'the next nodes fetch what they need',
    options: {
      driversOf: () => [
        slowToStage,
        ...rehearsalDrivers.map((one) => ({ ...one, stage: () => new Promise<never>(() => undefined) })),
      ],
    },
    arrange: async (story) => {
      await story.update.kubernetes('v1.36.3').is('InProgress', 'NodesStaging')
      await story.cluster.pass(10_000)
    },
    asked: [{ of: 'update', code: 'NodesStaging', names: /cp1/ }],
  },
  {
    name: 'the agent does not take what it is to fetch',
    arrange: async (story) => {
      story.faults.keepAway('cp1')
      story.cluster.machine('cp1').agent?.crash()
      await story.update.kubernetes('v1.36.3').is('InProgress', 'WaitingForAgent')
    },
    asked: [
      { of: 'cp1', code: 'WaitingForAgent', names: /cp1/ },
      { of: 'update', code: 'WaitingForAgent', names: /cp1/ },
    ],
  },
  {
    name: 'the agent has not taken it in time',
    arrange: async (story) => {
      story.faults.keepAway('cp1')
      story.cluster.machine('cp1').agent?.crash()
      await story.update.kubernetes('v1.36.3', { nodeTimeout: '5m' }).is('RequiresAttention')
    },
    asked: [
      { of: 'cp1', code: 'OrderTimedOut', names: /has not accepted the order within nodeTimeout \(5m\)/ },
      { of: 'update', code: 'OrderTimedOut', names: /cp1/ },
    ],
  },
  {
    name: 'the agent does not take the order',
    arrange: async (story) => {
      await story.update.script('true', named('w1')).starts()
      story.faults.keepAway('w1')
      story.cluster.machine('w1').agent?.crash()
      await story.cluster.nodeIs('w1', 'Assigned', 'WaitingForAgent')
    },
    asked: [
      { of: 'w1', code: 'WaitingForAgent', names: /w1/ },
      { of: 'update', code: 'WaitingForAgent', names: /w1 Assigned/ },
    ],
  },
  {
    name: 'the node does not come back',
    arrange: async ({ cluster, update }) => {
      update.script('true', named('w1'))
      await cluster.nodeIs('w1', 'Working')
      const conditions = [{ type: 'Ready', status: 'False', message: 'the network is not ready' }]
      const body = { status: { conditions } }
      cluster.sim.server.patch('person', nodes, { name: 'w1' }, { type: 'merge', body }, 'status')
      await cluster.nodeIs('w1', 'Verifying', 'WaitingForHealth')
    },
    asked: [
      { of: 'w1', code: 'WaitingForHealth', names: /w1 is not Ready: the network is not ready/ },
      { of: 'update', code: 'WaitingForHealth', names: /w1 Verifying/ },
    ],
  },
  {
    name: 'a profile waits for an update that names it',
    arrange: async (story) => {
      const spec = { rollout: 'ByUpdate' as const, nodeSelector: workers, packages: [{ name: 'chrony' }] }
      await story.person.creates(nodeProfiles, { metadata: { name: 'base' }, spec })
      await story.cluster.until('it waits', () => appliedReason(story.cluster) === 'WaitingForUpdate')
    },
    asked: [
      {
        of: 'w1',
        code: 'WaitingForUpdate',
        names: /NodeProfile base: .*create a DirectUpdate with spec\.profile base/,
      },
    ],
  },
  {
    name: 'the wave is looked at',
    arrange: (story) =>
      story.update
        .script('true', { ...onWorkers, strategy: { waves: [{ size: 1, soak: '2h' }, { size: '100%' }] } })
        .is('InProgress', 'WaveSoaking'),
    asked: [
      { of: 'update', code: 'WaveSoaking', names: /wave 1 of 2 is done and is looked at until/ },
      { of: 'w2', code: 'WaveSoaking', names: /w2 waits for its turn/ },
    ],
  },
  {
    name: 'the next wave wants an approval',
    arrange: (story) =>
      story.update
        .script('true', {
          ...onWorkers,
          strategy: { waves: [{ size: 1, promotion: 'Manual' }, { size: '100%' }] },
        })
        .is('InProgress', 'ApprovalWanted'),
    asked: [
      { of: 'update', code: 'ApprovalWanted', names: /slipway approve update/ },
      { of: 'w2', code: 'ApprovalWanted', names: /wave 1 of 2 is done/ },
    ],
  },
  {
    name: 'a person paused the update',
    arrange: async (story) => {
      const running = await story.update.script('true', onWorkers).hasDone(1)
      await running.isEdited({ desiredState: 'Paused' })
      await listed(story, 'UpdatePaused')
    },
    asked: [
      { of: 'update', code: 'Paused', names: /slipway resume update/ },
      { of: 'w3', code: 'UpdatePaused', names: /paused/ },
    ],
  },
  {
    name: 'a person cancelled the update while a node is under work',
    arrange: async (story) => {
      story.cluster.machine('w1').host.slowDown(100)
      const running = story.update.script('true', onWorkers)
      await story.cluster.nodeIs('w1', 'Working')
      await running.isEdited({ desiredState: 'Cancelled' })
      await listed(story, 'UpdateCancelled')
    },
    asked: [{ of: 'update', code: 'UpdateCancelled', names: /cancelled/ }],
  },
  {
    name: 'a host has no key to seal a Secret to',
    options: { driversOf: () => [{ ...scriptDriver, name: 'profile', concerns: () => false }] },
    arrange: async ({ cluster, person }) => {
      const data = { password: 'aHVudGVyMg==' }
      await person.creates(secrets, { metadata: { name: 'login', namespace: operatorNamespace }, data })
      const files = [{ path: '/etc/login', secret: { name: 'login', key: 'password' } }]
      await person.creates(nodeProfiles, { metadata: { name: 'base' }, spec: { nodeSelector: workers, files } })
      await cluster.until('it waits', () => appliedReason(cluster) === 'HostKeyMissing')
    },
    asked: [{ of: 'w1', code: 'HostKeyMissing', names: /NodeProfile base: .*the host has no key yet/ }],
  },
]

function appliedReason({ sim }: StoryCluster): string | undefined {
  const { conditions } = sim.server.peek(nodeProfiles, { name: 'base' })?.status ?? {}
  return conditions?.find(({ type }) => type === 'Applied')?.reason
}
