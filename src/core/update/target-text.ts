import type { DirectUpdate } from '../../api/direct-update.ts'
import { isPattern } from '../versions/wish.ts'
import { contentName } from './work-of.ts'

/** What an update is to bring, in a few words: `v1.36.3 + script 0f3a11cc`. */
export function targetText(update: Pick<DirectUpdate, 'spec' | 'status'>): string {
  const { kubernetes, os, script } = update.spec
  // What a pattern came to says more than the pattern.
  const version = kubernetes && isPattern(kubernetes.version) ? update.status?.path?.target : undefined
  const image = os?.image === undefined ? [] : [update.status?.osImage?.reference ?? os.image]
  return [
    ...(kubernetes ? [version ?? kubernetes.version] : []),
    ...image,
    ...(script ? [scriptText(script)] : []),
  ].join(' + ')
}

/** A ConfigMap named by its content says no more than the first digits of its sum. */
function scriptText({ configMap, sha256 }: NonNullable<DirectUpdate['spec']['script']>): string {
  return configMap === contentName(sha256) ? `script ${sha256.slice(0, 8)}` : `script ${configMap}`
}
