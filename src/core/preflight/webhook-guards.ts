import type { LabelSelector } from '../../api/kube.ts'
import type { Webhook } from '../../api/kube-admission.ts'

interface Deed {
  readonly group: string
  readonly resource: string
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly said: string
}

/** What we or the cluster must be able to do while an update runs. */
const deeds: readonly Deed[] = [
  { group: '', resource: 'pods', operation: 'CREATE', said: 'creating pods' },
  { group: '', resource: 'pods/binding', operation: 'CREATE', said: 'scheduling pods' },
  { group: '', resource: 'pods/eviction', operation: 'CREATE', said: 'evicting pods' },
  // An eviction that was let through ends in the kubelet's own delete; where that is refused, the pod hangs in Terminating.
  { group: '', resource: 'pods', operation: 'DELETE', said: 'deleting pods' },
  { group: '', resource: 'nodes', operation: 'UPDATE', said: 'cordoning nodes' },
  { group: '', resource: 'nodes/status', operation: 'UPDATE', said: 'kubelets’ reports' },
  { group: 'coordination.k8s.io', resource: 'leases', operation: 'UPDATE', said: 'heartbeats' },
  { group: 'slipway.dev', resource: 'nodestates', operation: 'UPDATE', said: 'work orders' },
  { group: 'slipway.dev', resource: 'nodestates/status', operation: 'UPDATE', said: 'agents’ reports' },
  { group: 'slipway.dev', resource: 'maintenancepolicies/status', operation: 'UPDATE', said: 'the ledger' },
]

/** The deeds this webhook is asked about; empty where it lets pass what it cannot be asked about. */
export function guardedBy({ failurePolicy = 'Fail', rules = [] }: Webhook): readonly string[] {
  if (failurePolicy === 'Ignore') return []
  const asked = deeds.filter(({ group, resource, operation }) =>
    rules.some(
      ({ apiGroups = [], resources = [], operations = [] }) =>
        has(apiGroups, group) && has(operations, operation) && resources.some((pattern) => covers(pattern, resource)),
    ),
  )
  return asked.map(({ said }) => said)
}

/** Whether it looks at some objects only; which, is not known beforehand. */
export function isNarrowed({ objectSelector, matchConditions = [] }: Webhook): boolean {
  return matchConditions.length > 0 || !isEmpty(objectSelector)
}

function isEmpty(selector: LabelSelector = {}): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}

function has(list: readonly string[], entry: string): boolean {
  return list.includes('*') || list.includes(entry)
}

// A star alone stands for all resources, but for no sub-resource.
function covers(pattern: string, resource: string): boolean {
  const [kind = '', sub] = resource.split('/')
  const [wantedKind = '', wantedSub] = pattern.split('/')
  if (wantedKind !== '*' && wantedKind !== kind) return false
  if (wantedSub === '*') return true
  return wantedSub === sub
}
