// Whether an update can be carried out on this cluster, decided before any node is touched. The operator writes the answer
// as the Planned condition; the CLI asks the same question before it creates anything.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { ResolvedImage } from '../../api/os-image.ts'
import type { CheckReport } from '../../api/preflight.ts'
import type { Reason } from '../../api/reason.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { backupNeed } from '../backup/need.ts'
import { apiAwayWarning } from '../control-plane/api-away.ts'
import { invalidGate } from '../gates/check-gates.ts'
import { impossibleImage } from '../image/resolved-image.ts'
import { selects } from '../label-selector.ts'
import type { CheckView } from '../preflight/check.ts'
import { runChecks } from '../preflight/run-checks.ts'
import { contradiction } from '../profile/contradiction.ts'
import { isChosen } from '../update/is-chosen.ts'
import { workOf } from '../update/work-of.ts'
import type { Offers } from '../versions/offers.ts'
import { resolveVersions } from '../versions/resolve.ts'
import { stepTimes } from './step-times.ts'
import { type WorkTime, workTime } from './work-time.ts'

export interface PlanView extends Omit<CheckView, 'selected' | 'pathFault'> {
  /** The SHA-256 of the named script as it is now; undefined where the ConfigMap or its key is missing. */
  readonly scriptSha256?: string | undefined
  /** The same of the validation script; absent where nobody has looked. */
  readonly validation?: { readonly sha256: string | undefined }
  /** The update's name, where it has one already. */
  readonly name?: string
  readonly profiles?: readonly NodeProfile[]
  /** Which versions there are, besides what the hosts say; absent: nobody else was asked. */
  readonly offers?: Offers | undefined
  /** Those of its nodes that this is about, where it is not all: a step of its path. */
  readonly takes?: (node: Node) => boolean
  /** Where that path ends: what a profile may name before it is reached. */
  readonly pathTarget?: string
}

export type Plan =
  | {
      readonly verdict: 'planned'
      readonly total: number
      readonly path?: VersionPath
      /** Every node runs what the version comes to: there is nothing to do. */
      readonly idle?: true
      readonly preflight: readonly CheckReport[]
      /** What os.image names, where it was looked up. */
      readonly osImage?: ResolvedImage
      /** What will happen besides, for people. */
      readonly warnings?: readonly Reason[]
    }
  /** `lasting`: only an edit of the update can change it. Otherwise it is looked at again when the cluster changes. */
  | {
      readonly verdict: 'refused'
      readonly lasting: boolean
      readonly reason: Reason
      /** Absent where it did not come so far. */
      readonly preflight?: readonly CheckReport[]
      /** It hangs on which versions there are. */
      readonly versions?: true
      /** What was looked up all the same. */
      readonly osImage?: ResolvedImage
    }

export function planUpdate(view: PlanView): Plan {
  const gate = invalidGate(view.spec.gates)
  if (gate) return refused(true, gate.code, gate.message)
  const common = invalidGate(view.policy?.gates)
  if (common) return refused(false, common.code, `MaintenancePolicy/default: ${common.message}`)
  const matching = view.nodes.filter((node) => selects(view.spec.nodeSelector, node.metadata.labels))
  const chosen = matching.filter((node) => isChosen(view.spec, node))
  const selected = view.takes ? chosen.filter(view.takes) : chosen
  if (chosen.length === 0) {
    const why =
      matching.length > 0
        ? 'every node that matches spec.nodeSelector is in spec.skip: take one of them out'
        : 'no node matches spec.nodeSelector; look at the labels with kubectl get nodes --show-labels, and correct it'
    return refused(true, 'NothingSelected', `this update can never start: ${why}`)
  }
  const resolution = resolveVersions({ ...view, selected })
  if (resolution?.resolved === false) {
    const { reason, lasting } = resolution
    return { verdict: 'refused', lasting, reason, ...(!lasting && { versions: true as const }) }
  }
  const { path, fault: pathFault } = resolution ?? {}
  const total = selected.length
  if (path && resolution?.idle) return { verdict: 'planned', total, path, preflight: [], idle: true }
  return planResolved({ ...view, spec: withVersion(view.spec, path?.target), selected, pathFault }, path)
}

/** With the version it comes to in place of the pattern that was written. */
export function withVersion(spec: DirectUpdateSpec, version: string | undefined): DirectUpdateSpec {
  return spec.kubernetes && version !== undefined ? { ...spec, kubernetes: { ...spec.kubernetes, version } } : spec
}

/** The update with the version that it comes to; as it was written where that cannot be told. */
export function resolvedSpec(view: PlanView): DirectUpdateSpec {
  const chosen = view.nodes.filter((node) => isChosen(view.spec, node) && (view.takes?.(node) ?? true))
  const resolution = resolveVersions({ ...view, selected: chosen })
  return withVersion(view.spec, resolution?.resolved ? resolution.path.target : undefined)
}

function planResolved(view: PlanView & CheckView, path: VersionPath | undefined): Plan {
  const { spec, selected, osImage } = view
  const image = impossibleImage(spec)
  if (image) return refused(true, image.code, image.message)
  const script = spec.script && judgeScript(spec.script, view.scriptSha256)
  if (script) return script
  const validate = spec.script?.validate && view.validation && judgeScript(spec.script.validate, view.validation.sha256)
  if (validate) return validate
  const backup = backupNeed(spec, view.policy)
  if (backup.need === 'refused') return refused(false, backup.reason.code, backup.reason.message)
  const profiles = judgeProfiles(view, selected)
  if (profiles) return profiles
  const { reports: preflight, refusal } = runChecks(view)
  const looked = osImage && { osImage }
  if (refusal) {
    const isOpen = view.pathFault?.unlisted === true && refusal.reason.message === view.pathFault.message
    return { verdict: 'refused', ...refusal, preflight, ...looked, ...(isOpen && { versions: true as const }) }
  }
  const away = apiAwayWarning(view.nodes, selected, view.stateOf, view.policy?.datastore, measuredTime(view))
  const planned = { verdict: 'planned', total: selected.length, preflight, ...looked } as const
  return { ...planned, ...(path && { path }), ...(away && { warnings: [away] }) }
}

/** Of the work on a control-plane node; assumed ones are for rehearsals, which say so. */
function measuredTime({ spec, nodes, stateOf }: PlanView): WorkTime | undefined {
  const states = nodes.flatMap(({ metadata }) => stateOf(metadata.name) ?? [])
  const time = workTime(workOf(spec, ''), 'ControlPlane', stepTimes(states))
  return time.isMeasured ? time : undefined
}

/** The profile it names must be one that waits for it, and none may want something else of the same nodes. */
function judgeProfiles(
  { spec, name, profiles = [], pathTarget }: PlanView,
  selected: readonly Node[],
): Plan | undefined {
  const wanted = profiles.find(({ metadata }) => metadata.name === spec.profile)
  if (spec.profile !== undefined && !(wanted && isByUpdate(wanted))) {
    const what = wanted ? 'rolls out by itself: set its spec.rollout to ByUpdate' : 'is not there'
    return refused(false, 'ProfileUnknown', `NodeProfile ${spec.profile} ${what}`)
  }
  const matched = profiles.filter(({ metadata, spec: { nodeSelector } }) => {
    return (
      metadata.deletionTimestamp === undefined && selected.some((node) => selects(nodeSelector, node.metadata.labels))
    )
  })
  const whole = withVersion(spec, pathTarget ?? spec.kubernetes?.version)
  const reason = contradiction(name ?? 'of this file', workOf(whole, ''), matched, selected)
  return reason && refused(false, reason.code, reason.message)
}

function isByUpdate({ spec, metadata }: NodeProfile): boolean {
  return spec.rollout === 'ByUpdate' && metadata.deletionTimestamp === undefined
}

function judgeScript(
  script: Pick<NonNullable<DirectUpdateSpec['script']>, 'configMap' | 'sha256'>,
  found: string | undefined,
): Plan | undefined {
  if (found === undefined) {
    return refused(
      false,
      'ScriptMissing',
      `ConfigMap ${script.configMap} with key "script" is not in the operator's namespace`,
    )
  }
  if (found !== script.sha256) {
    return refused(
      false,
      'ScriptChanged',
      `the script in ConfigMap ${script.configMap} has SHA-256 ${found}, the update names ${script.sha256}`,
    )
  }
  return undefined
}

function refused(lasting: boolean, code: Reason['code'], message: string): Extract<Plan, { verdict: 'refused' }> {
  return { verdict: 'refused', lasting, reason: { code, message } }
}
