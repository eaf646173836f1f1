// What of an update can be rehearsed on a snapshot. The servers that gates and hooks ask, the Jobs they run and the objects of other
// kinds they read are not in it.

import { createHash } from 'node:crypto'
import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { GateSpec } from '../../api/gate.ts'
import type { MaintenancePolicy } from '../../api/maintenance-policy.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import { invalidGate } from '../../core/gates/check-gates.ts'
import { gatesOf } from '../../core/gates/gate.ts'

/** What a script does cannot be rehearsed, only that one is run. */
export const plannedScript = 'true\n'

/** Scripts are named by their content, which is not in a snapshot: another one takes their place. */
export function rehearsable({ dryRun: _, desiredState: __, ...wished }: DirectUpdateSpec): DirectUpdateSpec {
  const spec = withoutPattern(withoutOutside(wished))
  if (!spec.script) return spec
  const sha256 = createHash('sha256').update(plannedScript).digest('hex')
  const { validate } = spec.script
  return { ...spec, script: { ...spec.script, sha256, ...(validate && { validate: { ...validate, sha256 } }) } }
}

export function rehearsablePolicy(policy: MaintenancePolicy): MaintenancePolicy {
  // What is done in which window follows from how long it takes: nobody need live through the days between.
  const { gates, windows: _, freezes: __, backupStores: stores, etcd, datastore, ...spec } = policy.spec
  // Nothing secret is in a snapshot; every pretended host has an etcd of its own.
  const backupStores = stores?.map(({ name }) => ({ name, path: '/pretended' }))
  const { backups: ___, ...status } = policy.status ?? {}
  return {
    ...{ ...policy, status },
    spec: {
      ...spec,
      ...(gates && { gates: gates.filter(isRehearsed) }),
      ...(backupStores && { backupStores }),
      ...(datastore && !etcd && { datastore }),
    },
  }
}

/** One that was under way when the snapshot was taken. */
export function rehearsableUpdate(update: DirectUpdate): DirectUpdate {
  const { hooks: _, backupRun: __, ...status } = update.status ?? {}
  return { ...update, spec: withoutOutside(update.spec), ...(update.status && { status }) }
}

/** Without what earlier hooks still owe. */
export function rehearsableState(state: NodeState): NodeState {
  const { hooks: _, backup: __, ...spec } = state.spec
  return { ...state, spec }
}

/** What is in its files, wherever it comes from, is not in a snapshot: that they are there is enough. */
export function rehearsableProfile(spec: NodeProfile['spec']): NodeProfile['spec'] {
  const files = spec.files?.map(({ secret: _, configMap: __, ...file }) => ({ ...file, content: '' }))
  return { ...spec, ...(files && { files }) }
}

/** What is taken to be there, in a sentence. */
export function assumedContent(profiles: readonly NodeProfile[]): readonly string[] {
  const sources = profiles
    .flatMap(({ spec }) => spec.files ?? [])
    .flatMap(({ secret, configMap }) => [
      ...(secret ? [`Secret ${secret.name}`] : []),
      ...(configMap ? [`ConfigMap ${configMap.name}`] : []),
    ])
  const names = [...new Set(sources)].join(', ')
  return names === '' ? [] : [`files of profiles whose content is not in a snapshot, and taken to be there: ${names}`]
}

/** What is left out, in sentences. */
export function leftOut(
  policies: readonly MaintenancePolicy[],
  { gates, hooks, os }: DirectUpdateSpec,
): readonly string[] {
  const unknown = gatesOf(...policies.map(({ spec }) => spec.gates), gates).filter(({ spec }) => !isRehearsed(spec))
  const names = unknown.map(({ name, spec }) => (name === spec.type ? name : `${name} (${spec.type})`))
  return [
    ...(names.length > 0 ? [`gates that are not rehearsed, and taken to hold at once: ${names.join(', ')}`] : []),
    ...(policies.some(({ spec }) => spec.backupStores?.length)
      ? ['backups of etcd are taken to succeed within half a minute']
      : []),
    ...(os?.image === undefined ? [] : ['the registry is not asked: every node is taken to need the image']),
    ...(hooks?.length ? [`hooks that are not run, nor counted: ${hooks.map(({ name }) => name).join(', ')}`] : []),
  ]
}

function withoutOutside({ gates, hooks: _, windows: __, ...spec }: DirectUpdateSpec): DirectUpdateSpec {
  return { ...spec, ...(gates && { gates: gates.filter(isRehearsed) }) }
}

/** No registry is asked which tag is the newest: some image is booted. */
function withoutPattern({ os, ...spec }: DirectUpdateSpec): DirectUpdateSpec {
  return {
    ...spec,
    ...(os && { os: { ...os, ...(os.image !== undefined && { image: os.image.replaceAll('*', 'x') }) } }),
  }
}

/** A gate that can never be told is refused by the operator, and so it is here. */
function isRehearsed(gate: GateSpec): boolean {
  switch (gate.type) {
    case 'NodeReady':
    case 'PodsReady':
      return true
    case 'Cel':
      return gate.object === undefined || invalidGate([gate]) !== undefined
    case 'Prometheus':
    case 'Alertmanager':
    case 'Http':
    case 'Job':
      return false
  }
}
