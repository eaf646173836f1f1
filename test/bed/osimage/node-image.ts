/**
 * Images of nodes: the bed's operating system with containerd, kubelet, kubeadm and kubectl of a release in /usr, and machines
 * that boot from them and are in no cluster yet.
 *
 *   const image = await makeNodeImage(registry, { version: '5.0', release: 'v1.35.4', files })
 *   const cluster = await raiseCluster(bed, { ..., makeNode: await imageNodes(bed, registry, image) })
 */

import { readFile } from 'node:fs/promises'
import { writableCgroups } from '../base-root.ts'
import type { Bed } from '../bed.ts'
import { cniFolder, nodeFiles } from '../kubernetes-packages.ts'
import type { Machine } from '../machine.ts'
import { containerdConfig, crictlConfig, nodeTemplate } from '../node-template.ts'
import { olderKubernetesVersion } from '../versions.ts'
import { bootImageMachine } from './image-machine.ts'
import { makeOsImage, type OsImageOptions, type PublishedImage } from './os-image.ts'
import type { Registry } from './registry.ts'

export interface NodeImageOptions extends Pick<OsImageOptions, 'version' | 'files'> {
  readonly release: string
}

type ImageFiles = NonNullable<OsImageOptions['files']>

const packages = ['runc', 'iptables', 'conntrack', 'ethtool', 'socat']
const units = 'usr/lib/systemd/system'
/** In an image /opt belongs to the machine. */
const pluginFolder = '/usr/libexec/cni'

export async function makeNodeImage(registry: Registry, options: NodeImageOptions): Promise<PublishedImage> {
  const { version, release, files } = options
  const own: Record<string, string | Buffer> = {
    [`${units}/multi-user.target.d/containerd.conf`]: '[Unit]\nWants=containerd.service\n',
    [`${units}/writable-cgroups.service`]: writableCgroups,
    [`${units}/sysinit.target.d/writable-cgroups.conf`]: '[Unit]\nWants=writable-cgroups.service\n',
    'usr/lib/sysctl.d/60-node.conf': 'net.ipv4.ip_forward = 1\n',
    // The controller manager mounts it and would make it, which it cannot below /usr.
    'usr/libexec/kubernetes/kubelet-plugins/volume/exec/.keep': '',
  }
  for (const { path, content } of await nodeFiles(release)) {
    const place = path.replace(cniFolder, pluginFolder).slice(1)
    if (place.startsWith('usr/')) own[place] = typeof content === 'string' ? content : await readFile(content.file)
  }
  return await makeOsImage(registry, { version, packages, files: { ...(own as ImageFiles), ...files } })
}

/** The images of the control plane are in each machine's containerd, for the releases from the older one on. */
export async function imageNodes(bed: Bed, registry: Registry, image: PublishedImage): Promise<() => Promise<Machine>> {
  const { containerd } = await nodeTemplate(bed, olderKubernetesVersion)
  return async () => {
    const machine = await bootImageMachine(bed, registry, { image, containerd })
    await machine.writeFile('/etc/containerd/config.toml', containerdConfig(pluginFolder))
    await machine.writeFile('/etc/crictl.yaml', crictlConfig)
    // The kubelet hands it to its pods.
    await machine.writeFile('/etc/resolv.conf', '')
    await machine.run(['systemctl', 'restart', 'containerd'])
    return machine
  }
}
