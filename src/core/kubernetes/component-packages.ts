// What the components of Kubernetes are packaged as, where it differs between distributions.

/** An etcd that runs as a service of the host; upgraded as far as they are installed. */
export const etcdPackages: readonly string[] = ['etcd-server', 'etcd-client', 'etcd']
