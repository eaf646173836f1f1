// What a person says to an update that runs: what is to be written for it, and the sentence that answers. It throws where it makes
// no sense. Command line and console say it in the same words.

import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { NodeState } from '../../api/node-state.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { isEndedPhase } from '../update/operation.ts'
import { conditionOf } from '../update/outcome.ts'
import { isOfRun, presentID } from '../update/path-step.ts'
import { withStillAsked } from './still-asked.ts'

/** As a merge patch: null takes out what an earlier word left. */
export type Steering = Pick<DirectUpdateSpec, 'desiredState' | 'onCancel' | 'skip' | 'approvals' | 'runNow'> & {
  readonly retry?: { readonly token: string; readonly nodes: readonly string[] | null }
}

/** What to write, and the sentence for the person; throws where it makes no sense. */
export type Decide = (update: DirectUpdate) => { readonly spec: Steering; readonly said: string }

export const pause: Decide = (update) => {
  mustRun(update, 'pause')
  mustNotEnd(update)
  return { spec: { desiredState: 'Paused' }, said: 'paused; what is under work is finished, nothing new starts' }
}

export const resume: Decide = (update) => {
  const { name } = update.metadata
  mustRun(update, 'resume')
  mustNotEnd(update)
  if (update.spec.desiredState !== 'Paused') throw refused(`${name} is not paused`, `see: slipway status ${name}`)
  return { spec: { desiredState: 'Running' }, said: 'goes on' }
}

export function cancel(putBack: boolean): Decide {
  return (update) => {
    mustRun(update, 'cancel')
    const said = putBack
      ? 'cancelled; nodes under work are put back where that is possible'
      : 'cancelled; nodes that have begun are finished, nothing new starts'
    return { spec: { desiredState: 'Cancelled', onCancel: putBack ? 'PutBack' : 'Finish' }, said }
  }
}

/** `states`: all NodeStates, where nodes are named and a word was said before; undefined where nobody may tell. */
export function retry(nodes: readonly string[], uuid: string, states?: readonly NodeState[]): Decide {
  return (update) => {
    const { name } = update.metadata
    const { phase, summary, nodes: listed = [], hooks = [], operationID = '' } = update.status ?? {}
    const broken = listed.filter((node) => node.phase === 'Failed' || node.phase === 'RequiresAttention')
    if (phase === 'Cancelled') throw refused(`${name} was cancelled`, 'make another update')
    if (update.spec.desiredState === 'Cancelled')
      throw refused(`${name} is being cancelled`, `look at its nodes with slipway why NODE; then make another update`)
    const hook = hooks.find(
      (run) => run.state === 'Failed' && isOfRun(run.operationID, operationID) && nodes.length === 0,
    )
    const backup = nodes.length === 0 && isBackupOwed(update)
    if (phase !== 'Failed' && !hook && !backup && broken.length === 0 && (summary?.failed ?? 0) === 0) {
      throw refused(`no node of ${name} failed or needs a person`, `see: slipway status ${name}`)
    }
    mustHaveFailed(name, nodes, broken)
    const again = nodes.length > 0 ? withStillAsked(nodes, wordBefore(update), states) : undefined
    const token = uuid.slice(0, 8)
    const isLeftOut = (node: string) => nodes.length === 0 && (update.spec.skip ?? []).includes(node)
    const names = broken.map((node) => node.name)
    const failed = [
      ...(hook ? [`hook ${hook.hook}`] : []),
      ...(backup ? ['the backup'] : []),
      ...names.filter((one) => !isLeftOut(one)).slice(0, 5),
    ]
    const which = (nodes.length > 0 ? nodes : failed).join(', ')
    const also = again?.also ?? ''
    const leftOut = names.filter(isLeftOut).slice(0, 5)
    const others = leftOut.length === 0 ? '' : `; left out unless named: slipway retry ${name} ${leftOut.join(' ')}`
    const said = which === '' ? 'is tried again' : `${which} tried again${also}; follow it: slipway status ${name} -w`
    return { spec: { retry: { token, nodes: again?.named ?? null } }, said: `${said}${others}` }
  }
}

function wordBefore(update: DirectUpdate) {
  const { retry, skip = [] } = update.spec
  const { operationID = '', hooks = [], backupRun, retried } = update.status ?? {}
  if (retry && !retry.nodes) {
    const hook = hooks.find(
      (run) => run.state === 'Failed' && isOfRun(run.operationID, operationID) && run.retried !== retry.token,
    )
    const backup = isBackupOwed(update) && backupRun?.retried !== retry.token
    const what = hook ? `hook ${hook.hook}` : backup ? 'the backup' : undefined
    if (what !== undefined)
      throw refused(
        `${what} is still to be tried by the word before`,
        `try all again: slipway retry ${update.metadata.name}`,
      )
  }
  const isOurs = (id: string) => isOfRun(id, operationID)
  return { retry, skip: new Set(skip), isOurs, isFollowed: retried === retry?.token }
}

export function skip(nodes: readonly string[]): Decide {
  return (update) => {
    const { name } = update.metadata
    // One that failed can go on without them.
    if (update.status?.phase !== 'Failed') mustRun(update, 'leave out')
    const skipped = [...new Set([...(update.spec.skip ?? []), ...nodes])]
    const isFailed = update.status?.phase === 'Failed'
    const more = isFailed ? `; let the others go on: slipway retry ${name}` : ''
    return { spec: { skip: skipped }, said: `leaves out ${skipped.join(', ')}${more}` }
  }
}

export function approve(by: string, now: Date): Decide {
  return ({ metadata, spec, status }) => {
    const { wave } = status ?? {}
    // For a wave of this step of its path: each has its own.
    const operationID = presentID(status ?? {})
    if (!wave?.promotion) {
      const where = wave ? `wave ${wave.index + 1} of ${wave.of} is not done` : 'it has not come to its waves'
      throw refused(`${metadata.name} waits for no approval: ${where}`, `see: slipway status ${metadata.name}`)
    }
    const approval = { operationID, wave: wave.index, by, at: now.toISOString() }
    // Those of earlier runs are of no use any more.
    const kept = (spec.approvals ?? []).filter((one) => one.operationID === operationID && one.wave !== wave.index)
    return {
      spec: { approvals: [...kept, approval] },
      said: `wave ${wave.index + 1} of ${wave.of} approved by ${by}; the next begins`,
    }
  }
}

export function runNow(reason: string, by: string, now: Date): Decide {
  return (update) => {
    const { name } = update.metadata
    mustRun(update, 'run')
    mustNotEnd(update)
    const { operationID } = update.status ?? {}
    if (operationID === undefined) throw refused(`${name} has not been planned yet`, 'try again in a moment')
    return {
      spec: { runNow: { operationID, reason, by, at: now.toISOString() } },
      said: `goes on at any time, for ${by}: ${reason}`,
    }
  }
}

/** Cancelled is for good: another word would take it back. */
function mustNotEnd({ metadata, spec }: DirectUpdate): void {
  if (spec.desiredState === 'Cancelled') throw refused(`${metadata.name} is being cancelled`, 'make another update')
}

function mustRun({ metadata, status }: DirectUpdate, what: string): void {
  if (!isEndedPhase(status?.phase)) return
  throw refused(
    `${metadata.name} is ${status?.phase}: there is nothing to ${what}`,
    `see: slipway status ${metadata.name}`,
  )
}

/** It failed on every host, and is made again only when somebody says so. */
function isBackupOwed(update: DirectUpdate): boolean {
  const blocked = conditionOf(update, 'Blocked')
  return blocked?.status === 'True' && blocked.reason === 'BackupFailed'
}

/** As many as the status lists, failed ones first: where all it lists failed, others may have. */
const listedAtMost = 50

/** A name that was mistyped would be told as tried again, and nothing would be. */
function mustHaveFailed(update: string, nodes: readonly string[], broken: readonly { readonly name: string }[]): void {
  const known = broken.map(({ name }) => name)
  const others = nodes.filter((node) => !known.includes(node))
  if (others.length === 0 || known.length >= listedAtMost) return
  const those =
    known.length === 0 ? `slipway retry ${update}` : `slipway retry ${update} ${known.slice(0, 5).join(' ')}`
  throw refused(`${others.join(', ')} did not fail for ${update}, and needs no person`, `try again what did: ${those}`)
}

function refused(message: string, nextStep: string): SlipwayError {
  return new SlipwayError('Refused', message, { nextStep })
}
