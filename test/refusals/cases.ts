// Wrong input, and what its author is told. zod (so the simulator) and the API server must refuse the same.

export interface RefusalCase {
  readonly what: string
  readonly kind:
    | 'DirectUpdate'
    | 'MaintenancePolicy'
    | 'NodeProfile'
    | 'NodeState'
    | 'ScheduledUpdate'
    | 'UpdateSchedule'
  readonly spec: unknown
  readonly field: string
  /** What both say. */
  readonly says?: string
  /** What only the API server says, where the words are its own. */
  readonly serverSays?: string
}

export const kubernetes = { version: 'v1.36.3' }
export const script = { configMap: 'rotate-disks', sha256: 'ab'.repeat(32) }

const duration = 'must be a duration such as 30m or 1h30m, above zero'
const share =
  'must be a number of nodes from 1 up, or a percentage from 1% to 100%; with 0 no node could ever be updated (to stop all work set spec.paused of MaintenancePolicy default)'
const wishedVersion = 'must be a full version such as v1.36.3, or 1.36.*, 1.37.0-rc.*, latest-patch or latest'
const expression = 'spec.nodeSelector.matchExpressions[0]'

function update(
  what: string,
  spec: object,
  field: string,
  words: string | { readonly serverSays: string },
): RefusalCase {
  const said = typeof words === 'string' ? { says: words } : words
  return { what, kind: 'DirectUpdate', spec, field, ...said }
}

function selecting(requirement: object): object {
  return { kubernetes, nodeSelector: { matchExpressions: [requirement] } }
}

export const refused: readonly RefusalCase[] = [
  update(
    'nothing to do',
    {},
    'spec',
    'names nothing to do: set kubernetes.version, os, profile, script, binary or reboot',
  ),
  update('no patch version', { kubernetes: { version: '1.36' } }, 'spec.kubernetes.version', wishedVersion),
  update('a word for a version', { kubernetes: { version: 'newest' } }, 'spec.kubernetes.version', wishedVersion),
  update('any minor version', { kubernetes: { version: '1.*' } }, 'spec.kubernetes.version', wishedVersion),
  update('any pre-release', { kubernetes: { version: '1.36.0-*' } }, 'spec.kubernetes.version', wishedVersion),
  update('a pattern in the middle', { kubernetes: { version: '1.*.3' } }, 'spec.kubernetes.version', wishedVersion),
  update(
    'another word for when workers go',
    { kubernetes: { version: '1.36.*', workers: 'Never' } },
    'spec.kubernetes.workers',
    { serverSays: 'supported values' },
  ),
  update('no version', { kubernetes: {} }, 'spec.kubernetes.version', { serverSays: 'Required value' }),
  update('none may be away', { kubernetes, strategy: { maxUnavailable: 0 } }, 'spec.strategy.maxUnavailable', share),
  update('fewer than none', { kubernetes, strategy: { maxUnavailable: -1 } }, 'spec.strategy.maxUnavailable', share),
  update('no per cent', { kubernetes, strategy: { maxUnavailable: '0%' } }, 'spec.strategy.maxUnavailable', share),
  update('more than all', { kubernetes, strategy: { maxUnavailable: '101%' } }, 'spec.strategy.maxUnavailable', share),
  update('a number as text', { kubernetes, strategy: { maxUnavailable: '3' } }, 'spec.strategy.maxUnavailable', share),
  update('half a node', { kubernetes, strategy: { maxUnavailable: 1.5 } }, 'spec.strategy.maxUnavailable', {
    serverSays: 'must be of type integer,string',
  }),
  update('fewer failures than none', { kubernetes, strategy: { maxFailures: -1 } }, 'spec.strategy.maxFailures', {
    serverSays: 'greater than or equal to 0',
  }),
  update(
    'waves that shrink',
    { kubernetes, strategy: { waves: [{ size: '50%' }, { size: '10%' }, { size: '100%' }] } },
    'spec.strategy.waves',
    'has a wave that is smaller than the one before',
  ),
  update(
    'counted waves that shrink',
    { kubernetes, strategy: { waves: [{ size: 10 }, { size: '20%' }, { size: 5 }, { size: '100%' }] } },
    'spec.strategy.waves',
    'has a wave that is smaller than the one before',
  ),
  update(
    'waves that leave nodes out',
    { kubernetes, strategy: { waves: [{ size: 1 }, { size: '50%' }] } },
    'spec.strategy.waves',
    'ends with a wave below 100%',
  ),
  update(
    'an approval after the last wave',
    { kubernetes, strategy: { waves: [{ size: '100%', promotion: 'Manual' }] } },
    'spec.strategy.waves',
    'asks for approval after its last wave',
  ),
  update(
    'a wave of none',
    { kubernetes, strategy: { waves: [{ size: 0 }, { size: '100%' }] } },
    'spec.strategy.waves[0].size',
    share,
  ),
  update('no waves', { kubernetes, strategy: { waves: [] } }, 'spec.strategy.waves', {
    serverSays: 'should have at least 1 items',
  }),
  update('an unknown strategy', { kubernetes, strategy: { type: 'BlueGreen' } }, 'spec.strategy.type', {
    serverSays: 'supported values: "Rolling", "Parallel", "Canary", "Batches"',
  }),
  update('an unknown wish', { kubernetes, desiredState: 'Stopped' }, 'spec.desiredState', {
    serverSays: 'supported values: "Running", "Paused", "Cancelled"',
  }),
  update('a retry without a token', { kubernetes, retry: {} }, 'spec.retry.token', { serverSays: 'Required value' }),
  update(
    'a node to skip that is no name',
    { kubernetes, skip: ['W 1'] },
    'spec.skip[0]',
    'must be the name of an object',
  ),
  update('no time for all of it', { kubernetes, operationTimeout: '0s' }, 'spec.operationTimeout', duration),
  update('words for a duration', { kubernetes, nodeTimeout: '30 minutes' }, 'spec.nodeTimeout', duration),
  update('a duration of nothing', { kubernetes, nodeTimeout: '0m' }, 'spec.nodeTimeout', duration),
  update('an empty duration', { kubernetes, nodeTimeout: '' }, 'spec.nodeTimeout', duration),
  update('a bare number', { kubernetes, nodeTimeout: 30 }, 'spec.nodeTimeout', {
    serverSays: 'must be of type string',
  }),
  update('days', { kubernetes, drain: { timeout: '1d' } }, 'spec.drain.timeout', duration),
  update('an unknown choice', { kubernetes, drain: { emptyDir: 'Maybe' } }, 'spec.drain.emptyDir', {
    serverSays: 'supported values: "Delete", "Block"',
  }),
  update('another time-out than there is', { kubernetes, drain: { onTimeout: 'Panic' } }, 'spec.drain.onTimeout', {
    serverSays: 'supported values: "Hold", "Abort", "Force"',
  }),
  update('a rule that does nothing', { kubernetes, drain: { rules: [{}] } }, 'spec.drain.rules[0].action', {
    serverSays: 'Required value',
  }),
  update(
    'a time for what takes none',
    { kubernetes, drain: { rules: [{ action: 'Evict', timeout: '5m' }] } },
    'spec.drain.rules[0]',
    'timeout belongs to the actions WaitForCompletion and Force',
  ),
  update(
    'a grace period for pods that stay',
    { kubernetes, drain: { rules: [{ action: 'Skip', gracePeriod: '5m' }] } },
    'spec.drain.rules[0]',
    'gracePeriod is of no use where pods are skipped',
  ),
  update(
    'a rule for a namespace that cannot be',
    { kubernetes, drain: { rules: [{ action: 'Skip', namespaces: ['Kube_System'] }] } },
    'spec.drain.rules[0].namespaces[0]',
    'must be the name of a namespace',
  ),
  update(
    'In without values',
    selecting({ key: 'pool', operator: 'In' }),
    expression,
    'operators In and NotIn need values: name at least one',
  ),
  update(
    'NotIn with an empty list',
    selecting({ key: 'pool', operator: 'NotIn', values: [] }),
    expression,
    'operators In and NotIn need values: name at least one',
  ),
  update(
    'Exists with values',
    selecting({ key: 'pool', operator: 'Exists', values: ['a'] }),
    expression,
    'operators Exists and DoesNotExist take no values: remove them',
  ),
  update(
    'an unknown operator',
    selecting({ key: 'pool', operator: 'Equals', values: ['a'] }),
    `${expression}.operator`,
    { serverSays: 'supported values: "In", "NotIn", "Exists", "DoesNotExist"' },
  ),
  update(
    'a key with a space',
    selecting({ key: 'po ol', operator: 'Exists' }),
    `${expression}.key`,
    'must be a label key such as pool',
  ),
  update(
    'a label key with a space',
    { kubernetes, nodeSelector: { matchLabels: { 'a b': 'c' } } },
    'spec.nodeSelector.matchLabels',
    'must be a label key such as pool',
  ),
  update(
    'a label value with a space',
    { kubernetes, nodeSelector: { matchLabels: { a: 'c d' } } },
    'spec.nodeSelector.matchLabels[a]',
    'must be a label value',
  ),
  update('labels without matchLabels', { kubernetes, nodeSelector: { pool: 'a' } }, 'spec.nodeSelector.pool', {
    serverSays: 'unknown field',
  }),
  update('a field nothing acts on', { kubernetes, nonsense: [] }, 'spec.nonsense', { serverSays: 'unknown field' }),
  update(
    'a bad name',
    { script: { ...script, configMap: 'Fix It' } },
    'spec.script.configMap',
    'must be the name of an object',
  ),
  update(
    'half a checksum',
    { script: { ...script, sha256: 'abc' } },
    'spec.script.sha256',
    'must be a SHA-256: 64 lower-case hexadecimal digits',
  ),
  update(
    'a checksum in capitals',
    { script: { ...script, sha256: 'AB'.repeat(32) } },
    'spec.script.sha256',
    'must be a SHA-256: 64 lower-case hexadecimal digits',
  ),
  {
    what: 'a budget of none',
    kind: 'MaintenancePolicy',
    spec: { budgets: [{ maxUnavailable: 0 }] },
    field: 'spec.budgets[0].maxUnavailable',
    says: share,
  },
  {
    what: 'a budget that allows nothing in each zone',
    kind: 'MaintenancePolicy',
    spec: { budgets: [{ per: 'topology.kubernetes.io/zone', maxUnavailable: '0%' }] },
    field: 'spec.budgets[0].maxUnavailable',
    says: share,
  },
  {
    what: 'a budget that allows nothing of some nodes',
    kind: 'MaintenancePolicy',
    spec: { budgets: [{ nodeSelector: { matchLabels: { pool: 'a' } }, maxUnavailable: 0 }] },
    field: 'spec.budgets[0].maxUnavailable',
    says: share,
  },
  {
    what: 'several owners of Kustodian’s lock',
    kind: 'MaintenancePolicy',
    spec: { locks: [{ type: 'Kustodian', daemonSet: { namespace: 'ops', name: 'kustodian' }, maxOwners: 2 }] },
    field: 'spec.locks[0]',
    says: 'maxOwners is for a lock of kured: Kustodian has one owner',
  },
  {
    what: 'a job from two places',
    kind: 'MaintenancePolicy',
    spec: {
      maintenance: { jobs: [{ name: 'a', configMap: 'a', url: 'https://example.com/a', sha256: 'a'.repeat(64) }] },
    },
    field: 'spec.maintenance.jobs[0]',
    says: 'names exactly one of configMap and url',
  },
  {
    what: 'a job from nowhere',
    kind: 'MaintenancePolicy',
    spec: { maintenance: { jobs: [{ name: 'a', sha256: 'a'.repeat(64) }] } },
    field: 'spec.maintenance.jobs[0]',
    says: 'names exactly one of configMap and url',
  },
  {
    what: 'two jobs of one name',
    kind: 'MaintenancePolicy',
    spec: {
      maintenance: {
        jobs: [
          { name: 'a', configMap: 'a', sha256: 'a'.repeat(64) },
          { name: 'a', configMap: 'b', sha256: 'b'.repeat(64) },
        ],
      },
    },
    field: 'spec.maintenance.jobs',
    says: 'has a job name twice',
  },
  {
    what: 'a sentinel that climbs out',
    kind: 'MaintenancePolicy',
    spec: { reboots: { sentinels: ['/var/../etc/passwd'] } },
    field: 'spec.reboots.sentinels[0]',
    says: 'must be an absolute path without .. segments',
  },
]

export const accepted: readonly { readonly what: string; readonly spec: object }[] = [
  { what: 'a version', spec: { kubernetes } },
  { what: 'a version without v and with a suffix', spec: { kubernetes: { version: '1.36.3-rc.1+vendor.2' } } },
  ...['1.36.*', 'v1.36.*+k3s1', '1.37.0-rc.*', 'latest-patch', 'latest'].map((version) => ({
    what: version,
    spec: { kubernetes: { version, workers: 'EachStep' } },
  })),
  { what: 'a script', spec: { script, strategy: { maxUnavailable: 3, maxFailures: 0 } } },
  {
    what: 'all of it',
    spec: {
      kubernetes,
      script,
      strategy: { maxUnavailable: '100%' },
      nodeTimeout: '1h30m',
      drain: {
        timeout: '90s',
        onTimeout: 'Force',
        podGracePeriod: '5m',
        unmanagedPods: 'Delete',
        emptyDir: 'Block',
        volumeTimeout: '5m',
        rules: [
          { selector: { matchLabels: { app: 'report' } }, action: 'WaitForCompletion', timeout: '2h' },
          { namespaces: ['shop'], action: 'Force', timeout: '10m', gracePeriod: '30s' },
        ],
      },
    },
  },
  { what: 'a canary', spec: { kubernetes, strategy: { type: 'Canary' } } },
  {
    what: 'waves of counts and percentages, and all that steers',
    spec: {
      kubernetes,
      strategy: {
        type: 'Canary',
        waves: [{ size: 1, soak: '15m', promotion: 'Manual' }, { size: '10%' }, { size: 50 }, { size: '100%' }],
      },
      skip: ['w17'],
      desiredState: 'Paused',
      onCancel: 'PutBack',
      retry: { token: '2', nodes: ['w3'] },
      approvals: [{ operationID: 'a/b', wave: 0, by: 'ana', at: '2026-01-01T00:00:00Z' }],
      operationTimeout: '4h',
    },
  },
  { what: 'a selector', spec: selecting({ key: 'topology.kubernetes.io/zone', operator: 'NotIn', values: ['a', ''] }) },
  {
    what: 'a selector by labels',
    spec: { kubernetes, nodeSelector: { matchLabels: { 'node-role.kubernetes.io/worker': '', pool: 'a_1.b' } } },
  },
]
