// A machine made ready for a cluster once, then cloned: containerd, the Kubernetes packages of one release, the images of it and later ones.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { baseRoot } from './base-root.ts'
import type { Bed } from './bed.ts'
import { cachedFolder } from './cache-folder.ts'
import { imageRegistry, writeImages } from './kubernetes-images.ts'
import { cniFolder, containerdRepository, debVersion, kubernetesRepository, minorPath } from './kubernetes-packages.ts'
import type { Machine } from './machine.ts'
import { runProgram } from './run-program.ts'
import { kubernetesVersion, olderContainerdVersion, releasesFrom } from './versions.ts'

export interface NodeTemplate {
  /** For `bed.machine`: what was installed, above Debian's base. */
  readonly layers: readonly string[]
  /** For `bed.machine`: containerd's store, with the images. */
  readonly containerd: string
}

/** Grows when the steps below change, so that no cached template is taken for a new one. */
const recipe = 3

const heldPackages = ['kubelet', 'kubeadm', 'kubectl']
/** For a node whose network plugins lie there. */
export const containerdConfig = (plugins: string) => `version = 3
root = "/var/lib/containerd"
[plugins.'io.containerd.cri.v1.runtime']
  # Inside a machine of the bed nobody may lower it: every sandbox would die at its start.
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
    runtime_type = 'io.containerd.runc.v2'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
      SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${plugins}']
    conf_dir = '/etc/cni/net.d'
[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = '${imageRegistry}/pause:3.10.1'
`
export const crictlConfig = 'runtime-endpoint: unix:///run/containerd/containerd.sock\n'

// What belongs to one machine, or to the bed it was made in.
const personal = [
  ...['etc/machine-id', 'etc/hostname', 'etc/hosts', 'etc/apt/apt.conf.d/91bed-proxy', 'etc/apt/sources.list.d'],
  ...['var/lib/apt/lists', 'var/cache/apt', 'var/log', 'var/lib/systemd', 'root', 'tmp', 'run'],
]

/** Where the bed serves the packages; the machines' apt is told by `trustPackages`. */
export async function servePackages(bed: Bed, release: string): Promise<void> {
  for (const version of releasesFrom(release)) {
    bed.repositories.serve(minorPath(version), await kubernetesRepository(version))
  }
  bed.repositories.serve('containerd', await containerdRepository())
}

/** The repository of that release's minor, and that of containerd; apt knows their lists then. */
export async function trustPackages(bed: Bed, machine: Machine, release: string): Promise<void> {
  await bed.trust(machine, 'kubernetes', `${bed.repositories.url}/${minorPath(release)}/`)
  await bed.trust(machine, 'containerd', `${bed.repositories.url}/containerd/`)
  await machine.run(['apt-get', 'update', '-qq'])
}

export async function nodeTemplate(bed: Bed, release: string): Promise<NodeTemplate> {
  const base = await baseRoot()
  await servePackages(bed, release)
  const asset = `node-${release}-${kubernetesVersion}-${recipe}-${basename(base)}`
  const folder = await cachedFolder(asset, async (fresh) => {
    const machine = await bed.machine()
    await install(bed, machine, release)
    await importImages(machine, base, release)
    await machine.powerOff()
    await runProgram('mv', [join(machine.folder, 'containerd'), join(fresh, 'containerd')])
    await mkdir(join(machine.folder, 'containerd'))
    await runProgram('cp', ['-a', join(machine.folder, 'upper'), join(fresh, 'layer')])
    for (const path of personal) await rm(join(fresh, 'layer', path), { recursive: true, force: true })
    await machine.destroy()
  })
  return { layers: [join(folder, 'layer'), base], containerd: join(folder, 'containerd') }
}

async function install(bed: Bed, machine: Machine, release: string): Promise<void> {
  await trustPackages(bed, machine, release)
  await machine.writeFile('/etc/containerd/config.toml', containerdConfig(cniFolder))
  await machine.writeFile('/etc/crictl.yaml', crictlConfig)
  const kubernetes = heldPackages.map((name) => `${name}=${debVersion(release)}`)
  const runtime = `containerd.io=${olderContainerdVersion.slice(1)}-1`
  const options = ['-y', '-qq', '--no-install-recommends']
  await machine.run(['apt-get', 'install', ...options, runtime, ...kubernetes, 'cri-tools'])
  await machine.run(['apt-mark', 'hold', ...heldPackages])
  await machine.run(['systemctl', 'start', 'containerd'])
}

/** Of all releases it may come to: in a real cluster a registry has them, and an upgrade rolls its add-ons out on every node at once. */
async function importImages(machine: Machine, base: string, release: string): Promise<void> {
  const folder = await mkdtemp('/var/tmp/slipway-images-')
  try {
    for (const file of await writeImages({ folder, base }, releasesFrom(release))) await importImage(machine, file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** An archive as docker and OCI tools write it, into the machine's containerd, where the kubelet looks. */
export async function importImage(machine: Machine, file: string): Promise<void> {
  await machine.run(['ctr', '-n', 'k8s.io', 'images', 'import', '-'], { input: { file } })
}
