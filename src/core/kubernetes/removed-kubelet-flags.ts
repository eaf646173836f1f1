// Command-line flags a kubelet no longer knows: with one of them it does not start. Read from cmd/kubelet/app/options of each
// release; the pull requests are the ones its changelog names.

export interface RemovedFlag {
  /** Without the dashes. */
  readonly name: string
  /** The minor version of Kubernetes 1 that no longer knows it. */
  readonly minor: number
  /** A switch stands alone; what follows any other flag may be its value. */
  readonly kind: 'switch' | 'value'
  readonly source: string
}

const pull = (number: number) => `kubernetes/kubernetes#${number}`
const removed =
  (minor: number, number: number, kind: RemovedFlag['kind'] = 'value') =>
  (name: string): RemovedFlag => ({ name, minor, kind, source: pull(number) })

export const removedKubeletFlags: readonly RemovedFlag[] = [
  ...[
    'cni-bin-dir',
    'cni-cache-dir',
    'cni-conf-dir',
    'docker-endpoint',
    'experimental-dockershim-root-directory',
    'image-pull-progress-deadline',
    'network-plugin',
    'network-plugin-mtu',
  ].map(removed(24, 106907)),
  removed(24, 106932)('dynamic-config-dir'),
  removed(24, 107096)('non-masquerade-cidr'),
  removed(24, 104732, 'switch')('experimental-check-node-capabilities-before-mount'),
  removed(25, 109388, 'switch')('experimental-kernel-memcg-notification'),
  removed(27, 114017)('container-runtime'),
  removed(27, 116015)('master-service-namespace'),
  removed(31, 122082, 'switch')('keep-terminated-pod-volumes'),
  ...['iptables-drop-bit', 'iptables-masquerade-bit'].map(removed(31, 122363)),
  removed(34, 130161)('cloud-config'),
  removed(34, 122384, 'switch')('register-schedulable'),
  removed(35, 133779)('pod-infra-container-image'),
]
