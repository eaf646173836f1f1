import { describe, expect, it } from 'vitest'
import type { ControlPlaneReport, EtcdMemberState, EtcdReport } from '../../api/control-plane.ts'
import { type ApiAway, mayLeave } from './may-leave.ts'

const names = ['cp1', 'cp2', 'cp3', 'cp4', 'cp5']
const member = (id: number, part: Partial<EtcdMemberState> = {}): EtcdMemberState => ({
  id: String(id),
  name: names[id - 1] ?? '',
  learner: false,
  healthy: true,
  leader: id === 1,
  ...part,
})
const membersOf = (count: number) => Array.from({ length: count }, (_, index) => member(index + 1))

type Part = Partial<Omit<ControlPlaneReport, 'etcd' | 'apiServer'>> & {
  readonly apiServer?: ControlPlaneReport['apiServer']
  readonly etcd?: Partial<EtcdReport>
}

/** What the n-th of `count` nodes says, each with a member of its own. */
const says = (n: number, count: number, { etcd, ...part }: Part = {}): ControlPlaneReport => ({
  checkedAt: '2026-01-01T12:00:00Z',
  apiServer: { ready: true },
  ...part,
  etcd: {
    place: 'Local',
    ...((etcd?.place ?? 'Local') === 'Local' && { member: String(n) }),
    members: membersOf(count),
    alarms: [],
    ...etcd,
  },
})

/** A cluster of so many; what some of its nodes say instead of all being well, undefined = nothing. */
const cluster = (count: number, different: Readonly<Record<number, Part | undefined>> = {}) =>
  names.slice(0, count).map((name, index) => {
    const n = index + 1
    return { name, report: n in different && !different[n] ? undefined : says(n, count, different[n]) }
  })
const all = (count: number, etcd: Partial<EtcdReport>) =>
  cluster(count, Object.fromEntries(membersOf(count).map((_, index) => [index + 1, { etcd }])))
const sees = (...members: readonly EtcdMemberState[]): Part => ({ etcd: { members: [...members] } })
const down = { healthy: false, problem: 'refused' }
const noAnswer: Partial<EtcdReport> = { members: [], reason: { code: 'EtcdUnknown', message: 'refused' } }
const nothing: Partial<EtcdReport> = { place: 'None', ...noAnswer }
const external: Partial<EtcdReport> = { place: 'External' }

interface Case {
  readonly name: string
  readonly nodes: ReturnType<typeof cluster>
  readonly apiAway?: ApiAway
  readonly because?: string
}

describe('whether cp1 may leave', () => {
  it.each<Case>([
    { name: 'one of three, all well', nodes: cluster(3) },
    { name: 'one of five, all well', nodes: cluster(5) },
    {
      name: 'another has not answered',
      nodes: cluster(3, { 2: undefined }),
      because: 'ControlPlaneUnknown: cp2 has not said how the API server and etcd are there; do the agents run?',
    },
    {
      name: 'it has not answered itself',
      nodes: cluster(3, { 1: undefined }),
      because: 'ControlPlaneUnknown: cp1 has not said how the API server and etcd are there; do the agents run?',
    },
    {
      name: 'another API server is not ready',
      nodes: cluster(3, { 3: { apiServer: { ready: false, problem: 'etcd failed' } } }),
      because: 'ApiServerNotReady: the API server of cp3 is not ready: etcd failed',
    },
    {
      name: 'another has no API server any more, and the rest have',
      nodes: cluster(3, { 2: { apiServer: undefined } }),
      because:
        'ApiServerNotReady: cp2 has no API server in /etc/kubernetes/manifests/kube-apiserver.yaml that could be asked, as cp1 has',
    },
    {
      name: 'the only other one has none, whatever the plan says',
      nodes: cluster(2, { 2: { apiServer: undefined } }),
      apiAway: 'Stated',
      because:
        'ApiServerNotReady: cp2 has no API server in /etc/kubernetes/manifests/kube-apiserver.yaml that could be asked, as cp1 has',
    },
    { name: 'it has none itself: nothing goes with it', nodes: cluster(3, { 1: { apiServer: undefined } }) },
    {
      name: 'no host tells of an API server, as with k3s',
      nodes: cluster(3, { 1: { apiServer: undefined }, 2: { apiServer: undefined }, 3: { apiServer: undefined } }),
    },
    { name: 'its own API server is not ready', nodes: cluster(3, { 1: { apiServer: { ready: false } } }) },
    {
      name: 'one of three sees another member down',
      nodes: cluster(3, { 2: sees(member(1), member(2), member(3, down)) }),
      because: 'EtcdUnhealthy: member cp3 of etcd is not healthy, as cp2 sees it: refused',
    },
    {
      name: 'one of five is down: a quorum would be left, but it is no time to leave',
      nodes: cluster(5, { 1: sees(member(1), member(2), member(3), member(4), member(5, down)) }),
      because: 'EtcdUnhealthy: member cp5 of etcd is not healthy, as cp1 sees it: refused',
    },
    {
      name: 'its own member is the one that is down',
      nodes: all(3, { members: [member(1, down), member(2), member(3)] }),
    },
    {
      name: 'its own member is down and sees nothing',
      nodes: cluster(3, {
        1: { etcd: noAnswer },
        2: sees(member(1, down), member(2), member(3)),
        3: sees(member(1, down), member(2), member(3)),
      }),
    },
    {
      name: 'its own and another are down',
      nodes: cluster(3, { 1: { etcd: noAnswer }, 2: sees(member(1, down), member(2), member(3, down)) }),
      because: 'EtcdUnhealthy: member cp3 of etcd is not healthy, as cp2 sees it: refused',
    },
    {
      name: 'another sees nothing',
      nodes: cluster(3, { 2: { etcd: noAnswer } }),
      because: 'EtcdUnknown: cp2: refused',
    },
    {
      name: 'a learner catches up',
      nodes: all(3, { members: [...membersOf(3), member(4, { learner: true })] }),
      because: 'EtcdLearner: member cp4 of etcd is a learner that is still catching up',
    },
    {
      name: 'an alarm',
      nodes: all(3, { alarms: ['NOSPACE of 2'] }),
      because: 'EtcdAlarm: etcd has raised NOSPACE of 2; see: etcdctl alarm list',
    },
    {
      name: 'a node that runs etcd was removed from it: three nodes are not two members',
      nodes: all(3, { members: membersOf(2) }),
      apiAway: 'Stated',
      because: 'EtcdMemberMissing: cp3 runs etcd, but etcd does not count it among its members',
    },
    {
      name: 'two clusters',
      nodes: cluster(3, { 3: sees(member(3), member(4), member(5)) }),
      because: 'EtcdUnhealthy: cp3 and cp1 do not see the same members of etcd',
    },
    {
      name: 'the only one, and the plan says so',
      nodes: cluster(1),
      apiAway: 'Stated',
    },
    {
      name: 'the only one, and the plan says nothing',
      nodes: cluster(1),
      because:
        'ControlPlaneUnstated: the API would be away while cp1 is (it has the only API server), and the plan did not say so',
    },
    { name: 'the only one, without any etcd', nodes: all(1, nothing), apiAway: 'Stated' },
    {
      name: 'the only one, its etcd does not answer',
      nodes: all(1, noAnswer),
      apiAway: 'Stated',
      because: 'EtcdUnknown: cp1: refused',
    },
    { name: 'one of two, and the plan says so', nodes: cluster(2), apiAway: 'Stated' },
    {
      name: 'one of two, and the plan says nothing',
      nodes: cluster(2),
      because:
        'ControlPlaneUnstated: the API would be away while cp1 is (1 of 2 members of etcd would be left without cp1, 2 must agree), and the plan did not say so',
    },
    {
      name: 'one of two, the other down: whatever the plan says',
      nodes: all(2, { members: [member(1), member(2, down)] }),
      apiAway: 'Stated',
      because: 'EtcdUnhealthy: member cp2 of etcd is not healthy, as cp1 sees it: refused',
    },
    {
      name: 'two nodes with one lost of three members are not a cluster of two',
      nodes: all(2, { members: [member(1), member(2), member(3, down)] }),
      apiAway: 'Stated',
      because: 'EtcdUnhealthy: member cp3 of etcd is not healthy, as cp1 sees it: refused',
    },
    { name: 'one of two with an etcd elsewhere', nodes: all(2, { ...external, members: membersOf(3) }) },
    {
      name: 'an etcd elsewhere with a member down',
      nodes: all(2, { ...external, members: [member(1), member(2), member(3, down)] }),
      because: 'EtcdUnhealthy: member cp3 of etcd is not healthy, as cp1 sees it: refused',
    },
    {
      name: 'several without any etcd that we know',
      nodes: all(3, nothing),
      apiAway: 'Stated',
      because: 'EtcdUnknown: cp1: refused',
    },
  ])('$name', ({ nodes, apiAway = 'Unstated', because }) => {
    const reason = mayLeave('cp1', nodes, apiAway)
    expect(reason && `${reason.code}: ${reason.message}`).toBe(because)
  })
})
