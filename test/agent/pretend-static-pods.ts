// A kubeadm control plane as its host and its cluster tell of it, as far as it is read.

export const components: readonly string[] = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd']

const imageOf = (component: string, version: string) =>
  `registry.k8s.io/${component}:${component === 'etcd' ? '3.6.8-0' : version}`

export const manifest = (component: string, version: string): string => `apiVersion: v1
kind: Pod
spec:
  containers:
  - command: [${component}, --advertise-address=10.77.1.11]
    image: ${imageOf(component, version)}
`

export const record = (version: string): string =>
  JSON.stringify({ data: { ClusterConfiguration: `kind: ClusterConfiguration\nkubernetesVersion: ${version}\n` } })

export const pods = (version: string, ready = true): string =>
  JSON.stringify({
    items: components.map((component) => ({
      metadata: { labels: { component, tier: 'control-plane' } },
      spec: { containers: [{ image: imageOf(component, version) }] },
      status: { containerStatuses: [{ ready }] },
    })),
  })
