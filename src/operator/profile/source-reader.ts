// The ConfigMaps and Secrets that files of profiles come from. Read again from time to time: the operator may get the Secrets
// that are named, not watch them all.

import { createHash } from 'node:crypto'
import { type ConfigMap, configMaps, type Secret, secrets } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { ProfileFile } from '../../api/profile-items.ts'
import type { OperatorPorts } from '../ports.ts'

interface Source {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
}

export interface Held {
  /** Undefined where it is no UTF-8: what travels to hosts is text, and would arrive as something else. */
  readonly text: string | undefined
  /** Changes with it, and tells nothing of a Secret's value. */
  readonly version: string
}

export const readAgainMs = 60_000

export class SourceReader {
  readonly #ports: Pick<OperatorPorts, 'api' | 'clock'>
  readonly #namespace: string
  readonly #read = new Map<string, { readonly object: ConfigMap | Secret | undefined; readonly atMs: number }>()

  constructor(ports: Pick<OperatorPorts, 'api' | 'clock'>, namespace: string) {
    this.#ports = ports
    this.#namespace = namespace
  }

  /** True when there is any: then it has to be called again after `readAgainMs`. */
  async refresh(profiles: readonly NodeProfile[], signal: AbortSignal): Promise<boolean> {
    const wanted = new Map(profiles.flatMap(({ spec }) => spec.files ?? []).flatMap(sourceOf))
    for (const key of this.#read.keys()) if (!wanted.has(key)) this.#read.delete(key)
    const nowMs = this.#ports.clock.monotonicMs()
    for (const [key, source] of wanted) {
      const known = this.#read.get(key)
      if (known && nowMs - known.atMs < readAgainMs) continue
      this.#read.set(key, { object: await this.#get(source, signal), atMs: nowMs })
    }
    return wanted.size > 0
  }

  /** The content of a file that does not carry it itself; undefined where the object or its key is missing. */
  find(file: ProfileFile): Held | undefined {
    const [entry] = sourceOf(file)
    const object = entry && this.#read.get(entry[0])?.object
    const value = object?.data?.[file.configMap?.key ?? file.secret?.key ?? '']
    if (!object || value === undefined) return undefined
    if (file.configMap) return { text: value, version: createHash('sha256').update(value).digest('hex') }
    return { text: textOf(value), version: `${object.metadata.uid}/${object.metadata.resourceVersion}` }
  }

  /** Changes when one of the profile's sources does. */
  versionOf({ spec }: NodeProfile): string {
    const held = (spec.files ?? []).filter(({ content }) => content === undefined).map((file) => this.find(file))
    return held.map((one) => one?.version ?? 'none').join(' ')
  }

  async #get({ kind, name }: Source, signal: AbortSignal): Promise<ConfigMap | Secret | undefined> {
    try {
      return await this.#ports.api.get(
        kind === 'configMap' ? configMaps : secrets,
        { name, namespace: this.#namespace },
        signal,
      )
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined
      throw error
    }
  }
}

function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

function sourceOf({ configMap, secret }: ProfileFile): [string, Source][] {
  if (configMap) return [[`configMap ${configMap.name}`, { kind: 'configMap', name: configMap.name }]]
  return secret ? [[`secret ${secret.name}`, { kind: 'secret', name: secret.name }]] : []
}
