// The container runtimes we know: by which socket the kubelet reaches them, what they are packaged as, what runs them.

export interface ContainerRuntime {
  readonly name: 'containerd' | 'cri-o' | 'docker' | 'iSulad'
  /** How the path of its CRI socket ends. */
  readonly sockets: readonly string[]
  /** One of these is the runtime itself; which, depends on the distribution and on where the package comes from. */
  readonly packages: readonly string[]
  /** Upgraded along where they are installed. */
  readonly companions: readonly string[]
  /** Restarted together, where they are there. */
  readonly units: readonly string[]
  /** The unit whose main process is `program`. */
  readonly unit: string
  readonly program: string
}

/** What people call, and no pod needs. */
const clients: readonly string[] = ['docker-ce-cli', 'docker-cli', 'moby-cli']

export const containerRuntimes: readonly ContainerRuntime[] = [
  {
    name: 'containerd',
    sockets: ['/containerd.sock'],
    packages: ['containerd.io', 'containerd', 'moby-containerd'],
    companions: [],
    units: ['containerd.service'],
    unit: 'containerd.service',
    program: 'containerd',
  },
  {
    name: 'cri-o',
    sockets: ['/crio.sock'],
    packages: ['cri-o'],
    companions: [],
    units: ['crio.service'],
    unit: 'crio.service',
    program: 'crio',
  },
  {
    name: 'docker',
    sockets: ['/cri-dockerd.sock', '/dockershim.sock'],
    packages: ['docker-ce', 'moby-engine', 'docker.io', 'docker-engine'],
    companions: [...clients, 'containerd.io', 'containerd', 'moby-containerd', 'cri-dockerd'],
    units: ['containerd.service', 'docker.service', 'cri-docker.service'],
    unit: 'docker.service',
    program: 'dockerd',
  },
  {
    name: 'iSulad',
    sockets: ['/isulad.sock'],
    packages: ['iSulad'],
    companions: [],
    units: ['isulad.service'],
    unit: 'isulad.service',
    program: 'isulad',
  },
]

/** All that may be upgraded with the runtime of a host, whichever it has. */
const runtimePackages: ReadonlySet<string> = new Set(containerRuntimes.flatMap(upgradedTogether))

/** Those of them that pods run under. */
export const runtimeDaemons: readonly string[] = [...runtimePackages].filter((name) => !clients.includes(name))

/** What starts the containers for a runtime. It comes with the operating system, and is upgraded with that. */
export const containerStarters: readonly string[] = ['runc', 'crun', 'moby-runc']

/** What may be upgraded where the kubelet reports `containerd://2.2.9`: of any, where it tells of none that we know. */
export function packagesAlong(reported: string | undefined): ReadonlySet<string> {
  const name = reported?.split('://')[0]?.toLowerCase()
  const runtime = containerRuntimes.find((one) => one.name.toLowerCase() === name)
  return runtime ? new Set(upgradedTogether(runtime)) : runtimePackages
}

function upgradedTogether({ packages, companions }: ContainerRuntime): readonly string[] {
  return [...packages, ...companions]
}

/** The runtime behind the kubelet's endpoint, `unix:///run/containerd/containerd.sock`; undefined for one we do not know. */
export function runtimeAt(endpoint: string): ContainerRuntime | undefined {
  // k3s and RKE2 bring a containerd of their own, which comes with their file.
  if (/\/(k3s|rke2|k0s)\//.test(endpoint)) return undefined
  return containerRuntimes.find(({ sockets }) => sockets.some((socket) => endpoint.endsWith(socket)))
}
