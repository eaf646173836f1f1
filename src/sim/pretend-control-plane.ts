// etcd and the API servers of a simulated cluster, as far as agents ask them: a member for each control-plane machine, well while
// its machine is; a leader while a majority is. What else can be wrong with them is brought about by name.

import { SlipwayError } from '../api/slipway-error.ts'
import type { SecureAnswer, SecureRequest, SecureRequests } from '../ports/secure-requests.ts'

/** Of every control-plane machine, in the order in which they joined: whether its member of etcd is up. */
export type PretendMembers = () => ReadonlyMap<string, boolean>

export class PretendControlPlane implements SecureRequests {
  readonly #members: PretendMembers
  readonly #removed = new Set<string>()
  readonly #learners = new Set<string>()
  readonly #alarms: { readonly memberID: string; readonly alarm: string }[] = []
  readonly #unready = new Map<string, string>()
  #leader: string | undefined

  constructor(members: PretendMembers) {
    this.#members = members
  }

  /** Who leads now; undefined while too few are up to agree. */
  get leader(): string | undefined {
    const members = this.#voters()
    const up = [...members].flatMap(([name, isUp]) => (isUp ? [name] : []))
    if (up.length * 2 <= members.length) return undefined
    if (this.#leader === undefined || !up.includes(this.#leader)) this.#leader = up[0]
    return this.#leader
  }

  /** Its etcd runs on, and is counted by none. */
  removeMember(name: string): void {
    this.#removed.add(name)
  }

  /** A member without a vote, on a machine that is not of this cluster yet. */
  addLearner(name: string): void {
    this.#learners.add(name)
  }

  raiseAlarm(alarm: 'NOSPACE' | 'CORRUPT', name: string): void {
    this.#alarms.push({ memberID: this.#idOf(name), alarm })
  }

  /** As `etcdctl alarm disarm` does. */
  disarm(): void {
    this.#alarms.length = 0
  }

  /** The API server of that machine runs, and says that it is not ready. */
  unreadyApiServer(name: string, problem: string): void {
    this.#unready.set(name, problem)
  }

  send({ url, body }: SecureRequest, signal: AbortSignal): Promise<SecureAnswer> {
    signal.throwIfAborted()
    const { hostname, pathname } = new URL(url)
    if (this.#members().get(hostname) !== true) {
      return Promise.reject(new SlipwayError('CannotReach', `${url} does not answer: connection refused`))
    }
    const answer = this.#answer(hostname, pathname, body ?? '{}')
    const status = 'message' in answer ? 503 : 200
    return Promise.resolve({ status, body: JSON.stringify(answer) })
  }

  #answer(member: string, path: string, body: string): object {
    const header = { member_id: this.#idOf(member) }
    const { leader } = this
    switch (path) {
      case '/readyz': {
        const problem = this.#unready.get(member)
        return problem === undefined ? {} : { message: problem }
      }
      case '/v3/cluster/member/list':
        return { header, members: this.#listed() }
      case '/v3/maintenance/alarm':
        return { header, alarms: this.#alarms }
      case '/v3/maintenance/status':
        return {
          header,
          version: '3.6.8',
          dbSize: '20480',
          ...(leader !== undefined && { leader: this.#idOf(leader) }),
        }
      case '/v3/maintenance/transfer-leadership':
        return leader === member ? this.#transfer(body) : { message: 'etcdserver: not leader' }
      case '/v3/kv/range':
        return leader === undefined ? { message: 'etcdserver: request timed out' } : { header }
      default:
        return { header }
    }
  }

  #transfer(body: string): object {
    const { targetID } = JSON.parse(body) as { readonly targetID?: string }
    const target = this.#voters().find(([name, isUp]) => isUp && this.#idOf(name) === targetID)
    if (!target) return { message: 'etcdserver: bad leader transferee' }
    this.#leader = target[0]
    return {}
  }

  #voters(): readonly (readonly [name: string, isUp: boolean])[] {
    return [...this.#members()].filter(([name]) => !this.#removed.has(name))
  }

  #listed(): readonly object[] {
    const voters = this.#voters().map(([name]) => ({ name, clientURLs: [`http://${name}:2379`] }))
    const learners = [...this.#learners].map((name) => ({ name, clientURLs: [], isLearner: true }))
    return [...voters, ...learners].map((member) => ({ ID: this.#idOf(member.name), ...member }))
  }

  #idOf(name: string): string {
    return String([...this.#members().keys(), ...this.#learners].indexOf(name) + 1)
  }
}

/** The static pods of a control-plane machine, as an agent reads them. */
export function pretendManifests(name: string): Readonly<Record<string, string>> {
  const pod = (...command: readonly string[]) =>
    JSON.stringify({ kind: 'Pod', spec: { containers: [{ image: `pretend/${command[0]}:1`, command }] } })
  return {
    '/etc/kubernetes/manifests/etcd.yaml': pod('etcd', `--advertise-client-urls=http://${name}:2379`),
    '/etc/kubernetes/manifests/kube-apiserver.yaml': pod('kube-apiserver', `--advertise-address=${name}`),
  }
}
