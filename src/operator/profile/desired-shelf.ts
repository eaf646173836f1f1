// Desired states by their SHA-256: known in memory, and put into immutable ConfigMaps where the agents find them.

import { createHash } from 'node:crypto'
import { type DesiredState, desiredStateSchema, emptyState } from '../../api/desired-state.ts'
import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { SealedText } from '../../api/sealed-text.ts'
import type { Content } from '../../api/work.ts'
import { canonicalJson } from '../../core/fingerprint.ts'
import { contentName } from '../../core/update/work-of.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

interface Known {
  readonly state: DesiredState
  readonly text: string
}

const patienceMs = 60_000
const label = { key: 'slipway.dev/content', value: 'desired-state' } as const

export class DesiredShelf {
  /** The state in which nothing is wanted. */
  readonly nothing: string
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #known = new Map<string, Known>()
  readonly #missing = new Set<string>()
  readonly #published = new Set<string>()
  readonly #unusedSinceMs = new Map<string, number>()
  /** Sealing is never the same twice: what was sealed before is used again, or every look would be a change. */
  readonly #sealed = new Map<string, SealedText>()

  constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
    this.nothing = this.remember(emptyState, canonicalJson(emptyState))
  }

  remember(state: DesiredState, text: string): string {
    const sha256 = createHash('sha256').update(text).digest('hex')
    if (this.#known.has(sha256)) return sha256
    this.#known.set(sha256, { state, text })
    this.#missing.delete(sha256)
    for (const { sealed } of state.files) if (sealed) this.#sealed.set(sealedKey(sealed), sealed)
    return sha256
  }

  state(sha256: string): DesiredState | undefined {
    return this.#known.get(sha256)?.state
  }

  content(sha256: string): Content {
    return { configMap: contentName(sha256), namespace: this.#namespace, sha256 }
  }

  /** The same secret for the same host, sealed once. */
  sealedOnce(what: Omit<SealedText, 'text'>, seal: () => string): SealedText {
    const known = this.#sealed.get(sealedKey(what))
    if (known) return known
    const sealed = { ...what, text: seal() }
    this.#sealed.set(sealedKey(what), sealed)
    return sealed
  }

  /** Reads one that an earlier leader put there; what is gone is not asked for again. */
  async load(sha256: string, signal: AbortSignal): Promise<void> {
    if (this.#known.has(sha256) || this.#missing.has(sha256)) return
    const text = await this.#read(sha256, signal)
    const state = text === undefined ? undefined : parse(text)
    if (text !== undefined && state && this.remember(state, text) === sha256) this.#published.add(sha256)
    else this.#missing.add(sha256)
  }

  /** What earlier leaders put there: it is cleared away like our own. */
  async open(signal: AbortSignal): Promise<void> {
    let continueToken: string | undefined
    do {
      const page = await this.#api.list(
        configMaps,
        {
          namespace: this.#namespace,
          labelSelector: `${label.key}=${label.value}`,
          limit: 500,
          ...(continueToken !== undefined && { continueToken }),
        },
        signal,
      )
      for (const { data } of page.items) {
        const state = data?.script === undefined ? undefined : parse(data.script)
        if (state && data?.script !== undefined) this.#published.add(this.remember(state, data.script))
      }
      continueToken = page.continueToken
    } while (continueToken !== undefined)
  }

  /** Before an order that names it is written. Nothing owns it: it must outlive a profile some host still has. */
  async ensure(sha256: string, signal: AbortSignal): Promise<void> {
    const known = this.#known.get(sha256)
    if (!known || this.#published.has(sha256)) return
    const { configMap: name, namespace } = this.content(sha256)
    const metadata = { name, namespace, labels: { [label.key]: label.value } }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, immutable: true, data: { script: known.text } }
    try {
      await this.#api.create(configMaps, object, signal)
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error
    }
    this.#published.add(sha256)
  }

  /**
   * Takes away what no node has, wants or was ordered to take for some time: an order that names it may be on its way. Says
   * when to come again, where something waits to be taken away.
   */
  async keepOnly(used: ReadonlySet<string>, nowMs: number, signal: AbortSignal): Promise<number | undefined> {
    for (const sha256 of used) this.#unusedSinceMs.delete(sha256)
    let waits = false
    for (const sha256 of [...this.#published]) {
      if (used.has(sha256)) continue
      const sinceMs = this.#unusedSinceMs.get(sha256) ?? nowMs
      this.#unusedSinceMs.set(sha256, sinceMs)
      if (nowMs - sinceMs < patienceMs) {
        waits = true
        continue
      }
      await this.#remove(sha256, signal)
    }
    return waits ? patienceMs : undefined
  }

  async #remove(sha256: string, signal: AbortSignal): Promise<void> {
    const { configMap: name, namespace } = this.content(sha256)
    try {
      await this.#api.delete(configMaps, { name, namespace }, {}, signal)
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error
    }
    this.#published.delete(sha256)
    this.#unusedSinceMs.delete(sha256)
    if (sha256 !== this.nothing) this.#known.delete(sha256)
  }

  async #read(sha256: string, signal: AbortSignal): Promise<string | undefined> {
    const { configMap: name, namespace } = this.content(sha256)
    try {
      return (await this.#api.get(configMaps, { name, namespace }, signal)).data?.script
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }
}

function sealedKey({ secret, key, version, recipient }: Omit<SealedText, 'text'>): string {
  return [recipient, secret, key, version].join(' ')
}

function parse(text: string): DesiredState | undefined {
  try {
    return desiredStateSchema.safeParse(JSON.parse(text)).data
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
