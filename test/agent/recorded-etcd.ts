// A cluster of etcd as its members answered over the JSON gateway, recorded from etcd 3.6.8; some of it may be down.

import { SlipwayError } from '../../src/api/slipway-error.ts'
import type { SecureRequest, SecureRequests } from '../../src/ports/secure-requests.ts'

export interface RecordedMember {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly learner?: boolean
}

export class RecordedEtcd implements SecureRequests {
  readonly members: readonly RecordedMember[]
  /** Names of members that do not answer. */
  readonly down = new Set<string>()
  /** Names of members that answer on their own host alone, not where the others are told to reach them. */
  readonly hidden = new Set<string>()
  readonly asked: string[] = []
  version = '3.6.8'
  /** What a member has applied, where it is not what all have. */
  readonly applied = new Map<string, string>()
  /** Names of members that have no majority behind them. */
  readonly cutOff = new Set<string>()
  alarm: string | undefined
  leader: string
  /** Called before each answer. */
  onAsked: () => void = () => undefined

  constructor(members: readonly RecordedMember[]) {
    this.members = members
    this.leader = members[0]?.id ?? ''
  }

  send({ url, body }: SecureRequest) {
    this.onAsked()
    const { origin, pathname } = new URL(url)
    this.asked.push(pathname)
    const member = this.members.find((each) => each.url === origin)
    if (!member || this.down.has(member.name)) {
      return Promise.reject(new SlipwayError('CannotReach', `${url} does not answer: connect ECONNREFUSED`))
    }
    if (pathname === '/v3/kv/range' && this.cutOff.has(member.name)) {
      return Promise.resolve({ status: 503, body: '{"code":14, "message":"etcdserver: request timed out"}' })
    }
    return Promise.resolve({ status: 200, body: this.#answer(member, pathname, body ?? '') })
  }

  #answer({ id, name }: RecordedMember, path: string, body: string): string {
    const header = `"header":{"cluster_id":"2591492842302393877", "member_id":"${id}", "revision":"1", "raft_term":"2"}`
    if (path === '/v3/cluster/member/list') {
      const listed = this.members.map(
        ({ id: ID, name, url, learner }) =>
          `{"ID":"${ID}", "name":"${name}", "peerURLs":["${url}0"], "clientURLs":["${this.hidden.has(name) ? `${url}0` : url}"]${learner ? ', "isLearner":true' : ''}}`,
      )
      return `{${header}, "members":[${listed.join(', ')}]}`
    }
    if (path === '/v3/maintenance/transfer-leadership') {
      this.leader = (JSON.parse(body) as { targetID: string }).targetID
      return '{}'
    }
    if (path === '/v3/maintenance/alarm' && this.alarm !== undefined) {
      return `{${header}, "alarms":[{"memberID":"${id}", "alarm":"${this.alarm}"}]}`
    }
    if (path !== '/v3/maintenance/status') return `{${header}}`
    const figures = `"raftIndex":"8", "raftTerm":"2", "raftAppliedIndex":"${this.applied.get(name) ?? '8'}", "dbSizeInUse":"24576"`
    return `{${header}, "version":"${this.version}", "dbSize":"32768", "leader":"${this.leader}", ${figures}, "storageVersion":"3.6.0", "downgradeInfo":{}}`
  }
}
