import type { Component, KubernetesWork, Work } from '../../api/work.ts'
import { parseVersion, type Version } from '../version.ts'

const byComponent: Readonly<Record<Component, string>> = {
  kubeadm: 'kubeadm',
  kubelet: 'kubelet',
  kubectl: 'kubectl',
  containerd: 'runtime',
  etcd: 'etcd',
}

const defaultComponents: readonly Component[] = ['kubeadm', 'kubelet', 'kubectl']

/** Those whose packages are of the version that is asked for, in the order in which they are installed. */
export const packagedComponents = ['kubeadm', 'kubectl', 'kubelet'] as const satisfies readonly Component[]

export function componentsOf({ components }: Pick<KubernetesWork, 'components'>): readonly Component[] {
  return components ?? defaultComponents
}

/** It brings kubelets up and no API server: those stay what they are, and no kubelet may go above one. */
export function takesKubeletsAlone(work: Pick<KubernetesWork, 'components'>): boolean {
  const components = componentsOf(work)
  return components.includes('kubelet') && !components.includes('kubeadm')
}

/** Which minor version a host's repository of Kubernetes packages names afterwards; undefined where it stays as it is. */
export function repositoryMinor({
  kubernetes,
  bundle,
  os,
}: Pick<Work, 'kubernetes' | 'bundle' | 'os'>): Version | undefined {
  if (!kubernetes || bundle || os?.image !== undefined) return undefined
  const components = componentsOf(kubernetes)
  const isPackaged = packagedComponents.some((component) => components.includes(component))
  return isPackaged ? parseVersion(kubernetes.version) : undefined
}

/** The drivers an agent must have to carry out this work. */
export function driversFor({
  profile,
  jobs,
  script,
  os,
  kubernetes,
  binary,
  maintenance,
  reboot,
  stamps,
}: Work): readonly string[] {
  const components = kubernetes ? componentsOf(kubernetes) : []
  return [
    ...(profile ? ['profile'] : []),
    ...(jobs?.length ? ['jobs'] : []),
    ...(script ? ['script'] : []),
    ...(os?.packages ? ['packages'] : []),
    ...components.map((component) => byComponent[component]),
    ...(os?.image !== undefined ? ['osimage'] : []),
    ...(binary ? ['binary'] : []),
    ...(maintenance ? ['maintenance'] : []),
    ...(reboot !== undefined && reboot !== 'Never' ? ['reboot'] : []),
    ...(stamps ? ['stamps'] : []),
  ]
}
