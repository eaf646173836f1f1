// Whether an update can be carried out on this cluster, decided before any node is touched. The operator writes the answer
// as the Planned condition; the CLI asks the same question before it creates anything.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { CheckReport } from '../../api/preflight.ts'
import type { Reason } from '../../api/reason.ts'
import { apiAwayWarning } from '../control-plane/api-away.ts'
import { invalidGate } from '../gates/check-gates.ts'
import { selects } from '../label-selector.ts'
import type { CheckView } from '../preflight/check.ts'
import { runChecks } from '../preflight/run-checks.ts'
import { contradiction } from '../profile/contradiction.ts'
import { isChosen } from '../update/is-chosen.ts'
import { compareVersions, parseVersion } from '../version.ts'

export interface PlanView extends Omit<CheckView, 'selected'> {
  /** The SHA-256 of the named script as it is now; undefined where the ConfigMap or its key is missing. */
  readonly scriptSha256?: string | undefined
  /** The same of the validation script; absent where nobody has looked. */
  readonly validation?: { readonly sha256: string | undefined }
  /** The update's name, where it has one already. */
  readonly name?: string
  readonly profiles?: readonly NodeProfile[]
}

export type Plan =
  | {
      readonly verdict: 'planned'
      readonly total: number
      readonly path?: { readonly current: string; readonly target: string }
      readonly preflight: readonly CheckReport[]
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
    }

export function planUpdate(view: PlanView): Plan {
  const { spec } = view
  const gate = invalidGate(spec.gates)
  if (gate) return refused(true, gate.code, gate.message)
  const matching = view.nodes.filter((node) => selects(spec.nodeSelector, node.metadata.labels))
  const selected = matching.filter((node) => isChosen(spec, node))
  if (selected.length === 0) {
    const why =
      matching.length > 0
        ? 'every node that matches spec.nodeSelector is in spec.skip: take one of them out'
        : 'no node matches spec.nodeSelector; look at the labels with kubectl get nodes --show-labels, and correct it'
    return refused(true, 'NothingSelected', `this update can never start: ${why}`)
  }
  const script = spec.script && judgeScript(spec.script, view.scriptSha256)
  if (script) return script
  const validate = spec.script?.validate && view.validation && judgeScript(spec.script.validate, view.validation.sha256)
  if (validate) return validate
  const profiles = judgeProfiles(view, selected)
  if (profiles) return profiles
  const checked = { ...view, selected }
  const { reports: preflight, refusal } = runChecks(checked)
  if (refusal) return { verdict: 'refused', ...refusal, preflight }
  const path = spec.kubernetes && pathOf(spec.kubernetes.version, checked)
  const away = apiAwayWarning(view.nodes, selected, view.stateOf)
  const planned = { verdict: 'planned', total: selected.length, preflight } as const
  return { ...planned, ...(path && { path }), ...(away && { warnings: [away] }) }
}

/** The profile it names must be one that waits for it, and none may want something else of the same nodes. */
function judgeProfiles({ spec, name, profiles = [] }: PlanView, selected: readonly Node[]): Plan | undefined {
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
  const reason = contradiction(name ?? 'of this file', spec, matched)
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
      true,
      'ScriptChanged',
      `the script in ConfigMap ${script.configMap} has SHA-256 ${found}, the update names ${script.sha256}`,
    )
  }
  return undefined
}

/** From the oldest version that any of the nodes runs. */
function pathOf(
  version: string,
  { selected, stateOf }: CheckView,
): { readonly current: string; readonly target: string } {
  const target = parseVersion(version)?.text ?? version
  let current: string | undefined
  for (const { metadata, status } of selected) {
    const facts = stateOf(metadata.name)?.status?.agent?.facts
    for (const found of [facts?.kubelet ?? status?.nodeInfo?.kubeletVersion, facts?.apiServer]) {
      if (found === undefined || !parseVersion(found)) continue
      if (current === undefined || compareVersions(found, current) < 0) current = found
    }
  }
  return { current: current ?? target, target }
}

function refused(lasting: boolean, code: Reason['code'], message: string): Extract<Plan, { verdict: 'refused' }> {
  return { verdict: 'refused', lasting, reason: { code, message } }
}
