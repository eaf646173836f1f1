/** What the tests run against, and what they upgrade to. */
export const kubernetesVersion = 'v1.36.3'
export const etcdVersion = 'v3.6.8'

/** What they upgrade from. */
export const olderKubernetesVersion = 'v1.35.4'
export const olderEtcdVersion = 'v3.6.5'

/** Where a path over two minor versions begins. */
export const oldestKubernetesVersion = 'v1.34.4'

/** A release and those that come after it, as far as the tests go. */
export function releasesFrom(release: string): readonly string[] {
  const all = [oldestKubernetesVersion, olderKubernetesVersion, kubernetesVersion]
  return all.slice(all.indexOf(release))
}

export const containerdVersion = 'v2.2.9'
/** The same sources with another version stamped in: enough to see a runtime replaced. */
export const olderContainerdVersion = 'v2.2.8'

/** What gates ask, besides a Prometheus of the machine's own distribution. */
export const alertmanagerVersion = 'v0.28.1'

/** What installs the chart. */
export const helmVersion = 'v4.3.1'

/** What backups are stored in. */
export const motoVersion = '5.2.5'
export const fakeGcsServerVersion = 'v1.56.1'

/** What opens our encrypted backups besides us. */
export const ageVersion = 'v1.3.2'

export const criToolsVersion = 'v1.36.0'
export const cniPluginsVersion = 'v1.8.0'
