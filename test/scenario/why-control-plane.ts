// Situations in which a node of the control plane waits for its API servers and for etcd.

import { nodes } from '../../src/api/kube.ts'
import type { Story } from './story.ts'
import type { Situation } from './why-asking.ts'

/** Three of the control plane and four workers. */
const options = { nodes: 7 }
const minuteMs = 60_000
const manifests = '/etc/kubernetes/manifests'
const named = (name: string) => ({ nodeSelector: { matchLabels: { 'kubernetes.io/hostname': name } } })

/** An update that begins with the control plane, until it waits for this. */
const waits = (code: string) => (story: Story) => story.update.script('true').is('InProgress', code)

/** It is wrong before the update is there. */
const wrong = (code: string, happens: (story: Story) => unknown) => async (story: Story) => {
  await happens(story)
  await waits(code)(story)
}

/** This machine's own etcd is gone; its API server uses that of another. */
async function leavesEtcd({ cluster }: Story, name: string, uses: string): Promise<void> {
  const { files } = cluster.machine(name).host
  const command = ['kube-apiserver', `--advertise-address=${name}`, `--etcd-servers=http://${uses}:2379`]
  const pod = { kind: 'Pod', spec: { containers: [{ image: 'pretend/kube-apiserver:1', command }] } }
  await files.remove(`${manifests}/etcd.yaml`)
  const access = { mode: 0o600, owner: 'root', group: 'root' }
  await files.write(`${manifests}/kube-apiserver.yaml`, JSON.stringify(pod), access)
  cluster.sim.controlPlaneServers.removeMember(name)
}

/** As `kubeadm reset` and deleting the Node do. */
async function isTakenOut({ cluster, person }: Story, name: string): Promise<void> {
  cluster.sim.controlPlaneServers.removeMember(name)
  cluster.machine(name).losePower()
  await person.deletes(nodes, { name })
}

export const controlPlaneSituations: readonly Situation[] = [
  {
    name: 'another node of the control plane is away before the update starts',
    options,
    arrange: async (story) => {
      story.cluster.machine('cp2').losePower()
      await story.cluster.pass(minuteMs)
      await story.update.script('true').is('Pending', 'PreflightFailed')
    },
    asked: [
      { of: 'update', code: 'PreflightFailed', names: /of the control plane cp2 is not Ready; bring it back first/ },
      { of: 'cp1', code: 'PreflightFailed', names: /cp1 waits for its turn in update update: .*cp2 is not Ready/ },
    ],
  },
  {
    name: 'another update works on the control plane',
    options,
    arrange: async (story) => {
      story.cluster.machine('cp2').host.slowDown(100)
      await story.update.script('true', { ...named('cp2'), name: 'first' }).starts()
      await story.update.script('echo', named('cp1')).is('InProgress', 'ControlPlaneBusy')
    },
    asked: [
      { of: 'cp1', code: 'ControlPlaneBusy', names: /update update: cp2 of the control plane is away/ },
      { of: 'update', code: 'ControlPlaneBusy', names: /cp2 of the control plane is away/ },
    ],
  },
  {
    name: 'a machine of the control plane dies while another is worked on',
    options,
    arrange: async ({ cluster, update }) => {
      cluster.machine('cp2').host.slowDown(100)
      const running = update.script('true')
      await cluster.nodeIs('cp2', 'Working')
      cluster.machine('cp3').losePower()
      const told = () => running.status.nodes?.some(({ reason }) => reason?.message.includes('cp3'))
      await cluster.until('it is told', () => told() === true)
    },
    asked: [{ of: 'cp1', code: 'ControlPlaneBusy', names: /cp2, cp3 of the control plane are away/ }],
  },
  {
    name: 'a node of the control plane does not say how it is',
    options,
    arrange: wrong('ControlPlaneUnknown', ({ cluster, faults }) => {
      faults.keepAway('cp2')
      cluster.machine('cp2').agent?.crash()
    }),
    asked: [
      { of: 'update', code: 'ControlPlaneUnknown', names: /cp2 has not said how the API server and etcd are there/ },
      { of: 'cp1', code: 'ControlPlaneUnknown', names: /cp2 has not said/ },
    ],
  },
  {
    name: 'the API server of another node is not ready',
    options,
    arrange: wrong('ApiServerNotReady', ({ cluster }) =>
      cluster.sim.controlPlaneServers.unreadyApiServer('cp3', '[-]poststarthook/rbac failed'),
    ),
    asked: [
      {
        of: 'update',
        code: 'ApiServerNotReady',
        names: /API server of cp3 is not ready: .*poststarthook\/rbac failed/,
      },
      { of: 'cp1', code: 'ApiServerNotReady', names: /cp3/ },
    ],
  },
  {
    name: 'a member of etcd is down though its node is Ready',
    options,
    arrange: wrong('EtcdUnhealthy', ({ cluster }) => cluster.machine('cp3').sickenEtcd(60 * minuteMs)),
    asked: [
      { of: 'update', code: 'EtcdUnhealthy', names: /member cp3 of etcd is not healthy, as cp1 sees it/ },
      { of: 'cp2', code: 'EtcdUnhealthy', names: /member cp3/ },
    ],
  },
  {
    name: 'a member of etcd falls while the node is drained',
    options,
    arrange: async ({ cluster, update }) => {
      await update.kubernetes('v1.36.3').starts()
      cluster.machine('cp3').sickenEtcd(60 * minuteMs)
      const order = () => cluster.taken.map((name) => cluster.state(name)?.status?.agent?.order?.reason?.code)
      await cluster.until('it waits', () => order().includes('EtcdUnhealthy'))
    },
    asked: [{ of: ({ taken }) => taken[0] ?? '', code: 'EtcdUnhealthy', names: /member cp3 of etcd is not healthy/ }],
  },
  {
    name: 'the node’s own member of etcd does not come back',
    options,
    arrange: async ({ cluster, update }) => {
      update.script('true', named('cp1'))
      await cluster.nodeIs('cp1', 'Working')
      cluster.machine('cp1').sickenEtcd(60 * minuteMs)
      await cluster.nodeIs('cp1', 'Verifying', 'WaitingForHealth')
    },
    asked: [{ of: 'cp1', code: 'WaitingForHealth', names: /cp1: etcd cannot be asked: http:\/\/cp1:2379/ }],
  },
  {
    name: 'nothing tells where etcd is',
    options,
    arrange: wrong('EtcdUnknown', ({ cluster }) => cluster.machine('cp2').host.files.remove(`${manifests}/etcd.yaml`)),
    asked: [
      { of: 'update', code: 'EtcdUnknown', names: /cp2: nothing on this host tells where etcd is/ },
      { of: 'cp1', code: 'EtcdUnknown', names: /cp2/ },
    ],
  },
  {
    name: 'a learner catches up',
    options,
    arrange: wrong('EtcdLearner', ({ cluster }) => cluster.sim.controlPlaneServers.addLearner('cp4')),
    asked: [
      { of: 'update', code: 'EtcdLearner', names: /member cp4 of etcd is a learner/ },
      { of: 'cp1', code: 'EtcdLearner', names: /cp4/ },
    ],
  },
  {
    name: 'etcd has no space left',
    options,
    arrange: wrong('EtcdAlarm', ({ cluster }) => cluster.sim.controlPlaneServers.raiseAlarm('NOSPACE', 'cp2')),
    asked: [
      { of: 'update', code: 'EtcdAlarm', names: /etcd has raised NOSPACE of cp2; see: etcdctl alarm list/ },
      { of: 'cp1', code: 'EtcdAlarm', names: /NOSPACE of cp2/ },
    ],
  },
  {
    name: 'etcd runs on a node that is no member',
    options,
    arrange: wrong('EtcdMemberMissing', ({ cluster }) => cluster.sim.controlPlaneServers.removeMember('cp3')),
    asked: [
      { of: 'update', code: 'EtcdMemberMissing', names: /cp3 runs etcd, but etcd does not count it/ },
      { of: 'cp1', code: 'EtcdMemberMissing', names: /cp3/ },
    ],
  },
  {
    name: 'etcd has two members on a control plane of three',
    options,
    arrange: wrong('EtcdQuorumAtStake', (story) => leavesEtcd(story, 'cp3', 'cp1')),
    asked: [
      { of: 'update', code: 'EtcdQuorumAtStake', names: /1 of 2 members of etcd would be left without cp[12]/ },
      { of: 'cp2', code: 'EtcdQuorumAtStake', names: /without cp2, 2 must agree/ },
    ],
  },
  {
    name: 'the control plane became smaller after the plan was made',
    options,
    arrange: async (story) => {
      await story.person.setsPolicy({ paused: true })
      const waiting = await story.update.script('true').is('InProgress', 'PolicyPaused')
      await isTakenOut(story, 'cp3')
      await story.cluster.pass(minuteMs)
      await story.person.setsPolicy({ paused: false })
      await waiting.is('InProgress', 'ControlPlaneUnstated')
    },
    asked: [
      {
        of: 'update',
        code: 'ControlPlaneUnstated',
        names: /API would be away while cp[12] is .*the plan did not say so/,
      },
      { of: 'cp2', code: 'ControlPlaneUnstated', names: /while cp2 is/ },
    ],
  },
]
