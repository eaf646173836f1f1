import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Reason } from '../../api/reason.ts'
import type { Content } from '../../api/work.ts'
import { sha256 } from '../journal/sealed-file.ts'
import type { Staging } from './driver.ts'

/** Fetches content from its immutable ConfigMap, checks it and keeps it; the reason where it cannot be had. */
export async function stageContent(
  wanted: Content,
  staging: Pick<Staging, 'api' | 'content'>,
  signal: AbortSignal,
): Promise<Reason | undefined> {
  if (await staging.content.has(wanted.sha256)) return undefined
  const place = `ConfigMap ${wanted.namespace}/${wanted.configMap}`
  const content = await fetchContent(wanted, staging, signal)
  if (content === undefined) return { code: 'ScriptMissing', message: `${place} is not there, or has no key "script"` }
  const found = sha256(content)
  if (found !== wanted.sha256) {
    return { code: 'ContentMismatch', message: `${place} has SHA-256 ${found}, the order names ${wanted.sha256}` }
  }
  await staging.content.keep(content)
  return undefined
}

async function fetchContent(
  { configMap, namespace }: Content,
  { api }: Pick<Staging, 'api'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await api.get(configMaps, { name: configMap, namespace }, signal)).data?.script
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined
    throw error
  }
}
