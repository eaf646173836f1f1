// A script travels as an immutable ConfigMap named by its content, owned by the updates that use it: the user's own
// ConfigMap may change or go, the order stays what it was.

import { createHash } from 'node:crypto'
import { type DirectUpdate, directUpdates } from '../../api/direct-update.ts'
import { type ConfigMap, configMaps, type OwnerReference } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import { SlipwayError } from '../../api/slipway-error.ts'
import { contentName } from '../../core/update/work-of.ts'
import type { KubeApi } from '../../ports/kube-api.ts'

type ScriptReference = Pick<NonNullable<DirectUpdate['spec']['script']>, 'configMap' | 'sha256'>

export interface ScriptContent {
  readonly text: string
  readonly sha256: string
}

/** The script as the user's ConfigMap has it now; undefined where it is missing. */
export async function readScript(
  api: KubeApi,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ScriptContent | undefined> {
  try {
    const map = await api.get(configMaps, { namespace, name }, signal)
    const text = map.data?.script
    return text === undefined ? undefined : { text, sha256: createHash('sha256').update(text).digest('hex') }
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined
    throw error
  }
}

/** Puts scripts where agents find them: each once a term, and always before an order that names it is written. */
export class ScriptShelf {
  readonly #api: KubeApi
  readonly #namespace: string
  readonly #put = new Map<string, Promise<void>>()

  constructor(api: KubeApi, namespace: string) {
    this.#api = api
    this.#namespace = namespace
  }

  /** `content`: the script, where the caller has just read it. */
  async ensure(update: DirectUpdate, content: ScriptContent | undefined, signal: AbortSignal): Promise<void> {
    const { script } = update.spec
    if (!script) return
    await this.#ensureOne(update, script, content, signal)
    if (script.validate) await this.#ensureOne(update, script.validate, undefined, signal)
  }

  #ensureOne(
    update: DirectUpdate,
    script: ScriptReference,
    content: ScriptContent | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const key = `${update.metadata.uid} ${script.sha256}`
    const known = this.#put.get(key)
    if (known !== undefined) return known
    const putting = this.#shelve(update, script, content, signal).catch((error: unknown) => {
      this.#put.delete(key)
      throw error
    })
    this.#put.set(key, putting)
    return putting
  }

  async #shelve(
    update: DirectUpdate,
    { configMap, sha256 }: ScriptReference,
    read: ScriptContent | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { apiVersion, kind } = directUpdates
    const owner = { apiVersion, kind, name: update.metadata.name, uid: update.metadata.uid }
    if (!read && (await adoptScript(this.#api, this.#namespace, owner, sha256, signal))) return
    const content = read ?? (await readScript(this.#api, this.#namespace, configMap, signal))
    if (content?.sha256 !== sha256) {
      throw new SlipwayError(
        'Refused',
        `ConfigMap ${configMap} no longer has the script ${update.metadata.name} names`,
        {
          nextStep: 'put the script back, or delete the update',
        },
      )
    }
    await publishScript(this.#api, this.#namespace, owner, content, signal)
  }
}

/** Where agents find it; gone with the last of its owners. */
export async function publishScript(
  api: KubeApi,
  namespace: string,
  owner: OwnerReference,
  script: ScriptContent,
  signal: AbortSignal,
): Promise<void> {
  const name = contentName(script.sha256)
  try {
    await api.create(
      configMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace, ownerReferences: [owner] },
        immutable: true,
        data: { script: script.text },
      },
      signal,
    )
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error
    await addOwner(api, await api.get(configMaps, { namespace, name }, signal), owner, signal)
  }
}

/** Keeps what somebody has published for as long as the owner is there; false where nobody has. */
export async function adoptScript(
  api: KubeApi,
  namespace: string,
  owner: OwnerReference,
  sha256: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await addOwner(api, await api.get(configMaps, { namespace, name: contentName(sha256) }, signal), owner, signal)
    return true
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return false
    throw error
  }
}

async function addOwner(api: KubeApi, map: ConfigMap, owner: OwnerReference, signal: AbortSignal): Promise<void> {
  const { name, namespace = '', uid, resourceVersion, ownerReferences = [] } = map.metadata
  if (ownerReferences.some((known) => known.uid === owner.uid)) return
  const body = { metadata: { uid, resourceVersion, ownerReferences: [...ownerReferences, owner] } }
  await api.patch(configMaps, { name, namespace }, { type: 'merge', body }, signal)
}
