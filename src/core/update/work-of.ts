import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Content, Work } from '../../api/work.ts'

/** What an update asks of each of its nodes. The profile it names, if any, is computed for each node when its order is made. */
export function workOf(
  { kubernetes, os, script, binary, reboot, airGapped }: DirectUpdateSpec,
  namespace: string,
): Work {
  const content = (sha256: string): Content => ({ configMap: contentName(sha256), namespace, sha256 })
  return {
    ...(airGapped && { bundle: airGapped.bundle }),
    ...(script && {
      script: { ...content(script.sha256), ...(script.validate && { validate: content(script.validate.sha256) }) },
    }),
    ...(os && { os }),
    ...(kubernetes && { kubernetes }),
    ...(binary && { binary }),
    ...(reboot !== undefined && { reboot }),
  }
}

/** The immutable ConfigMap that carries a content, one per content. */
export function contentName(sha256: string): string {
  return `slipway-content-${sha256.slice(0, 40)}`
}
