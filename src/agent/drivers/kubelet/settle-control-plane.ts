// A kubelet of another version may restart every static pod some time after it started. Until that is over the cluster's
// controllers come and go: whoever drains the next node then sends requests to pods that are gone. So it is waited for.

import { runningContainersSchema } from '../../../api/kubernetes-notes.ts'
import { jsonOf } from '../../../core/json-text.ts'
import type { Host } from '../../../ports/host.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { lookAtManifests } from '../kubeadm/control-plane.ts'
import { lookUntil } from '../look-until.ts'
import { crictlCommand } from '../runtime/image-store.ts'

const pauseSeconds = 2
/** So many looks in a row must show the same containers. */
const sameLooks = 15
const tries = 200
/** So many in a row without an answer: there is nothing to be seen here. */
const blindLooks = 5

export const settleControlPlane: ActStep = {
  name: 'settle-control-plane',
  disruptive: false,
  attempts: 3,
  act: async (context, signal) => {
    const unsettled = await lookUntil(context.host, sameForLong(context, signal), { tries, pauseSeconds }, signal)
    if (unsettled !== undefined) await context.warn(`after the kubelet’s restart ${unsettled}`)
  },
}

function sameForLong({ host }: StepContext, signal: AbortSignal): () => Promise<string | undefined> {
  let last = ''
  let same = 0
  let blind = 0
  return async () => {
    const { images } = await lookAtManifests(host)
    const found = await controlPlaneContainers(host, Object.keys(images), signal)
    blind = found === undefined ? blind + 1 : 0
    if (found === undefined) return blind < blindLooks ? 'the container runtime did not answer' : undefined
    const absent = Object.keys(images).filter((component) => !found.some(({ name }) => name === component))
    const now = found.map(({ name, id }) => `${name} ${id}`).join()
    same = absent.length === 0 && now === last ? same + 1 : 0
    last = now
    if (same >= sameLooks) return undefined
    return absent.length > 0 ? `${absent.join(', ')} did not run` : 'the control plane’s containers kept changing'
  }
}

/** Undefined where nothing can be seen: the host has no crictl, or the runtime does not answer it. That is no failure of the work. */
async function controlPlaneContainers(
  host: Host,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly { readonly name: string; readonly id: string }[] | undefined> {
  const argv = [...(await crictlCommand(host)), '--timeout=10s', 'ps', '--state', 'Running', '-o', 'json']
  const { exitCode, stdout } = await host.run({ argv }, signal)
  const parsed = runningContainersSchema.safeParse(exitCode === 0 ? jsonOf(stdout) : undefined)
  if (!parsed.success) return undefined
  return parsed.data.containers
    .filter(({ metadata }) => names.includes(metadata.name))
    .map(({ metadata, id }) => ({ name: metadata.name, id }))
    .sort((a, b) => (`${a.name} ${a.id}` < `${b.name} ${b.id}` ? -1 : 1))
}
