// What a person would do while an update is carried out, decided from what can be seen of it: create it, approve a wave, remove
// what holds a drain up for too long, and give up where nothing will change any more.

import { type DirectUpdate, type DirectUpdateSpec, directUpdates } from '../../api/direct-update.ts'
import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { presentID } from '../../core/update/path-step.ts'
import type { KubeApi } from '../../ports/kube-api.ts'
import type { CommittedChange } from '../../sim/server/object-store.ts'
import { plannedScript } from './rehearsable.ts'

export interface NamedUpdate {
  readonly name: string
  readonly spec: DirectUpdateSpec
}

/** Checks that foretell what a rehearsal runs into, each with its node and pod; they would end it before it begins. */
export const rehearsedChecks = ['DisruptionBudgets', 'PodsUnderTwoBudgets', 'Capacity', 'ClockSkew'] as const
/** These end by themselves, by an approval, or by their time-out. */
const passing = new Set(['WaveSoaking', 'ApprovalWanted', 'GateWaiting'])
const over = new Set(['Succeeded', 'Failed', 'Cancelled'])
const lookMs = 5_000

export async function createPlanned(
  person: KubeApi,
  namespace: string,
  { name, spec }: NamedUpdate,
  signal: AbortSignal,
): Promise<void> {
  for (const script of [spec.script, spec.script?.validate]) {
    if (!script) continue
    const metadata = { name: script.configMap, namespace }
    await person.create(configMaps, { metadata, data: { script: plannedScript } }, signal).catch((error: unknown) => {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    })
  }
  const { apiVersion, kind } = directUpdates
  const preflight = { skip: [...new Set([...(spec.preflight?.skip ?? []), ...rehearsedChecks])] }
  await person.create(directUpdates, { apiVersion, kind, metadata: { name }, spec: { ...spec, preflight } }, signal)
}

/** A wave that wants an approval gets it at once: how long a person takes cannot be known. */
export function approvalOf(update: DirectUpdate | undefined, now: Date): Readonly<Record<string, unknown>> | undefined {
  const { wave } = update?.status ?? {}
  if (!update?.status || wave?.promotion !== 'Wanted') return undefined
  const operationID = presentID(update.status)
  const { approvals = [] } = update.spec
  if (approvals.some((given) => given.operationID === operationID && given.wave === wave.index)) return undefined
  const approval = { operationID, wave: wave.index, by: 'plan', at: now.toISOString() }
  return { spec: { approvals: [...approvals, approval] } }
}

export interface LateDrain {
  readonly node: string
  readonly pods: readonly { readonly pod: string; readonly reason: Reason }[]
}

/** A drain whose time is up, and the pods that hold it up. */
export function lateDrain({ kind, after }: Pick<CommittedChange, 'kind' | 'after'>): LateDrain | undefined {
  if (kind !== 'NodeState' || !after) return undefined
  const { metadata, status } = after as NodeState
  if (status?.rollout?.reason?.code !== 'DrainTimedOut') return undefined
  return { node: metadata.name, pods: status.rollout.drain?.pods ?? [] }
}

export interface Patience {
  /** Blocked for so long, with nothing that will change it: no instant is named at which it goes on. */
  readonly stuckMs: number
  /** A person is wanted for so long. Sooner it may go on by itself, as a gate holds again once a node and its pods are back. */
  readonly attentionMs: number
}

/** Follows an update to its end, or to where only a person can help it on. */
export class EndWatch {
  readonly #look: () => DirectUpdate | undefined
  readonly #patience: Patience
  #nextMs = 0
  #blocked: { readonly message: string; readonly atMs: number } | undefined
  #attentionMs: number | undefined

  constructor(look: () => DirectUpdate | undefined, patience: Patience) {
    this.#look = look
    this.#patience = patience
  }

  isOver(nowMs: number): boolean {
    const { phase = '', conditions } = this.#look()?.status ?? {}
    if (over.has(phase) || conditions?.some(({ type, status }) => type === 'Planned' && status === 'False')) return true
    this.#attentionMs = phase === 'RequiresAttention' ? (this.#attentionMs ?? nowMs) : undefined
    return nowMs - (this.#attentionMs ?? nowMs) >= this.#patience.attentionMs || this.isStuck(nowMs)
  }

  isStuck(nowMs: number): boolean {
    if (nowMs < this.#nextMs) return this.#isOverdue(nowMs)
    this.#nextMs = nowMs + lookMs
    const blocked = this.#look()?.status?.conditions?.find(({ type }) => type === 'Blocked')
    if (blocked?.status !== 'True' || passing.has(blocked.reason)) this.#blocked = undefined
    else if (this.#blocked?.message !== blocked.message) this.#blocked = { message: blocked.message, atMs: nowMs }
    return this.#isOverdue(nowMs)
  }

  /** When it came to where it is now, given that it is over. */
  endMs(nowMs: number): number {
    return this.#attentionMs ?? nowMs
  }

  #isOverdue(nowMs: number): boolean {
    return this.#blocked !== undefined && nowMs - this.#blocked.atMs > this.#patience.stuckMs
  }
}
