// The least rights that do for the operator: what it does not need is not here. To list and to watch the same thing are two
// rights: API servers without streaming lists are asked for both.

import { definitionName, foreignKinds } from '../../api/foreign-kinds.ts'
import { kindsThatGo } from '../../core/preflight/removed-apis.ts'
import { ourKinds } from '../our-kinds.ts'
import { ourGroup, page, type Right, right, rightOver } from './right.ts'

/** Over the whole cluster. */
export const operatorClusterRights: readonly Right[] = [
  right(
    '',
    ['nodes'],
    { list: 'gates', watch: 'gates', patch: 'gates' },
    'sees which nodes are there, Ready and cordoned; cordons and uncordons by patch',
  ),
  right(
    '',
    ['pods'],
    { list: 'gates', watch: 'gates' },
    'sees which pods are left on a node that is being drained; reckons before an update whether they fit elsewhere',
  ),
  right(
    '',
    ['pods/eviction'],
    { create: 'drain' },
    'pods go by eviction only, so that the API server honours their budgets',
  ),
  right(
    'policy',
    ['poddisruptionbudgets'],
    { list: 'drain', watch: 'drain' },
    'asks for an eviction only when the budget allows it, and names the budget that does not',
  ),
  right(
    'admissionregistration.k8s.io',
    ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
    { list: 'preflight' },
    'sees before an update which admission webhooks would stand in its way',
  ),
  right(
    'discovery.k8s.io',
    ['endpointslices'],
    { list: 'preflight' },
    'sees whether such a webhook has anybody to answer, and where',
  ),
  ...[...kindsThatGo()].map(([group, kinds]) =>
    right(
      group,
      kinds,
      { list: 'preflight' },
      'finds before an update objects that are kept through an API that the target version does not serve any more',
    ),
  ),
  page(
    '/metrics',
    'preflight',
    'reads which deprecated APIs were asked for, before an update to a version without them',
  ),
  right(
    '',
    ['pods'],
    { delete: 'drain' },
    'deletes a pod in spite of its budget only where the drain settings say Force; that is on record and an Event',
  ),
  right(
    'storage.k8s.io',
    ['volumeattachments'],
    { list: 'gates', watch: 'gates' },
    'waits until the volumes of the pods that left a node are detached',
  ),
  right(
    '',
    ['persistentvolumeclaims'],
    { get: 'drain' },
    'tells volumes of pods that stay on a node from those of pods that left',
  ),
  right(
    ourGroup,
    ['directupdates'],
    { list: 'schedules', watch: 'schedules', patch: 'schedules', create: 'schedules', delete: 'housekeeper' },
    'reads what is wanted, sets its finalizer; makes what schedules ask for, and removes what they no longer keep',
  ),
  right(
    ourGroup,
    ['scheduledupdates', 'updateschedules'],
    { list: 'schedules', watch: 'schedules' },
    'reads when updates are to be made',
  ),
  right(
    ourGroup,
    ['scheduledupdates/status', 'updateschedules/status'],
    { patch: 'schedules' },
    'says what was made, what was missed and when the next is due',
  ),
  right(
    ourGroup,
    ['nodeprofiles'],
    { list: 'secrets', watch: 'secrets', patch: 'secrets' },
    'reads what hosts should have; its finalizer is set by patch, so that removal takes back what was added',
  ),
  right(
    ourGroup,
    ['maintenancepolicies'],
    { get: 'gates', list: 'gates', watch: 'gates', create: 'gates' },
    'reads budgets and defaults; makes the policy where there is none: the ledger stands on it',
  ),
  right(
    ourGroup,
    ['nodestates'],
    { list: 'deletion', watch: 'deletion', create: 'deletion', patch: 'deletion', delete: 'deletion' },
    'one a node: writes the work order there, and removes what belongs to a node that is gone',
  ),
  right(
    ourGroup,
    ['directupdates/status', 'maintenancepolicies/status', 'nodeprofiles/status', 'nodestates/status'],
    { patch: 'secrets' },
    'tells progress, books slots in the ledger, remembers where each node stands',
  ),
  rightOver(
    foreignKinds.map(definitionName),
    'apiextensions.k8s.io',
    ['customresourcedefinitions'],
    { list: 'gates', watch: 'gates' },
    'sees whether kinds of other systems that it can carry out are installed; these definitions and no other',
  ),
  rightOver(
    ourKinds.map(({ plural }) => `${plural}.${ourGroup}`),
    'apiextensions.k8s.io',
    ['customresourcedefinitions'],
    { get: 'gates' },
    'does not start where the definitions of its own kinds are older than it is',
  ),
]

/** In the operator's own namespace. */
export const operatorNamespaceRights: readonly Right[] = [
  right(
    'coordination.k8s.io',
    ['leases'],
    { get: 'preflight', list: 'gates', watch: 'gates', create: 'gates', update: 'gates' },
    'two replicas agree by a Lease on who acts',
  ),
  right(
    '',
    ['configmaps'],
    { get: 'gates', list: 'gates', create: 'gates', patch: 'gates', delete: 'schedules' },
    'makes the immutable copy of a script or desired state that the agents fetch, ties it to its owner, and removes it when no node uses it any more',
  ),
  right(
    '',
    ['secrets'],
    { get: 'gates' },
    'reads the Secrets that files of NodeProfiles name, to seal them to the key of each host, those of backup stores, their encryption and an etcd of its own, tokens of gates and of Alertmanagers, addresses and signing keys of receivers, and passwords of registries; it cannot list them',
  ),
  right('batch', ['cronjobs'], { get: 'gates' }, 'reads the template of a Job that a gate or hook names'),
  right(
    'batch',
    ['jobs'],
    { list: 'gates', watch: 'gates', create: 'gates' },
    'runs the Jobs of gates and hooks, and sees how they end; it watches only those it made',
  ),
]

/** Where kubelets keep their heartbeat. */
export const nodeLeaseRights: readonly Right[] = [
  right(
    'coordination.k8s.io',
    ['leases'],
    { list: 'deletion', watch: 'deletion' },
    'a node counts as healthy again only when its kubelet renewed its Lease after the restart',
  ),
]

/** Where the cluster's own controllers elect a leader. */
export const controllerLeaseRights: readonly Right[] = [
  right(
    'coordination.k8s.io',
    ['leases'],
    { list: 'deletion', watch: 'deletion' },
    'after a control-plane node was restarted, waits for the kube-controller-manager to lead again before the next drain',
  ),
  rightOver(
    ['kubeadm-config'],
    '',
    ['configmaps'],
    { get: 'versions' },
    'learns where the cluster’s own images come from, to look there which versions of Kubernetes there are',
  ),
]

/** Where events about cluster-scoped objects live. */
export const eventRights: readonly Right[] = [
  right(
    'events.k8s.io',
    ['events'],
    { create: 'drain', patch: 'schedules' },
    'tells what happens to nodes and updates as Events',
  ),
]
