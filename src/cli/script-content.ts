// A script travels as an immutable ConfigMap named by its content, so that what was checked is what runs.

import type { DirectUpdateSpec } from '../api/direct-update.ts'
import { configMaps } from '../api/kube.ts'
import { isKubeError } from '../api/kube-error.ts'
import { SlipwayError } from '../api/slipway-error.ts'
import { installHint } from '../core/failure.ts'
import { contentName } from '../core/update/work-of.ts'
import type { KubeApi } from '../ports/kube-api.ts'

/** etcd takes 1.5 MiB an object; Kubernetes gives a ConfigMap 1 MiB. */
const mostBytes = 1_000_000

export interface ScriptContent {
  readonly text: string
  readonly sha256: string
  readonly configMap: string
}

export function scriptContent(text: string, path: string, sha256: (text: string) => string): ScriptContent {
  if (text.trim() === '') throw new SlipwayError('Usage', `the script ${path} is empty`)
  if (new TextEncoder().encode(text).length > mostBytes) {
    throw new SlipwayError('Usage', `the script ${path} is larger than ${mostBytes} bytes`, {
      nextStep: 'let the script fetch what is large',
    })
  }
  const sum = sha256(text)
  return { text, sha256: sum, configMap: contentName(sum) }
}

export async function storeScript(
  api: KubeApi,
  namespace: string,
  script: ScriptContent,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.create(
      configMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: script.configMap, namespace, labels: { 'slipway.dev/content': 'script' } },
        immutable: true,
        data: { script: script.text },
      },
      signal,
    )
  } catch (error) {
    if (isKubeError(error, 'NotFound')) throw namespaceMissing(namespace, error)
    if (!isKubeError(error, 'AlreadyExists')) throw error
    const present = await api.get(configMaps, { name: script.configMap, namespace }, signal)
    if (present.data?.script !== script.text) {
      throw new SlipwayError('Refused', `ConfigMap ${namespace}/${script.configMap} is there with other content`, {
        nextStep: 'delete it if nothing uses it, and try again',
        cause: error,
      })
    }
  }
}

/** The content of the ConfigMap an update names; undefined where it cannot be read, which the planner judges. */
export async function storedScript(
  api: KubeApi,
  namespace: string,
  script: DirectUpdateSpec['script'],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!script) return undefined
  try {
    const found = await api.get(configMaps, { name: script.configMap, namespace }, signal)
    return found.data?.script
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined
    throw error
  }
}

function namespaceMissing(namespace: string, cause: unknown): SlipwayError {
  return new SlipwayError('CrdsMissing', `there is no namespace ${namespace} in this cluster`, {
    nextStep: `name the operator's with --namespace, or install Slipway; ${installHint}`,
    cause,
  })
}
