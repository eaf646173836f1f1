// The control plane by kubeadm: its package, its images, `upgrade apply` on the node that finds the cluster older, `upgrade
// node` on every other. On image-based hosts the staged image's own kubeadm does it while the old kubelet still runs.

import type { Order } from '../../../api/node-state.ts'
import type { Reason } from '../../../api/reason.ts'
import { SlipwayError } from '../../../api/slipway-error.ts'
import type { Host } from '../../../ports/host.ts'
import type { ActStep, Driver, Staging, Step, StepContext } from '../driver.ts'
import { installSteps, packagePicture, stageComponent } from '../kubernetes-packages.ts'
import { asksFor, bringsPrograms } from '../kubernetes-target.ts'
import { checkCertificates } from './certificates-step.ts'
import { lookAtManifests } from './control-plane.ts'
import { lostManifests } from './lost-manifests.ts'
import { stageControlPlaneImages } from './stage-images.ts'
import { upgradeRecord } from './upgrade-record.ts'
import { type KubeadmProgram, upgradeControlPlane, upgradeWorker } from './upgrade-step.ts'

/** The root of the operating-system tree that is booted next; undefined where none is staged. */
export type StagedTree = (context: StepContext, signal: AbortSignal) => Promise<string | undefined>

export interface KubeadmTools {
  readonly stagedTree: StagedTree
  /** Looks at the programs an image brings before one of them is run. */
  readonly checkImage: ActStep
  /** Where the agent keeps its journal. */
  readonly stateDir: string
}

export function kubeadmDriver({ stagedTree, checkImage, stateDir }: KubeadmTools): Driver {
  const kubeadm = kubeadmProgram(stagedTree)
  const record = upgradeRecord(stateDir)
  const restoreManifests = lostManifests(record, stateDir)
  const upgradeOf = ({ role }: Order): readonly Step[] =>
    role === 'ControlPlane'
      ? [upgradeControlPlane({ kubeadm, record, restoreManifests }), checkCertificates(kubeadm)]
      : [upgradeWorker(kubeadm)]
  return {
    name: 'kubeadm',
    concerns: (order) => asksFor('kubeadm', order),
    inspect: async ({ host }, signal) => ({
      ...(await packagePicture(host, ['kubeadm'], signal)),
      controlPlane: (await lookAtManifests(host)).images,
    }),
    stage,
    steps: (order) => [...(bringsPrograms(order) ? [checkImage] : installSteps('kubeadm', order)), ...upgradeOf(order)],
    settle: restoreManifests,
    undo: {
      possible: false,
      because: 'a control plane cannot go back to an older version; restore etcd’s snapshot and the manifests instead',
      endsUndo: 'WhenBegun',
    },
  }
}

async function stage(staging: Staging, signal: AbortSignal): Promise<Reason | undefined> {
  const { host, order } = staging
  if (order.role === 'ControlPlane' && !(await hasKubectl(host, signal))) return kubectlMissing
  // Its driver fetches the image, and with the kubeadm inside what that needs.
  if (bringsPrograms(order)) return undefined
  const reason = await stageComponent('kubeadm', staging, signal)
  return reason || order.role !== 'ControlPlane' ? reason : await stageControlPlaneImages(staging, signal)
}

const kubectlMissing: Reason = {
  code: 'ToolMissing',
  message:
    'kubectl is not on this control-plane host; the cluster’s own record is read with it: install package kubectl',
}

async function hasKubectl(host: Host, signal: AbortSignal): Promise<boolean> {
  return (await host.run({ argv: ['kubectl', 'version', '--client'] }, signal)).exitCode === 0
}

function kubeadmProgram(stagedTree: StagedTree): KubeadmProgram {
  return async (context, signal) => {
    if (!bringsPrograms(context.order)) return 'kubeadm'
    const tree = await stagedTree(context, signal)
    if (tree !== undefined) return `${tree === '/' ? '' : tree}/usr/bin/kubeadm`
    throw new SlipwayError('StepFailed', 'no operating-system image is staged, so its kubeadm cannot be run')
  }
}
