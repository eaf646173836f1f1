// A script from an immutable ConfigMap, pinned by its SHA-256. What it does cannot be known or looked at, so it counts as
// disruptive, is tried once, and its exit code is the proof.

import { configMaps } from '../../api/kube.ts'
import { isKubeError } from '../../api/kube-error.ts'
import type { Order } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { corrupt, sha256 } from '../journal/sealed-file.ts'
import type { Driver, Staging, Step, StepContext } from './driver.ts'

export const scriptDriver: Driver = { kind: 'script', stage, steps }

const runScript: Step = { name: 'script', disruptive: true, attempts: 1, argv: scriptArguments }

function steps(order: Order): readonly Step[] {
  return order.work.script ? [runScript] : []
}

async function stage(order: Order, staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { script } = order.work
  if (!script || (await staging.hasContent(script.sha256))) return undefined
  const place = `ConfigMap ${script.namespace}/${script.configMap}`
  const content = await fetchScript(script, staging, signal)
  if (content === undefined) return { code: 'ScriptMissing', message: `${place} is not there, or has no key "script"` }
  const found = sha256(content)
  if (found !== script.sha256) {
    return {
      code: 'ContentMismatch',
      message: `the script in ${place} has SHA-256 ${found}, the order names ${script.sha256}`,
    }
  }
  await staging.keepContent(content)
  return undefined
}

async function fetchScript(
  script: { readonly configMap: string; readonly namespace: string },
  staging: Staging,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const ref = { name: script.configMap, namespace: script.namespace }
    return (await staging.api.get(configMaps, ref, signal)).data?.script
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return undefined
    throw error
  }
}

/** A script that names its interpreter is run as it is; any other by the shell. Checked again before each start. */
async function scriptArguments({ host, order, contentPath }: StepContext): Promise<readonly string[]> {
  const content = (await host.disk.read(contentPath)) ?? ''
  if (sha256(content) !== order.work.script?.sha256) {
    throw corrupt(contentPath, 'does not have the SHA-256 the order names')
  }
  return content.startsWith('#!') ? [contentPath] : ['/bin/sh', contentPath]
}
