// Watches every committed write and every job on every machine of a run, and holds them against the eleven rules.

import type { Node } from '../../api/kube.ts'
import type { Execution } from '../pretend-host.ts'
import type { CommittedChange } from '../server/object-store.ts'
import { judgeBackups } from './backup-rules.ts'
import { judgeStart, judgeVersions, judgeWord } from './host-rules.ts'
import { judgeLedger } from './ledger-rules.ts'
import { judgeNode, judgeOwnership, judgePods } from './node-rules.ts'
import { judgeLeaving, judgeStopping } from './quorum-rules.ts'
import type { Report, RuleNumber, Slack, Violation, WriteRule } from './rule.ts'
import { cordonMark, otherMarks, Truth, underMaintenance, waitingMark } from './truth.ts'

/** What the machines themselves say: not what anybody reported of them. */
export interface Machines {
  /** Every job that ran on the node, in order. */
  executions(node: string): readonly Execution[]
  kubeletVersion(node: string): string | undefined
  /** The API servers' versions, by control-plane node. */
  apiServerVersions(): ReadonlyMap<string, string>
  /** The control-plane machines whose member of etcd is down, and since when. */
  etcdDownSince(): ReadonlyMap<string, number>
}

const writeRules: readonly WriteRule[] = [judgeLedger, judgeNode, judgePods, judgeOwnership, judgeBackups]
const mostViolations = 20

export class RuleChecker {
  readonly truth = new Truth()
  readonly #machines: Machines
  readonly #slack: Slack
  readonly #violations: Violation[] = []
  #writes = 0

  constructor(machines: Machines, slack: Slack) {
    this.#machines = machines
    this.#slack = slack
  }

  get violations(): readonly Violation[] {
    return this.#violations
  }

  /** How many writes were held against the rules. */
  get writes(): number {
    return this.#writes
  }

  committed(change: CommittedChange): void {
    this.#writes++
    const report = this.#reporter(change.time)
    for (const rule of writeRules) rule(change, this.truth, this.#slack, report)
    judgeLeaving(change, this.truth, () => this.#machines.etcdDownSince(), this.#slack, report)
    if (change.kind === 'NodeState' && change.after) {
      const { name } = change.after.metadata
      judgeWord(change, this.#machines.executions(name), (node) => this.#machines.kubeletVersion(node), report)
    }
    if (change.kind === 'Node') this.#judgeKubelet(change, report)
    this.truth.note(change)
  }

  /** Just before the job runs; `executions` does not hold it yet. */
  started(execution: Execution): void {
    const earlier = this.#machines.executions(execution.node)
    const report = this.#reporter(execution.startedMs)
    judgeStart(execution, earlier, this.truth, this.#slack, report)
    judgeStopping(execution, this.truth, () => this.#machines.etcdDownSince(), report)
  }

  /** Nothing of ours is on any node, and no slot is held. */
  get isAtRest(): boolean {
    const { grants, isLockOurs } = this.truth
    return grants.length === 0 && !isLockOurs && this.#marked().length === 0 && this.maintained().length === 0
  }

  /** Nodes that are said to be under maintenance, or to wait for it. */
  maintained(): readonly string[] {
    return [...this.truth.nodes].flatMap(([name, { node }]) => (isMaintained(node) ? [name] : []))
  }

  /** At the end of a run in which every update came to a good end: nothing of ours is left. */
  atRest(time: number): void {
    const report = this.#reporter(time)
    for (const name of this.#marked()) report(6, `${name} still carries our cordon or marks at the end`)
    if (this.truth.grants.length > 0) {
      report(1, `slots were never returned: ${this.truth.grants.map(({ node }) => node).join(', ')}`)
    }
  }

  #marked(): readonly string[] {
    return [...this.truth.nodes].flatMap(([name, { node }]) => (isLeft(node) ? [name] : []))
  }

  #judgeKubelet({ before, after }: CommittedChange, report: Report): void {
    const version = (after as Node | undefined)?.status?.nodeInfo?.kubeletVersion
    if (!after || version === undefined || version === '') return
    const from = (before as Node | undefined)?.status?.nodeInfo?.kubeletVersion
    if (from === version) return
    judgeVersions(after.metadata.name, { from, to: version }, this.#machines.apiServerVersions(), report)
  }

  #reporter(atMs: number): Report {
    return (rule: RuleNumber, message: string) => {
      if (this.#violations.length < mostViolations) this.#violations.push({ rule, message, atMs })
    }
  }
}

/** A cordon that a person asked to be left is theirs. */
function isLeft({ metadata: { annotations = {} } }: Node): boolean {
  const cordon = annotations[cordonMark]
  return (cordon !== undefined && cordon !== 'hold') || annotations[otherMarks] !== undefined
}

/** By its own script or by a reboot it needs, whether it is its turn or not. */
function isMaintained({ metadata, spec }: Node): boolean {
  const isTold = metadata.annotations?.[underMaintenance] !== undefined
  return isTold || (spec.taints?.some(({ key }) => key === waitingMark) ?? false)
}
