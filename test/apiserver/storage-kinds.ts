// Objects as Rook, Longhorn and CloudNativePG write them, cut down to what their recipes read. The shapes are those of
// rook/rook pkg/apis/ceph.rook.io/v1/types.go (ClusterStatus, CephStatus), longhorn/longhorn-manager
// k8s/pkg/apis/longhorn/v1beta2/volume.go (VolumeStatus) and cloudnative-pg/cloudnative-pg api/v1/cluster_types.go.

interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

const ceph: Kind = { group: 'ceph.rook.io', version: 'v1', kind: 'CephCluster', plural: 'cephclusters' }
const longhorn: Kind = { group: 'longhorn.io', version: 'v1beta2', kind: 'Volume', plural: 'volumes' }
const postgres: Kind = { group: 'postgresql.cnpg.io', version: 'v1', kind: 'Cluster', plural: 'clusters' }

/** Without a status sub-resource, so that the test can write it as the real operator would. */
function definition({ group, version, kind, plural }: Kind) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}

const object = ({ group, version, kind }: Kind, namespace: string, name: string, rest: object) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: { name, namespace },
  ...rest,
})
const role = ({ group, plural }: Kind) => ({
  metadata: { labels: { 'slipway.dev/aggregate-to-gates': 'true' } },
  rules: [{ apiGroups: [group], resources: [plural], verbs: ['get', 'list', 'watch'] }],
})

const cephWith = (health: string) =>
  object(ceph, 'rook-ceph', 'rook-ceph', {
    status: {
      phase: 'Ready',
      state: 'Created',
      message: 'Cluster created successfully',
      ceph: { health, lastChecked: '2026-01-01T12:00:00Z', previousHealth: 'HEALTH_WARN', details: {} },
      conditions: [{ type: 'Ready', status: 'True', reason: 'ClusterCreated' }],
    },
  })
const volumeWith = (state: string, robustness: string) =>
  object(longhorn, 'longhorn-system', 'pvc-1', {
    status: { state, robustness, currentNodeID: 'w1', ownerID: 'w1', frontendDisabled: false },
  })
const clusterWith = (readyInstances: number, phase: string) =>
  object(postgres, 'shop', 'orders', {
    spec: { instances: 3 },
    status: {
      instances: 3,
      readyInstances,
      phase,
      currentPrimary: 'orders-1',
      targetPrimary: 'orders-1',
      conditions: [{ type: 'Ready', status: readyInstances === 3 ? 'True' : 'False' }],
    },
  })

export const storageKinds = [
  {
    recipe: 'Ceph (Rook)',
    definition: definition(ceph),
    role: role(ceph),
    sick: cephWith('HEALTH_WARN'),
    healthy: cephWith('HEALTH_OK'),
    words: /gate ceph: is false/,
  },
  {
    recipe: 'Longhorn',
    definition: definition(longhorn),
    role: role(longhorn),
    sick: volumeWith('attached', 'degraded'),
    healthy: volumeWith('attached', 'healthy'),
    words: /gate longhorn: is false/,
  },
  {
    recipe: 'CloudNativePG',
    definition: definition(postgres),
    role: role(postgres),
    sick: clusterWith(2, 'Waiting for the instances to become active'),
    healthy: clusterWith(3, 'Cluster in healthy state'),
    words: /gate postgres: is false/,
  },
]
