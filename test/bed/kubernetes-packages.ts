// Kubernetes and containerd as Debian packages, with the names, contents and dependencies of the upstream ones, in signed repositories.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import { type DebPackage, debArchitecture } from './deb-package.ts'
import { makeRepository } from './package-repository.ts'
import { criTools, networkPlugins, nodePrograms, runtimePrograms } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { signingKey } from './signing-key.ts'
import { containerdVersion, olderContainerdVersion } from './versions.ts'

/** Grows when what is packed changes, so that no cached repository is taken for a new one. */
const recipe = 1

/** Where the packages put the network plugins. */
export const cniFolder = '/opt/cni/bin'

const kubeadmDropIn = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`
const kubeletUnit = `[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target
[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10
[Install]
WantedBy=multi-user.target
`
const containerdUnit = `[Unit]
Description=containerd container runtime
After=network.target local-fs.target
[Service]
ExecStart=/usr/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=2
LimitNOFILE=infinity
TasksMax=infinity
[Install]
WantedBy=multi-user.target
`

/** The path the community's repositories have on their server. */
export function minorPath(version: string): string {
  return `core:/stable:/${version.split('.').slice(0, 2).join('.')}/deb`
}

/** `1.36.3-1.1`, as the community's packages are numbered. */
export function debVersion(version: string): string {
  return `${version.slice(1)}-1.1`
}

/** The folder of the repository of that release's minor: kubeadm, kubelet, kubectl, cri-tools, kubernetes-cni. */
export async function kubernetesRepository(version: string): Promise<string> {
  return cachedRepository(`kubernetes-${version}`, () => kubernetesDebs(version))
}

/** The folder of a repository with two versions of containerd.io. */
export async function containerdRepository(): Promise<string> {
  return cachedRepository(`containerd-${containerdVersion}`, () =>
    Promise.all(
      [olderContainerdVersion, containerdVersion].map(async (version) => {
        const set = { project: 'containerd', version, programs: runtimePrograms } as const
        return containerdPackage(version, await programFolder(set, sayToStderr))
      }),
    ),
  )
}

/** What the packages of a node bring, by path. */
export async function nodeFiles(version: string): Promise<NonNullable<DebPackage['files']>> {
  const runtime = { project: 'containerd', version: containerdVersion, programs: runtimePrograms } as const
  return [
    ...(await kubernetesDebs(version)),
    containerdPackage(containerdVersion, await programFolder(runtime, sayToStderr)),
  ].flatMap(({ files = [] }) => files)
}

async function kubernetesDebs(version: string): Promise<DebPackage[]> {
  const set = { project: 'kubernetes', version, programs: nodePrograms } as const
  const programs = await programFolder(set, sayToStderr)
  const tools = await programFolder(criTools, sayToStderr)
  const plugins = await programFolder(networkPlugins, sayToStderr)
  return [
    kubeadmPackage(version, programs),
    kubeletPackage(version, programs),
    programPackage('kubectl', debVersion(version), programs, ['kubectl'], '/usr/bin'),
    programPackage('cri-tools', debVersion(criTools.version), tools, criTools.programs, '/usr/bin'),
    programPackage('kubernetes-cni', debVersion(networkPlugins.version), plugins, networkPlugins.programs, cniFolder),
  ]
}

async function cachedRepository(name: string, packages: () => Promise<DebPackage[]>): Promise<string> {
  const key = createHash('sha256').update(await readFile((await signingKey('trusted')).keyringPath))
  const asset = `apt-${name}-${debArchitecture}-${recipe}-${key.digest('hex').slice(0, 8)}`
  return cachedFolder(asset, async (folder) => makeRepository(folder, await packages()))
}

function programPackage(
  name: string,
  version: string,
  from: string,
  programs: readonly string[],
  to: string,
): DebPackage {
  const files = programs.map((program) => ({
    path: join(to, program),
    content: { file: join(from, program) },
    mode: 0o755,
  }))
  return { name, version, architecture: debArchitecture, files }
}

/** It depends on nothing since 1.32. */
function kubeadmPackage(version: string, from: string): DebPackage {
  const deb = programPackage('kubeadm', debVersion(version), from, ['kubeadm'], '/usr/bin')
  const dropIn = { path: '/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf', content: kubeadmDropIn }
  return { ...deb, files: [...(deb.files ?? []), dropIn] }
}

function kubeletPackage(version: string, from: string): DebPackage {
  const deb = programPackage('kubelet', debVersion(version), from, ['kubelet'], '/usr/bin')
  return {
    ...deb,
    files: [
      ...(deb.files ?? []),
      { path: '/usr/lib/systemd/system/kubelet.service', content: kubeletUnit },
      { path: '/etc/default/kubelet', content: 'KUBELET_EXTRA_ARGS=\n' },
      { path: '/var/lib/kubelet/.kubelet-keep', content: '' },
      { path: '/etc/kubernetes/manifests/.kubelet-keep', content: '' },
    ],
    conffiles: ['/etc/default/kubelet'],
    scripts: unitScripts('kubelet.service'),
    control: { Depends: 'kubernetes-cni (>= 1.2.0), mount, util-linux', Recommends: 'iptables (>= 1.8.4)' },
  }
}

function containerdPackage(version: string, from: string): DebPackage {
  const deb = programPackage('containerd.io', `${version.slice(1)}-1`, from, runtimePrograms, '/usr/bin')
  return {
    ...deb,
    files: [...(deb.files ?? []), { path: '/usr/lib/systemd/system/containerd.service', content: containerdUnit }],
    scripts: unitScripts('containerd.service'),
    control: { Depends: 'runc' },
  }
}

/** Enables the unit and never restarts it: the old process runs on until somebody does. */
function unitScripts(unit: string) {
  const reload = '[ -d /run/systemd/system ] && systemctl daemon-reload || true'
  const disable = `[ -d /run/systemd/system ] && systemctl disable --now ${unit} || true`
  const enable = `systemctl --no-reload enable ${unit} >/dev/null 2>&1 || true`
  return {
    postinst: `#!/bin/sh\nset -e\nif [ "$1" = configure ] || [ "$1" = abort-upgrade ]; then ${enable}; ${reload}; fi\n`,
    prerm: `#!/bin/sh\nset -e\nif [ "$1" = remove ]; then ${disable}; fi\n`,
    postrm: `#!/bin/sh\nset -e\n${reload}\n`,
  }
}
