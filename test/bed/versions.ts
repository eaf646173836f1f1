/** What the tests run against. */
export const kubernetesVersion = 'v1.36.3'
export const etcdVersion = 'v3.6.8'

/** Built or fetched together; `etcd` comes from its own project. */
export const kubernetesPrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const
export const programs = ['etcd', ...kubernetesPrograms] as const
