// Versions, out of what programs and manifests say of themselves.

/** `Kubernetes v1.36.3` */
export function kubeletVersion(output: string): string | undefined {
  return /^Kubernetes (v[0-9]\S*)/.exec(output)?.[1]
}

/** The tag of the first container's image in a static pod's manifest, with or without a digest behind it. */
export function manifestImageTag(manifest: string): string | undefined {
  return /^\s*(?:- )?image:\s*["']?[^\s"'@]+:([\w][\w.-]*)(?:@\S+)?["']?\s*$/m.exec(manifest)?.[1]
}

/** `etcd Version: 3.6.4` */
export function etcdVersion(output: string): string | undefined {
  return /^etcd Version: (\S+)/m.exec(output)?.[1]
}

export interface RuntimeProgram {
  /** As the facts name it. */
  readonly name: string
  readonly argv: readonly string[]
  /** A part of the name of its socket, by which a kubelet is told to use it. */
  readonly socket: string
}

export const runtimePrograms: readonly RuntimeProgram[] = [
  { name: 'containerd', argv: ['containerd', '--version'], socket: 'containerd' },
  { name: 'cri-o', argv: ['crio', '--version'], socket: 'crio' },
  { name: 'docker', argv: ['docker', '--version'], socket: 'cri-dockerd' },
  { name: 'isulad', argv: ['isulad', '--version'], socket: 'isulad' },
]

/** containerd says `containerd URL v2.2.9 COMMIT`, the others `… version 1.33.0…`. */
export function runtimeVersion(output: string): string | undefined {
  return /(?:^|[\s,])v?([0-9]+\.[0-9]+\.[0-9]+[\w.+~-]*)/m.exec(output)?.[1]?.replace(/[,;]$/, '')
}

/** The runtime a kubelet was told to use, in its flags or its configuration. */
export function chosenRuntime(settings: string): RuntimeProgram | undefined {
  const endpoint = /(?:--container-runtime-endpoint[= ]|containerRuntimeEndpoint:\s*)["']?([^\s"']+)/.exec(
    settings,
  )?.[1]
  return runtimePrograms.find(({ socket }) => endpoint?.includes(socket))
}
