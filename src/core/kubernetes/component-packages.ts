// What the components of Kubernetes are packaged as, where it differs between distributions.

import { containerRuntimes } from './container-runtimes.ts'

/** What an etcd that is a service of the host runs from. */
export const etcdServers: readonly string[] = ['etcd-server', 'etcd']

/** Upgraded together, as far as they are installed. */
export const etcdPackages: readonly string[] = [...etcdServers, 'etcd-client']

/**
 * What an upgrade of the operating system's packages does not touch. What starts the containers for a runtime, as runc does,
 * belongs to the system: no other update brings its security fixes.
 */
export const keptFromSystem: readonly string[] = [
  ...['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'cri-tools'],
  ...containerRuntimes.flatMap(({ packages }) => packages),
  ...etcdPackages,
]
