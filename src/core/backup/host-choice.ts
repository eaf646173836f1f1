// Which control-plane host is asked for a backup. In this order: one that has not failed yet, a follower before the leader, who
// has most to do, and by name, so that everybody comes to the same answer.

import type { BackupAnswer } from '../../api/backup.ts'
import type { EtcdReport } from '../../api/control-plane.ts'
import type { Reason } from '../../api/reason.ts'

export interface BackupHost {
  readonly name: string
  readonly isReady: boolean
  /** Somebody works on it, or is about to: its member of etcd may go away. */
  readonly isTaken: boolean
  /** Another backup is on record for it. */
  readonly isReserved?: boolean
  /** Undefined where no agent has reported. */
  readonly agent?: HostAgent | undefined
  /** The question that stands there. */
  readonly asked?: string | undefined
  readonly answer?: BackupAnswer | undefined
}

export interface HostAgent {
  /** It is new enough to make backups. */
  readonly canBackUp: boolean
  readonly publicKey?: string | undefined
  readonly etcd?: EtcdReport | undefined
}

export interface HostWish {
  /** Something secret has to reach it. */
  readonly needsKey: boolean
  /** The endpoints of etcd are given: what the host sees of etcd itself says nothing. */
  readonly isExternal: boolean
  /** Hosts on which it failed, once for each time. */
  readonly failed: readonly string[]
}

export type HostChoice = { readonly host: BackupHost } | { readonly host?: undefined; readonly reason: Reason }

const namedAtMost = 3

export function chooseHost(hosts: readonly BackupHost[], wish: HostWish): HostChoice {
  const judged = hosts.map((host) => ({ host, obstacle: hostObstacle(host, wish) }))
  const [best] = judged
    .flatMap(({ host, obstacle }) => (obstacle === undefined ? [host] : []))
    .sort((a, b) => failures(a, wish) - failures(b, wish) || leads(a) - leads(b) || (a.name < b.name ? -1 : 1))
  if (best) return { host: best }
  const said = judged.slice(0, namedAtMost).map(({ host, obstacle }) => `${host.name} ${obstacle}`)
  const message = said.length > 0 ? said.join('; ') : 'the cluster has no control-plane node'
  return { reason: { code: 'BackupHostMissing', message: `no host can make a backup of etcd: ${message}` } }
}

/** Whether a question stands there that is not answered for good. */
export function isAnswering({ asked, answer }: Pick<BackupHost, 'asked' | 'answer'>): boolean {
  return asked !== undefined && !(answer?.request === asked && answer.state !== 'Running')
}

/** Why it cannot be asked now, as the end of a sentence. */
function hostObstacle(host: BackupHost, { needsKey, isExternal }: HostWish): string | undefined {
  const { isReady, isTaken, agent } = host
  if (!isReady) return 'is not Ready'
  if (!agent) return 'has no agent that reports'
  if (!agent.canBackUp) return 'has an agent that cannot make backups; update it'
  if (needsKey && agent.publicKey === undefined) return 'has published no key yet that Secrets could be sealed to'
  if (isTaken) return 'is under work'
  if (host.isReserved || isAnswering(host)) return 'is busy with another backup'
  return isExternal ? undefined : etcdObstacle(agent.etcd)
}

function etcdObstacle(etcd: EtcdReport | undefined): string | undefined {
  if (!etcd) return 'has not said how etcd is there'
  if (etcd.reason) return `cannot ask etcd: ${etcd.reason.message}`
  if (etcd.place === 'None') return 'has no etcd that we find'
  if (etcd.place === 'External') {
    return etcd.members.some(({ healthy, learner }) => healthy && !learner)
      ? undefined
      : 'sees no healthy member of etcd'
  }
  const own = etcd.members.find(({ id }) => id === etcd.member)
  if (!own) return 'runs etcd that is not among its members'
  if (own.learner) return 'has a member of etcd that is still a learner'
  return own.healthy ? undefined : `has a member of etcd that is not healthy (${own.problem ?? 'no reason given'})`
}

function failures({ name }: BackupHost, { failed }: HostWish): number {
  return failed.filter((one) => one === name).length
}

function leads({ agent }: BackupHost): number {
  const { member, members = [] } = agent?.etcd ?? {}
  return members.some(({ id, leader }) => id === member && leader) ? 1 : 0
}
