// Which Kubernetes an image brings: looked at when it was fetched, where that can be, and again when its tree is there, before kubeadm or
// a boot makes use of it. A kubelet must not become newer than its API server, so one that goes up a minor version needs an update that
// says so.

import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import { minorsBetween, parseVersion, sameVersion } from '../../../core/version.ts'
import type { ActStep, StepContext } from '../driver.ts'
import { installedKubelet, kubeletVersionOf } from '../kubelet/kubelet-look.ts'
import { fetchedProgram } from './fetched-program.ts'
import { pinnedName } from './image-commands.ts'
import { hadItBefore, planOf } from './image-state.ts'
import { dropStaged } from './return-image.ts'
import { stagedTree } from './staged-tree.ts'

export const checkImageProgramsStep: ActStep = {
  name: 'check-image-programs',
  disruptive: false,
  attempts: 3,
  holds: async (context) => context.order.work.kubernetes === undefined && hadItBefore(await planOf(context)),
  act: async (context, signal) => {
    const tree = await stagedTree(context, signal)
    if (tree === undefined) return
    const path = `${tree === '/' ? '' : tree}/usr/bin/kubelet`
    const brought = await kubeletVersionOf(context.host, path, signal)
    const present = await installedKubelet(context.host, signal)
    const why = whyNotThis(context.order, brought, present)
    if (why === undefined) return
    // From here on no reboot may start it.
    await dropStaged(context, signal)
    throw new SlipwayError('ImageKubernetesOther', `${await imageName(context)} ${why}`)
  },
}

/** While the node still works: why it should not be taken out for this image. */
export async function whyNotFetched(context: StepContext, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order } = context
  const path = await fetchedProgram(context, 'kubelet', signal)
  // What does not tell here is looked at in the tree, after the drain.
  if (path === undefined) return undefined
  const brought = await kubeletVersionOf(host, path, signal)
  if (brought === undefined) return undefined
  const why = whyNotThis(order, brought, await installedKubelet(host, signal))
  return why === undefined ? undefined : { code: 'ImageKubernetesOther', message: `${await imageName(context)} ${why}` }
}

/** `brought`: the kubelet in the image; `present`: the one of this host. */
export function whyNotThis(
  { work }: Pick<Order, 'work'>,
  brought: string | undefined,
  present: string | undefined,
): string | undefined {
  const wanted = work.kubernetes?.version
  if (wanted !== undefined) {
    if (brought === undefined) return `has no kubelet in /usr/bin, the update wants ${wanted}: leave kubernetes out`
    return sameVersion(brought, wanted) ? undefined : `brings kubelet ${brought}, the update names ${wanted}`
  }
  const [from, to] = [parseVersion(present ?? ''), parseVersion(brought ?? '')]
  if (!from || !to || minorsBetween(from, to) <= 0) return undefined
  return `brings kubelet ${to.text}, this host runs ${from.text}: name kubernetes.version ${to.text} in the update, so that the control plane goes first`
}

async function imageName(context: StepContext): Promise<string> {
  return pinnedName(await planOf(context))
}
