// APIs that a version of Kubernetes no longer serves, for looking at objects that are still kept through them. From v1.29 on:
// older clusters cannot be upgraded to a supported version in one step.

export interface RemovedApi {
  readonly apiVersion: string
  /** The version its objects are read through: asking for the one that goes would itself be a use of it. */
  readonly through: string
  readonly kind: string
  readonly plural: string
  readonly namespaced: boolean
  /** The minor version of Kubernetes 1 without it. */
  readonly minor: number
  readonly source: string
}

const guide = (minor: number) => `https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-${minor}`
/** Beta APIs carry their end in their own source, which the API server's metric repeats as removed_release. */
const lifecycle = (group: string, version: string) =>
  `https://github.com/kubernetes/api/blob/v0.36.3/${group.replace('.k8s.io', '')}/${version}/zz_generated.prerelease-lifecycle.go`

interface Row {
  readonly minor: number
  readonly group: string
  readonly version: string
  readonly newer: string
  readonly source: string
  readonly kinds: readonly string[]
  readonly namespaced?: boolean
}

const rows = ({ minor, group, version, newer, source, kinds, namespaced = false }: Row): readonly RemovedApi[] =>
  kinds.map((kind) => ({
    apiVersion: `${group}/${version}`,
    through: `${group}/${newer}`,
    kind,
    plural: `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`,
    ...{ namespaced, minor, source },
  }))

const beta = (minor: number, group: string, kinds: readonly string[], namespaced = false) =>
  rows({ minor, group, version: 'v1beta1', newer: 'v1', source: lifecycle(group, 'v1beta1'), kinds, namespaced })

const flow = { group: 'flowcontrol.apiserver.k8s.io', kinds: ['FlowSchema', 'PriorityLevelConfiguration'] }

export const removedApis: readonly RemovedApi[] = [
  ...rows({ ...flow, minor: 29, version: 'v1beta2', newer: 'v1beta3', source: guide(29) }),
  ...rows({ ...flow, minor: 32, version: 'v1beta3', newer: 'v1', source: guide(32) }),
  ...beta(37, 'networking.k8s.io', ['IPAddress', 'ServiceCIDR']),
  ...beta(37, 'storage.k8s.io', ['VolumeAttributesClass']),
  ...beta(38, 'resource.k8s.io', ['DeviceClass', 'ResourceSlice']),
  ...beta(38, 'resource.k8s.io', ['ResourceClaim', 'ResourceClaimTemplate'], true),
]

/** Those that go between the version that answers now and the target. */
export function apisThatGo(serverMinor: number, targetMinor: number): readonly RemovedApi[] {
  return removedApis.filter(({ minor }) => minor > serverMinor && minor <= targetMinor)
}

/** The kinds among them, by group: who looks at them needs the right to. */
export function kindsThatGo(): ReadonlyMap<string, readonly string[]> {
  const byGroup = new Map<string, string[]>()
  for (const { apiVersion, plural } of removedApis) {
    const group = apiVersion.slice(0, apiVersion.indexOf('/'))
    const known = byGroup.get(group) ?? []
    if (!known.includes(plural)) byGroup.set(group, [...known, plural])
  }
  return byGroup
}

/** Where it is written that `group/version plural` goes; unknown for APIs of others. */
export function sourceOf(api: string): string | undefined {
  return removedApis.find(({ apiVersion, plural }) => `${apiVersion} ${plural}` === api)?.source
}
