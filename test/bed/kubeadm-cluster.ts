/**
 * A cluster made by kubeadm on machines of the bed, as its guide has it; no CoreDNS.
 *
 *   const cluster = await raiseCluster(bed, { controlPlanes: 1, workers: 2 })       // v1.35.4, node1 … node3, all Ready
 *   cluster.kubeconfigPath                                                         // of the administrator, for this process
 *   await cluster.kubectl(['get', 'nodes'])                                        // standard output; throws unless 0
 *   await cluster.importImage('/path/of/archive.tar')                              // into every node's containerd
 *   await cluster.etcdctl(['endpoint', 'health'])                                  // { code, stdout, stderr }
 *
 * The API is reached through a balancer on the bridge. The images of its release and the later ones are on every node; the repositories
 * of their minors are served, and apt on the nodes knows that of the cluster's own release.
 */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { startApiBalancer } from './api-balancer.ts'
import type { Bed } from './bed.ts'
import { machineAddress } from './bed-network.ts'
import { type EtcdClient, etcdClient } from './etcd-client.ts'
import { execute } from './execute.ts'
import { apiEndpoint, certificateKey, ignoredChecks, initConfig, joinToken, podNetwork } from './kubeadm-config.ts'
import type { Machine } from './machine.ts'
import { importImage, nodeTemplate, trustPackages } from './node-template.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { kubernetesVersion, olderKubernetesVersion } from './versions.ts'

export interface ClusterOptions {
  readonly controlPlanes: number
  readonly workers: number
  /** The older one if not said. */
  readonly release?: string
  /** A machine with containerd and the programs of that release, known to no cluster yet; one of packages if not said. */
  readonly makeNode?: () => Promise<Machine>
}

export interface NodeStatus {
  readonly name: string
  readonly isReady: boolean
  readonly kubeletVersion: string
}

export interface KubeadmCluster {
  readonly nodes: readonly Machine[]
  readonly controlPlanes: readonly Machine[]
  readonly workers: readonly Machine[]
  readonly kubeconfigPath: string
  kubectl(args: readonly string[], input?: string): Promise<string>
  nodeStatuses(): Promise<readonly NodeStatus[]>
  importImage(archive: string): Promise<void>
  /** etcdctl, asking every control plane unless told which. */
  readonly etcdctl: EtcdClient
}

const nodeList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z.object({
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).default([]),
        nodeInfo: z.object({ kubeletVersion: z.string() }),
      }),
    }),
  ),
})
const readyWithinMs = 180_000

export async function raiseCluster(bed: Bed, options: ClusterOptions): Promise<KubeadmCluster> {
  const release = options.release ?? olderKubernetesVersion
  if (bed.machines.length > 0) throw new Error('a cluster starts at node1: the bed must have no machines yet')
  const makeNode = options.makeNode ?? (await packageNodes(bed, release))
  const addresses = Array.from({ length: options.controlPlanes }, (_, index) => machineAddress(bed.slot, index + 1))
  const balancer = await startApiBalancer(bed.address, addresses)
  bed.atClose(() => balancer.stop())
  const count = options.controlPlanes + options.workers
  const nodes = await Promise.all(Array.from({ length: count }, makeNode))
  nodes.sort((one, other) => one.number - other.number)
  await Promise.all(nodes.map(prepare))

  const [first, ...others] = nodes
  if (first === undefined) throw new Error('a cluster has at least one control plane')
  await first.writeFile('/etc/kubernetes/kubeadm.yaml', initConfig(bed.slot, release), 0o600)
  await first.run([
    ...['kubeadm', 'init', '--config', '/etc/kubernetes/kubeadm.yaml', '--upload-certs'],
    `--ignore-preflight-errors=${ignoredChecks}`,
  ])
  const kubeconfigPath = join(bed.slot.folder, 'admin.conf')
  await writeFile(kubeconfigPath, await first.readFile('/etc/kubernetes/admin.conf'), { mode: 0o600 })
  const controlPlanes = nodes.slice(0, options.controlPlanes)
  const workers = nodes.slice(options.controlPlanes)
  // One after the other: each is a new member of etcd.
  for (const node of others.filter((other) => controlPlanes.includes(other))) await joinCluster(bed, node, true)
  await Promise.all(workers.map((node) => joinCluster(bed, node, false)))

  const set = { project: 'kubernetes', version: kubernetesVersion, programs: ['kubectl'] } as const
  const program = join(await programFolder(set, sayToStderr), 'kubectl')
  const kubectl = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await execute([program, `--kubeconfig=${kubeconfigPath}`, ...args], { input })
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`)
    return stdout
  }
  const nodeStatuses = async () => readStatuses(await kubectl(['get', 'nodes', '-o', 'json']))
  await untilAllReady(nodeStatuses, count)
  return {
    nodes,
    controlPlanes,
    workers,
    kubeconfigPath,
    kubectl,
    nodeStatuses,
    etcdctl: await etcdClient(controlPlanes, join(bed.slot.folder, 'etcd')),
    importImage: async (archive) => {
      await Promise.all(nodes.map((node) => importImage(node, archive)))
    },
  }
}

async function packageNodes(bed: Bed, release: string): Promise<() => Promise<Machine>> {
  const template = await nodeTemplate(bed, release)
  return async () => {
    const node = await bed.machine(template)
    await trustPackages(bed, node, release)
    return node
  }
}

async function prepare(node: Machine): Promise<void> {
  await node.writeFile('/etc/cni/net.d/10-bed.conflist', podNetwork(node.number))
  await node.writeFile('/etc/default/kubelet', `KUBELET_EXTRA_ARGS=--node-ip=${node.address}\n`)
}

async function joinCluster(bed: Bed, node: Machine, asControlPlane: boolean): Promise<void> {
  const controlPlane = ['--control-plane', '--certificate-key', certificateKey]
  await node.run([
    ...[
      'kubeadm',
      'join',
      apiEndpoint(bed.slot),
      '--token',
      joinToken,
      '--discovery-token-unsafe-skip-ca-verification',
    ],
    `--ignore-preflight-errors=${ignoredChecks}`,
    ...(asControlPlane ? [...controlPlane, '--apiserver-advertise-address', node.address] : []),
  ])
}

function readStatuses(json: string): readonly NodeStatus[] {
  return nodeList.parse(JSON.parse(json)).items.map(({ metadata, status }) => ({
    name: metadata.name,
    isReady: status.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    kubeletVersion: status.nodeInfo.kubeletVersion,
  }))
}

async function untilAllReady(nodeStatuses: () => Promise<readonly NodeStatus[]>, count: number): Promise<void> {
  const endMs = performance.now() + readyWithinMs
  for (;;) {
    const statuses = await nodeStatuses()
    const ready = statuses.filter(({ isReady }) => isReady)
    if (ready.length === count) return
    if (performance.now() > endMs) {
      const names = ready.map(({ name }) => name).join(', ')
      throw new Error(`${count} nodes should be Ready within ${readyWithinMs} ms, these are: ${names}`)
    }
    await wait(500)
  }
}
