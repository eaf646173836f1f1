// What kubeadm is told for a cluster in the bed, and for its kubelets and proxies.

import { hostAddress, machineAddress, podSubnet } from './bed-network.ts'
import type { BedSlot } from './bed-slot.ts'
import { imageRegistry } from './kubernetes-images.ts'

/** Nothing to hide: the cluster lives for minutes on a network of its own. */
export const joinToken = 'bedbed.0123456789abcdef'
export const certificateKey = '0123456789abcdef'.repeat(4)

/** Of a machine that shares its host's kernel, and of a cluster without CoreDNS. */
export const ignoredChecks = [
  'SystemVerification',
  'Mem',
  'NumCPU',
  'Hostname',
  'Swap',
  'CoreDNSUnsupportedPlugins',
  'CoreDNSMigration',
].join(',')

export function apiEndpoint(slot: BedSlot): string {
  return `${hostAddress(slot)}:6443`
}

/** JSON is YAML. */
export function initConfig(slot: BedSlot, release: string): string {
  const documents = [
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'InitConfiguration',
      localAPIEndpoint: { advertiseAddress: machineAddress(slot, 1) },
      nodeRegistration: {
        name: 'node1',
        criSocket: 'unix:///run/containerd/containerd.sock',
        imagePullPolicy: 'IfNotPresent',
      },
      certificateKey,
      bootstrapTokens: [{ token: joinToken, ttl: '24h0m0s' }],
    },
    {
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      kubernetesVersion: release,
      clusterName: 'bed',
      controlPlaneEndpoint: apiEndpoint(slot),
      imageRepository: imageRegistry,
      networking: { podSubnet: '10.88.0.0/16', serviceSubnet: '10.96.0.0/16' },
      dns: { disabled: true },
      controllerManager: {
        extraArgs: [
          { name: 'node-monitor-grace-period', value: '20s' },
          { name: 'allocate-node-cidrs', value: 'false' },
        ],
      },
    },
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'cgroupfs',
      failCgroupV1: false,
      failSwapOn: false,
      nodeStatusUpdateFrequency: '4s',
      // The disk is the host's and may be full by its own measure.
      imageGCHighThresholdPercent: 100,
      evictionHard: {
        'nodefs.available': '1%',
        'imagefs.available': '1%',
        'nodefs.inodesFree': '1%',
        'memory.available': '50Mi',
      },
    },
    {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      // The kernel's limits are not the machine's to set.
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
    },
  ]
  return documents.map((document) => JSON.stringify(document)).join('\n---\n')
}

/** The pod network: a bridge on each machine; the routes between them are the bed's. */
export function podNetwork(number: number): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'bed',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: podSubnet(number) }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  })
}
