// One backup, from the first host that is asked to the last: what to do next. Whom it is asked of is on record before the question
// is, so that a restarted operator finds both, and no two hosts are ever asked at once.

import type { BackupAnswer } from '../../api/backup.ts'
import { type BackupRun, maxBackupTries } from '../../api/backup-plan.ts'
import type { Reason } from '../../api/reason.ts'
import { parseDuration } from '../duration.ts'
import { fingerprint } from '../fingerprint.ts'
import { type BackupHost, chooseHost, type HostWish } from './host-choice.ts'

export interface RunView extends Pick<HostWish, 'needsKey' | 'isExternal'> {
  readonly run: BackupRun | undefined
  /** What it is for: a run for something else is another one. */
  readonly subject: string
  /** Begins the names of its questions and objects: the update or the store. */
  readonly label: string
  readonly hosts: readonly BackupHost[]
  readonly now: Date
  /** The word that asks for another attempt of what failed before it was said. */
  readonly retry?: string | undefined
}

export type RunStep =
  /** Write this, then look again. */
  | { readonly step: 'record'; readonly run: BackupRun; readonly failure?: Failure }
  | { readonly step: 'ask'; readonly question: Question; readonly reason: Reason; readonly untilMs: number }
  | { readonly step: 'wait'; readonly reason: Reason; readonly untilMs?: number }
  | { readonly step: 'failed'; readonly reason: Reason }
  /** `at`: when it was made, by the clock of those who lead; they may see the answer much later. */
  | { readonly step: 'succeeded'; readonly node: string; readonly answer: BackupAnswer; readonly at: Date }

type Failure = BackupRun['failures'][number]

export interface Question {
  readonly node: string
  readonly request: string
  /** Of the object in the store. */
  readonly name: string
}

/** How long one host may take; it stops by itself then. */
export const backupTimeout = '1h'
/** A host that has not answered so long after its time is given up. */
const graceMs = 2 * 60_000
const backOffsMs = [10_000, 60_000] as const
const longestBackOffMs = Math.max(...backOffsMs)
/** Before the next host is asked where the last one went away. */
const lostMs = 5_000

export function stepRun(view: RunView): RunStep {
  const { run, subject, retry, now } = view
  if (run?.subject !== subject) return begin(view, { subject, try: 0, failures: [] })
  if (run.node !== undefined && run.askedAt !== undefined) return follow(view, run, run.node, run.askedAt)
  const [last] = run.failures.slice(-1)
  if (last && run.failures.length >= maxBackupTries) {
    const isDue = retry !== undefined && retry !== run.retried
    return isDue ? begin(view, { subject, try: run.try, failures: [] }) : { step: 'failed', reason: gaveUp(run, last) }
  }
  const notBefore = Date.parse(run.notBefore ?? '')
  // Further away than anybody sets it: by a clock that was put right since, or by that of an earlier leader.
  const isFar = notBefore - now.getTime() > longestBackOffMs
  if (notBefore > now.getTime() && !isFar) {
    return { step: 'wait', reason: again(last, run.notBefore), untilMs: notBefore }
  }
  return begin(view, run)
}

/** Names the question and the object by what is on record: the same record, the same names. */
export function questionOf(label: string, run: BackupRun): Question | undefined {
  const { node, askedAt, subject } = run
  if (node === undefined || askedAt === undefined) return undefined
  const stamp = askedAt.replace(/[-:]|\.\d+/g, '')
  const mark = fingerprint([label, subject, run.try, node, askedAt])
  return {
    node,
    request: `${label.slice(0, 200)}/${run.try}-${mark}`,
    name: `${label.replace(/[^A-Za-z0-9.-]/g, '-').slice(0, 80)}-${stamp}-${node.slice(0, 63)}-${mark.slice(0, 6)}`,
  }
}

function begin({ hosts, needsKey, isExternal, now }: RunView, run: BackupRun): RunStep {
  const choice = chooseHost(hosts, { needsKey, isExternal, failed: run.failures.map(({ node }) => node) })
  if (!choice.host) return { step: 'wait', reason: choice.reason }
  const { notBefore: _notBefore, ...kept } = run
  return {
    step: 'record',
    run: { ...kept, try: run.try + 1, node: choice.host.name, askedAt: now.toISOString() },
  }
}

function follow({ hosts, label, now, retry }: RunView, run: BackupRun, node: string, askedAt: string): RunStep {
  const question = questionOf(label, run)
  const host = hosts.find(({ name }) => name === node)
  const { node: _node, askedAt: _askedAt, ...rest } = run
  const heldUp = (delayMs: number) => new Date(now.getTime() + delayMs).toISOString()
  const fail = (reason: Reason): RunStep => {
    const failure = { node, at: now.toISOString(), reason: { ...reason, message: reason.message.slice(0, 2000) } }
    const failures = [...run.failures, failure].slice(-maxBackupTries)
    const notBefore = heldUp(backOffsMs[Math.min(failures.length, backOffsMs.length) - 1] ?? 0)
    return {
      step: 'record',
      failure,
      run: { ...rest, failures, notBefore, ...(retry !== undefined && { retried: retry }) },
    }
  }
  const answer = host?.answer?.request === question?.request ? host?.answer : undefined
  const untilMs = Date.parse(askedAt) + parseDuration(backupTimeout) + graceMs
  if (answer?.state === 'Succeeded' && answer.manifest) {
    return { step: 'succeeded', node, answer, at: new Date(Math.min(now.getTime(), untilMs)) }
  }
  if (answer && answer.state !== 'Running') {
    return fail(answer.reason ?? { code: 'BackupFailed', message: 'the agent gave no reason' })
  }
  // Gone or cut off: nobody failed, and somebody else is asked. It stops when it sees that nobody asks it any more.
  if (!host?.isReady || !question) {
    return { step: 'record', run: { ...rest, notBefore: heldUp(lostMs) } }
  }
  if (now.getTime() > untilMs) {
    return fail({ code: 'BackupFailed', message: `the agent has not answered within ${backupTimeout}; does it run?` })
  }
  const reason: Reason = { code: 'BackupRunning', message: `a backup of etcd is made on ${node}`, since: askedAt }
  if (host.asked !== question.request) return { step: 'ask', question, reason, untilMs }
  return { step: 'wait', reason, untilMs }
}

function again(last: Failure | undefined, notBefore: string | undefined): Reason {
  const message = last
    ? `a backup of etcd failed on ${last.node} (${last.reason.message}); it is tried again`
    : 'the host that made a backup of etcd went away; another one is asked'
  return { code: 'BackupRunning', message, ...(notBefore !== undefined && { nextCheck: notBefore }) }
}

/** One cause is told; where hosts differ, the last. */
function gaveUp({ failures }: BackupRun, last: Failure): Reason {
  const hosts = [...new Set(failures.map(({ node }) => node))].join(', ')
  const message = `a backup of etcd failed ${failures.length} times (on ${hosts}), the last time: ${last.reason.message}`
  return { code: 'BackupFailed', message, since: last.at }
}
