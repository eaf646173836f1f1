// APIs that a version of Kubernetes no longer serves, for looking at objects that are still kept through them. From v1.29 on:
// older clusters cannot be upgraded to a supported version in one step. Beta APIs that are off by default are not here;
// where one is used, the API server's own metric names it.

export interface RemovedApi {
  readonly apiVersion: string
  readonly kind: string
  readonly plural: string
  /** The minor version of Kubernetes 1 without it. */
  readonly minor: number
  readonly source: string
}

const guide = 'https://kubernetes.io/docs/reference/using-api/deprecation-guide/'
const flowControl = (version: string, minor: number): readonly RemovedApi[] => [
  { apiVersion: version, kind: 'FlowSchema', plural: 'flowschemas', minor, source: `${guide}#v1-${minor}` },
  {
    apiVersion: version,
    kind: 'PriorityLevelConfiguration',
    plural: 'prioritylevelconfigurations',
    minor,
    source: `${guide}#v1-${minor}`,
  },
]

export const removedApis: readonly RemovedApi[] = [
  ...flowControl('flowcontrol.apiserver.k8s.io/v1beta2', 29),
  ...flowControl('flowcontrol.apiserver.k8s.io/v1beta3', 32),
]

/** Those that go between the version that answers now and the target. */
export function apisThatGo(
  serverMinor: number,
  targetMinor: number,
  apis: readonly RemovedApi[] = removedApis,
): readonly RemovedApi[] {
  return apis.filter(({ minor }) => minor > serverMinor && minor <= targetMinor)
}
