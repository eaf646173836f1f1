// Makes NodeState.status.agent equal to what the agent has to say: the difference only, the latest state only, and nothing while
// there is no difference. Never holds up the work: with the API away it tries until it is back.

import { isKubeError } from '../api/kube-error.ts'
import { type AgentStatus, type NodeState, nodeStates } from '../api/node-state.ts'
import { equalJson, mergePatch } from '../core/merge-patch.ts'
import { backOffMs } from '../kube/back-off.ts'
import { sleep } from '../kube/sleep.ts'
import type { Store } from '../kube/store.ts'
import type { CancelTimer, Clock } from '../ports/clock.ts'
import type { KubeApi } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import type { Random } from '../ports/random.ts'
import { Bell } from './bell.ts'

const backOff = { baseMs: 250, maxMs: 10_000 }

export interface PublisherOptions {
  readonly api: KubeApi
  readonly store: Store<NodeState>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly nodeName: string
}

/** What one part of the agent has to say; each field has one speaker. Undefined takes a field away, an absent one stays as it is. */
export type Word = { readonly [Field in keyof AgentStatus]?: AgentStatus[Field] | undefined }

type Patch = Readonly<Record<string, unknown>>

export class Publisher {
  readonly #options: PublisherOptions
  readonly #bell = new Bell()
  #said: Word = {}
  /** What the server did not keep although it accepted it, or refused; not sent again. */
  #givenUp: Word | undefined
  #cancelTimer: CancelTimer | undefined

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  /** All that was said so far. */
  get said(): Word {
    return this.#said
  }

  /** Sends it at once, or together with the next one if that comes within the given time. */
  publish(word: Word, withinMs = 0): void {
    this.#said = { ...this.#said, ...word }
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (withinMs > 0) {
      this.#cancelTimer = this.#options.clock.after(withinMs, () => {
        this.#cancelTimer = undefined
        this.#bell.ring()
      })
    } else this.#bell.ring()
  }

  /** Publishes until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, random, log } = this.#options
    const unsubscribe = store.subscribe(() => this.#bell.ring())
    let failures = 0
    try {
      for (;;) {
        if (failures === 0) await this.#bell.heard(signal)
        try {
          if (failures > 0) await this.#lookAgain(signal)
          await this.#send(signal)
          failures = 0
        } catch (error) {
          if (signal.aborted || !isKubeError(error)) throw error
          failures += 1
          log.warn('cannot publish the state of this node yet', { code: error.code, error: error.message, failures })
          await sleep(clock, error.retryAfterMs ?? backOffMs(backOff, failures, random), signal)
        }
      }
    } finally {
      unsubscribe()
      this.#cancelTimer?.()
    }
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { store, nodeName, log } = this.#options
    const said = this.#said
    // Who the agent is comes first: without it the status is not whole.
    if (said.version === undefined || this.#cancelTimer || equalJson(said, this.#givenUp)) return
    let known = store.get(nodeName)
    for (let sent: Patch | undefined; ; ) {
      const body = difference(known, said)
      if (!body) return
      if (sent && isWithin(body, sent)) break
      // The second time round: what it was compared with was gone, as after a restore of etcd.
      sent = body
      known = await this.#patch(body, signal)
    }
    this.#givenUp = said
    log.warn('the API server did not keep all that was reported; are the CRDs older than this agent?')
  }

  /** What the server has then, whether it took it or not. */
  async #patch(body: Patch, signal: AbortSignal): Promise<NodeState> {
    const { api, store, nodeName, log } = this.#options
    try {
      const answer = await api.patch(nodeStates, { name: nodeName }, { type: 'merge', body }, signal, 'status')
      store.learn(answer)
      return answer
    } catch (error) {
      if (!isKubeError(error, 'Invalid')) throw error
      log.error('the API server refuses what this node reports', { error: error.message })
      return api.get(nodeStates, { name: nodeName }, signal)
    }
  }

  /** After a failure nobody knows whether the write took effect: the next difference is taken from what is there. */
  async #lookAgain(signal: AbortSignal): Promise<void> {
    const { api, store, nodeName } = this.#options
    try {
      store.learn(await api.get(nodeStates, { name: nodeName }, signal))
    } catch (error) {
      // Gone: the watch says so too, and then there is nothing to send to.
      if (!isKubeError(error, 'NotFound')) throw error
      store.remove(nodeName)
    }
  }
}

/** A merge patch fenced by the object's uid. What nobody has spoken of is left as it stands. */
function difference(state: NodeState | undefined, said: Word): Patch | undefined {
  if (!state) return undefined
  const before = state.status?.agent
  const agent = mergePatch(before, { ...before, ...said })
  return agent === undefined ? undefined : { metadata: { uid: state.metadata.uid }, status: { agent } }
}

/** Whether all of the one was sent with the other. */
function isWithin(part: unknown, whole: unknown): boolean {
  if (!isPatch(part) || !isPatch(whole)) return equalJson(part, whole)
  return Object.entries(part).every(([field, value]) => isWithin(value, whole[field]))
}

function isPatch(value: unknown): value is Patch {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
