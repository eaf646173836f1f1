// Rule 2: whether a control-plane node may leave now. Every control-plane node has just said how its API server is and how it
// sees the members of etcd; whatever one of them cannot tell, or sees wrong, keeps the node from going.

import type { ControlPlaneReport, EtcdMemberState, EtcdReport } from '../../api/control-plane.ts'
import type { Reason, ReasonCode } from '../../api/reason.ts'

export interface ControlPlaneNode {
  readonly name: string
  /** What it said just now; undefined where it has not answered. */
  readonly report: ControlPlaneReport | undefined
}

/** Whether the plan said that the API will be away. */
export type ApiAway = 'Stated' | 'Unstated'

/** How one node sees etcd. */
interface Sight {
  readonly from: string
  readonly etcd: EtcdReport
}

export function mayLeave(name: string, nodes: readonly ControlPlaneNode[], apiAway: ApiAway): Reason | undefined {
  const silent = nodes.filter(({ report }) => report === undefined).map((node) => node.name)
  if (silent.length > 0) return unknown(silent)
  // First etcd: an API server is not ready when its etcd is not.
  return judgeEtcd(name, nodes, apiAway) ?? judgeServers(name, nodes)
}

/** Where no host tells of an API server they run in a way that we do not know (k3s): nothing can be missed there. */
function judgeServers(name: string, nodes: readonly ControlPlaneNode[]): Reason | undefined {
  const teller = nodes.find(({ report }) => report?.apiServer)
  for (const { name: from, report } of nodes) {
    if (from === name || !teller || report?.apiServer?.ready === true) continue
    const message = report?.apiServer
      ? `the API server of ${from} is not ready: ${report.apiServer.problem ?? 'no reason given'}`
      : `${lacksServer(from)}, as ${teller.name} has`
    return because('ApiServerNotReady', message)
  }
  return undefined
}

/** An API server that was there goes with its manifest. */
export function lacksServer(name: string): string {
  return `${name} has no API server in ${apiServerManifest} that could be asked`
}

const apiServerManifest = '/etc/kubernetes/manifests/kube-apiserver.yaml'

function judgeEtcd(name: string, nodes: readonly ControlPlaneNode[], apiAway: ApiAway): Reason | undefined {
  const sights = nodes.flatMap(({ name: from, report }) => (report ? [{ from, etcd: report.etcd }] : []))
  const own = sights.find(({ from }) => from === name)
  if (!own) return unknown([name])
  if (sights.length === 1) {
    const wrong = own.etcd.place === 'None' ? undefined : (cannotTell(own) ?? wrongWithEtcd(own, own.etcd.member))
    return wrong ?? (apiAway === 'Stated' ? undefined : unstated(name, 'it has the only API server'))
  }
  return withOthers(name, own, sights, apiAway)
}

function withOthers(name: string, own: Sight, sights: readonly Sight[], apiAway: ApiAway): Reason | undefined {
  const { member } = own.etcd
  // A member that is down sees nothing; its own node may be worked on while all others are well.
  const isDown = own.etcd.reason !== undefined && member !== undefined
  const seeing = isDown ? sights.filter((sight) => sight !== own) : sights
  const [first] = seeing
  for (const sight of seeing) {
    const wrong = cannotTell(sight) ?? wrongWithEtcd(sight, member) ?? (first && differs(sight, first))
    if (wrong) return wrong
  }
  return first && quorumWithout(name, member, first.etcd.members, sights.length, apiAway)
}

function cannotTell({ from, etcd }: Sight): Reason | undefined {
  if (etcd.reason) return because(etcd.reason.code, `${from}: ${etcd.reason.message}`)
  if (etcd.place !== 'Local' || etcd.members.some(({ id }) => id === etcd.member)) return undefined
  return because('EtcdMemberMissing', `${from} runs etcd, but etcd does not count it among its members`)
}

function wrongWithEtcd({ from, etcd }: Sight, leaving: string | undefined): Reason | undefined {
  const learner = etcd.members.find(({ learner: is }) => is)
  if (learner) return because('EtcdLearner', `${nameOf(learner)} of etcd is a learner that is still catching up`)
  const sick = etcd.members.find(({ id, healthy }) => !healthy && id !== leaving)
  if (sick) {
    const message = `${nameOf(sick)} of etcd is not healthy, as ${from} sees it: ${sick.problem ?? 'no reason given'}`
    return because('EtcdUnhealthy', message)
  }
  const [alarm] = etcd.alarms
  return alarm === undefined ? undefined : because('EtcdAlarm', `etcd has raised ${alarm}; see: etcdctl alarm list`)
}

/** Two members that count differently belong to two clusters, or one of them is far behind. */
function differs({ from, etcd }: Sight, first: Sight): Reason | undefined {
  const ids = (members: readonly EtcdMemberState[]) =>
    members
      .map(({ id }) => id)
      .sort()
      .join()
  if (ids(etcd.members) === ids(first.etcd.members)) return undefined
  return because('EtcdUnhealthy', `${from} and ${first.from} do not see the same members of etcd`)
}

function quorumWithout(
  name: string,
  member: string | undefined,
  members: readonly EtcdMemberState[],
  nodes: number,
  apiAway: ApiAway,
): Reason | undefined {
  // An etcd elsewhere loses nobody.
  if (member === undefined) return undefined
  const left = members.filter(({ id, healthy }) => healthy && id !== member).length
  const needed = Math.floor(members.length / 2) + 1
  if (left >= needed) return undefined
  const counted = `${left} of ${members.length} members of etcd would be left without ${name}, ${needed} must agree`
  if (members.length > 2 || nodes > 2) return because('EtcdQuorumAtStake', counted)
  return apiAway === 'Stated' ? undefined : unstated(name, counted)
}

function unstated(name: string, why: string): Reason {
  return because('ControlPlaneUnstated', `the API would be away while ${name} is (${why}), and the plan did not say so`)
}

function unknown(names: readonly string[]): Reason {
  const have = names.length === 1 ? 'has' : 'have'
  const message = `${names.join(', ')} ${have} not said how the API server and etcd are there; do the agents run?`
  return because('ControlPlaneUnknown', message)
}

function nameOf({ name, id }: EtcdMemberState): string {
  return `member ${name === '' ? id : name}`
}

function because(code: ReasonCode, message: string): Reason {
  return { code, message: message.slice(0, 4000) }
}
