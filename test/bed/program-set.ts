// Which programs the tests use, and the modules they are built from.

import {
  ageVersion,
  alertmanagerVersion,
  cniPluginsVersion,
  containerdVersion,
  criToolsVersion,
  fakeGcsServerVersion,
  helmVersion,
} from './versions.ts'

export type Project =
  | 'kubernetes'
  | 'etcd'
  | 'containerd'
  | 'cri-tools'
  | 'cni-plugins'
  | 'alertmanager'
  | 'helm'
  | 'fake-gcs-server'
  | 'age'

/** Programs of one project at one version. */
export interface ProgramSet {
  readonly project: Project
  readonly version: string
  readonly programs: readonly string[]
}

/** A module to build some of the programs from; `packages` has one for each program. */
export interface ModuleBuild {
  readonly module: string
  readonly version: string
  readonly packages: Readonly<Record<string, string>>
  /** Variables set by the linker. */
  readonly stamps: readonly string[]
}

export const controlPlanePrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
export const nodePrograms = ['kubeadm', 'kubelet', 'kubectl', 'kube-proxy'] as const

export const runtimePrograms = ['containerd', 'containerd-shim-runc-v2', 'ctr'] as const
export const criTools: ProgramSet = { project: 'cri-tools', version: criToolsVersion, programs: ['crictl'] }

export const alertmanager: ProgramSet = {
  project: 'alertmanager',
  version: alertmanagerVersion,
  programs: ['alertmanager'],
}

export const helm: ProgramSet = { project: 'helm', version: helmVersion, programs: ['helm'] }

export const fakeGcsServer: ProgramSet = {
  project: 'fake-gcs-server',
  version: fakeGcsServerVersion,
  programs: ['fake-gcs-server'],
}

export const age: ProgramSet = { project: 'age', version: ageVersion, programs: ['age', 'age-keygen'] }

const cniPlugins = {
  bridge: 'main',
  loopback: 'main',
  ptp: 'main',
  'host-local': 'ipam',
  portmap: 'meta',
  firewall: 'meta',
  bandwidth: 'meta',
  tuning: 'meta',
} as const
export const networkPlugins: ProgramSet = {
  project: 'cni-plugins',
  version: cniPluginsVersion,
  programs: Object.keys(cniPlugins),
}

export function moduleBuilds({ project, version, programs }: ProgramSet): readonly ModuleBuild[] {
  const packages = (packageOf: (program: string) => string) =>
    Object.fromEntries(programs.map((program) => [program, packageOf(program)]))
  switch (project) {
    case 'kubernetes':
      return [
        {
          module: 'k8s.io/kubernetes',
          version,
          packages: packages((program) => `k8s.io/kubernetes/cmd/${program}`),
          stamps: kubernetesStamps(version),
        },
      ]
    case 'etcd':
      return programs.map((program) => {
        const module = `go.etcd.io/etcd/${program === 'etcd' ? 'server' : program}/v3`
        return { module, version, packages: { [program]: module }, stamps: [] }
      })
    case 'containerd': {
      const module = 'github.com/containerd/containerd/v2'
      const stamps = [`${module}/version.Version=${version}`, `${module}/version.Revision=module`]
      const build = { module, packages: packages((program) => `${module}/cmd/${program}`), stamps }
      return [{ ...build, version: containerdVersion }]
    }
    case 'cri-tools': {
      const module = 'sigs.k8s.io/cri-tools'
      const stamps = [`${module}/pkg/version.Version=${version}`]
      return [{ module, version, packages: packages((program) => `${module}/cmd/${program}`), stamps }]
    }
    case 'alertmanager': {
      const module = 'github.com/prometheus/alertmanager'
      return [{ module, version, packages: packages((program) => `${module}/cmd/${program}`), stamps: [] }]
    }
    case 'helm': {
      const module = 'helm.sh/helm/v4'
      const stamps = [`${module}/internal/version.version=${version}`]
      return [{ module, version, packages: packages((program) => `${module}/cmd/${program}`), stamps }]
    }
    case 'fake-gcs-server': {
      const module = 'github.com/fsouza/fake-gcs-server'
      return [{ module, version, packages: packages(() => module), stamps: [] }]
    }
    case 'age': {
      const module = 'filippo.io/age'
      return [{ module, version, packages: packages((program) => `${module}/cmd/${program}`), stamps: [] }]
    }
    case 'cni-plugins': {
      const module = 'github.com/containernetworking/plugins'
      const kinds: Readonly<Record<string, string>> = cniPlugins
      const packageOf = (program: string) => `${module}/plugins/${kinds[program]}/${program}`
      return [{ module, version, packages: packages(packageOf), stamps: [] }]
    }
  }
}

function kubernetesStamps(version: string): string[] {
  const place = 'k8s.io/component-base/version'
  return [
    `${place}.gitVersion=${version}`,
    `${place}.gitMajor=1`,
    `${place}.gitMinor=${version.split('.')[1]}`,
    `${place}.gitCommit=module`,
    `${place}.gitTreeState=clean`,
    `k8s.io/client-go/pkg/version.gitVersion=${version}`,
  ]
}
