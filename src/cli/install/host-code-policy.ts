// Fields that mean root on every host they reach, or reach what root would: whoever writes them has a right for that very thing.

import { lastingFields } from '../../api/direct-update.ts'
import { updateKinds, updateVariables } from './approval-policy.ts'
import type { InstallSettings, Manifest } from './manifest.ts'
import { labelsOf, notTheOperator, operatorName } from './rights.ts'
import { isSame, mayUpdate, validatingPolicy } from './validating-policy.ts'

/** The sub-resource whose `update` is the right to run code on hosts. Nothing is ever written there. */
export const hostCodeRight = 'hostcode'

const needs = `' means root on hosts, or the cluster’s secrets: it needs the right to update directupdates/${hostCodeRight} (ClusterRole slipway-host-admin)'`

/** CEL: a list of names, of those fields that are there. */
const listed = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields)
    .map(([name, isThere]) => `(${isThere} ? ['${name}'] : [])`)
    .join(' + ')

/** Jobs run with whatever their templates allow; a token may be any Secret of the operator's namespace, sent to any address. */
const ofGates = (spec: string) => ({
  'the Job of a gate': `has(${spec}.gates) && ${spec}.gates.exists(g, has(g.cronJob))`,
  'the token of a gate': `has(${spec}.gates) && ${spec}.gates.exists(g, has(g.bearerToken))`,
})

const spec = 'variables.spec'
const ofUpdates = {
  script: `has(${spec}.script)`,
  binary: `has(${spec}.binary)`,
  'os.image': `has(${spec}.os) && has(${spec}.os.image)`,
  airGapped: `has(${spec}.airGapped)`,
  stamps: `has(${spec}.stamps)`,
  'kubernetes.kubeadm.patches': `has(${spec}.kubernetes) && has(${spec}.kubernetes.kubeadm) && has(${spec}.kubernetes.kubeadm.patches)`,
  'the Job of a hook': `has(${spec}.hooks) && ${spec}.hooks.exists(h, has(h.job) || (has(h.cleanup) && has(h.cleanup.job)))`,
  ...ofGates(spec),
}

/** While these stand, nothing else runs and nowhere else: whoever may steer the update may do so. */
const standing = [...lastingFields, 'hooks', 'gates', 'dryRun']

/** Where etcd is copied to, all Secrets are; registries are sent passwords and say what an image is. */
const policyFields = ['maintenance', 'backupStores', 'etcd', 'registries'] as const
/** As the token of a gate: any Secret of the operator's namespace could be sent, or signed with, to any address. */
const ofReceivers = {
  'the token of a silence': ['silences', 's', 'has(s.bearerToken)'],
  'the Secret of a notification': ['notifications', 'n', 'has(n.webhook.urlSecret) || has(n.webhook.signingSecret)'],
} as const
const changed = (field: string, before: string, after: string) =>
  `has(${after}.${field}) && !(${isSame(field, before, after)})`
const reboots = (object: string) => `has(${object}.reboots) ? ${object}.reboots : dyn({})`

export function hostCodePolicies(settings: InstallSettings): readonly Manifest[] {
  const frame = { labels: labelsOf(operatorName), concerns: notTheOperator(settings) }
  const demand = (unless: string) => ({
    expression: `${unless} || ${mayUpdate(hostCodeRight)}`,
    messageExpression: `variables.fields.join(', ') + ${needs}`,
    reason: 'Forbidden' as const,
  })
  return [
    ...validatingPolicy({
      ...frame,
      name: 'slipway-host-code',
      operations: ['CREATE', 'UPDATE'],
      resources: updateKinds,
      variables: {
        ...updateVariables,
        fields: listed(ofUpdates),
        stands: standing.map((field) => `(${isSame(field, 'variables.old', spec)})`).join(' && '),
      },
      validations: [demand(`size(variables.fields) == 0 || (request.operation == 'UPDATE' && variables.stands)`)],
    }),
    ...validatingPolicy({
      ...frame,
      name: 'slipway-host-code-of-policy',
      operations: ['CREATE', 'UPDATE'],
      resources: ['maintenancepolicies'],
      variables: {
        spec: 'object.spec',
        old: "request.operation == 'UPDATE' ? oldObject.spec : dyn({})",
        reboots: reboots(spec),
        rebootsBefore: reboots('variables.old'),
        gatesStand: isSame('gates', 'variables.old', spec),
        fields: listed({
          ...Object.fromEntries(policyFields.map((field) => [field, changed(field, 'variables.old', spec)])),
          'reboots.command': changed('command', 'variables.rebootsBefore', 'variables.reboots'),
          ...Object.fromEntries(
            Object.entries(ofGates(spec)).map(([name, isThere]) => [name, `!variables.gatesStand && ${isThere}`]),
          ),
          ...Object.fromEntries(
            Object.entries(ofReceivers).map(([name, [field, one, isThere]]) => [
              name,
              `${changed(field, 'variables.old', spec)} && ${spec}.${field}.exists(${one}, ${isThere})`,
            ]),
          ),
        }),
      },
      validations: [demand('size(variables.fields) == 0')],
    }),
    ...validatingPolicy({
      ...frame,
      name: 'slipway-work-orders',
      operations: ['CREATE', 'UPDATE'],
      resources: ['nodestates'],
      variables: {
        before: "request.operation == 'UPDATE' && has(oldObject.spec) ? oldObject.spec : dyn({})",
        after: 'has(object.spec) ? object.spec : dyn({})',
        fields: "['the spec of a NodeState']",
      },
      validations: [demand('variables.after == variables.before')],
    }),
  ]
}
