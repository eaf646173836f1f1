/** What the tests run against, and what they upgrade to. */
export const kubernetesVersion = 'v1.36.3'
export const etcdVersion = 'v3.6.8'

/** What they upgrade from. */
export const olderKubernetesVersion = 'v1.35.4'
export const olderEtcdVersion = 'v3.6.5'

export const containerdVersion = 'v2.2.9'
/** The same sources with another version stamped in: enough to see a runtime replaced. */
export const olderContainerdVersion = 'v2.2.8'

/** What gates ask, besides a Prometheus of the machine's own distribution. */
export const alertmanagerVersion = 'v0.28.1'

export const criToolsVersion = 'v1.36.0'
export const cniPluginsVersion = 'v1.8.0'
