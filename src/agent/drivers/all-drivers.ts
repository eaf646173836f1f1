import type { Driver } from './driver.ts'
import { kubeadmDriver } from './kubeadm/kubeadm-driver.ts'
import { kubectlDriver } from './kubectl/kubectl-driver.ts'
import { kubeletDriver } from './kubelet/kubelet-driver.ts'
import { packagesDriver } from './packages/packages-driver.ts'
import { scriptDriver } from './script.ts'

/** Every driver of a real host, in the order in which they work on one order. */
export const allDrivers: readonly Driver[] = [
  scriptDriver,
  packagesDriver,
  kubeadmDriver(() => Promise.resolve(undefined)),
  kubectlDriver,
  kubeletDriver,
]
