// What the components of Kubernetes are packaged as, where it differs between distributions.

import { containerRuntimes } from './container-runtimes.ts'

/** An etcd that runs as a service of the host; upgraded as far as they are installed. */
export const etcdPackages: readonly string[] = ['etcd-server', 'etcd-client', 'etcd']

/**
 * What an upgrade of the operating system's packages does not touch. What starts the containers for a runtime, runc or crun,
 * belongs to the system: no other update brings its security fixes.
 */
export const keptFromSystem: readonly string[] = [
  ...['kubelet', 'kubeadm', 'kubectl', 'kubernetes-cni', 'cri-tools'],
  ...containerRuntimes.flatMap(({ packages }) => packages),
  ...etcdPackages,
]
