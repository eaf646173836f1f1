// The ConfigMaps and Secrets that files of profiles come from. Read again from time to time: the operator may get the Secrets
// that are named, not watch them all.

import { createHash } from 'node:crypto'
import { type ConfigMap, configMaps, type ResourceType, type Secret, secrets } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { NodeProfile, SecretVersion } from '../../api/node-profile.ts'
import type { ProfileFile } from '../../api/profile-items.ts'
import { type NamedSecret, namedSecret, toldOf } from '../../core/profile/secret-versions.ts'
import type { OperatorPorts } from '../ports.ts'

interface Source {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
}

/** Undefined: what is not there. */
interface Read {
  readonly configMap?: ConfigMap | undefined
  readonly secret?: NamedSecret | undefined
  readonly atMs: number
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
  readonly #read = new Map<string, Read>()

  constructor(ports: Pick<OperatorPorts, 'api' | 'clock'>, namespace: string) {
    this.#ports = ports
    this.#namespace = namespace
  }

  /** True when there is any: then it has to be called again after `readAgainMs`. */
  async refresh(profiles: readonly NodeProfile[], signal: AbortSignal): Promise<boolean> {
    const wanted = new Map(profiles.flatMap(({ spec }) => spec.files ?? []).flatMap(sourceOf))
    for (const key of this.#read.keys()) if (!wanted.has(key)) this.#read.delete(key)
    const told = profiles.flatMap(({ status }) => status?.secretVersions ?? [])
    const nowMs = this.#ports.clock.monotonicMs()
    for (const [key, source] of wanted) {
      const known = this.#read.get(key)
      if (known && nowMs - known.atMs < readAgainMs) continue
      this.#read.set(key, { ...(await this.#look(source, known?.secret, told, signal)), atMs: nowMs })
    }
    return wanted.size > 0
  }

  /** The content of a file that does not carry it itself; undefined where the object or its key is missing. */
  find(file: ProfileFile): Held | undefined {
    const text = file.configMap && this.#of(file)?.configMap?.data?.[file.configMap.key]
    if (text !== undefined) return { text, version: createHash('sha256').update(text).digest('hex') }
    const named = this.#of(file)?.secret
    const { key = '' } = file.secret ?? {}
    const [value, version] = [named?.secret.data?.[key], named?.versions.get(key)]
    return value === undefined || version === undefined ? undefined : { text: textOf(value), version }
  }

  /** Changes when one of the profile's sources does. */
  versionOf({ spec }: NodeProfile): string {
    const held = (spec.files ?? []).filter(({ content }) => content === undefined).map((file) => this.find(file))
    return held.map((one) => one?.version ?? 'none').join(' ')
  }

  /** For the next leader: what it could not tell from the Secrets as they are. */
  told({ spec }: NodeProfile): readonly SecretVersion[] {
    const all = (spec.files ?? []).flatMap((file) => {
      const named = this.#of(file)?.secret
      return named && file.secret ? toldOf(named, file.secret.key) : []
    })
    return [...new Map(all.map((one) => [`${one.secret} ${one.key}`, one])).values()]
  }

  #of(file: ProfileFile): Read | undefined {
    const [entry] = sourceOf(file)
    return entry && this.#read.get(entry[0])
  }

  async #look(
    { kind, name }: Source,
    before: NamedSecret | undefined,
    told: readonly SecretVersion[],
    signal: AbortSignal,
  ): Promise<Omit<Read, 'atMs'>> {
    if (kind === 'configMap') return { configMap: await this.#get(configMaps, name, signal) }
    const secret = await this.#get(secrets, name, signal)
    return { secret: secret && namedSecret(secret, before, told) }
  }

  async #get<T extends ConfigMap | Secret>(
    type: ResourceType<T>,
    name: string,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    try {
      return await this.#ports.api.get(type, { name, namespace: this.#namespace }, signal)
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
