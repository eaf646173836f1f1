// Whether an update can be carried out on this cluster, decided before any node is touched. The operator writes the answer
// as the Planned condition; the CLI asks the same question before it creates anything.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { NodeProfile } from '../../api/node-profile.ts'
import type { NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import { apiAwayWarning } from '../control-plane/api-away.ts'
import { selects } from '../label-selector.ts'
import { isReady, roleOf } from '../node/node-facts.ts'
import { contradiction } from '../profile/contradiction.ts'
import { driversFor } from '../update/drivers-for.ts'
import { workOf } from '../update/work-of.ts'
import { compareVersions, minorsBetween, parseVersion } from '../version.ts'

export interface PlanView {
  readonly spec: DirectUpdateSpec
  readonly nodes: readonly Node[]
  readonly stateOf: (node: string) => NodeState | undefined
  /** The version of the API server that answered. */
  readonly serverVersion: string
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
      /** What will happen besides, for people. */
      readonly warnings?: readonly Reason[]
    }
  /** `lasting`: only an edit of the update can change it. Otherwise it is looked at again when the cluster changes. */
  | { readonly verdict: 'refused'; readonly lasting: boolean; readonly reason: Reason }

export function planUpdate(view: PlanView): Plan {
  const { spec } = view
  const matching = view.nodes.filter((node) => selects(spec.nodeSelector, node.metadata.labels))
  const selected = matching.filter(({ metadata }) => !spec.skip?.includes(metadata.name))
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
  const drivers = judgeAgents(view, selected)
  if (drivers) return drivers
  const profiles = judgeProfiles(view, selected)
  if (profiles) return profiles
  const away = apiAwayWarning(view.nodes, selected, view.stateOf)
  const planned = { verdict: 'planned', total: selected.length, ...(away && { warnings: [away] }) } as const
  if (!spec.kubernetes) return planned
  const version = planVersion(spec.kubernetes.version, view, selected)
  return 'verdict' in version ? version : { ...planned, path: version }
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

/** The oldest API server a worker's kubelet may talk to: rule 3's ceiling. */
export function oldestApiServer(
  controlPlane: Iterable<Node>,
  stateOf: (node: string) => NodeState | undefined,
  serverVersion: string,
): string {
  let oldest: string | undefined
  for (const node of controlPlane) {
    const version = stateOf(node.metadata.name)?.status?.agent?.facts.apiServer
    if (version && (oldest === undefined || compareVersions(version, oldest) < 0)) oldest = version
  }
  return oldest ?? serverVersion
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

function judgeAgents({ spec, stateOf }: PlanView, selected: readonly Node[]): Plan | undefined {
  const needed = [...driversFor(workOf(spec, '')), ...(spec.profile === undefined ? [] : ['profile'])]
  const silent: string[] = []
  const lacking = new Map<string, string[]>()
  for (const node of selected) {
    const { name } = node.metadata
    const agent = stateOf(name)?.status?.agent
    if (!agent) {
      if (isReady(node)) silent.push(name)
      continue
    }
    for (const driver of needed) {
      if (!agent.drivers.includes(driver)) lacking.set(driver, [...(lacking.get(driver) ?? []), name])
    }
  }
  for (const [driver, names] of lacking) {
    return refused(false, 'DriverMissing', `the agents on ${listed(names)} have no driver "${driver}"`)
  }
  if (silent.length > 0) return refused(false, 'AgentMissing', `no agent has reported from ${listed(silent)}`)
  return undefined
}

function planVersion(
  text: string,
  view: PlanView,
  selected: readonly Node[],
): Extract<Plan, { verdict: 'refused' }> | { readonly current: string; readonly target: string } {
  const target = parseVersion(text)
  if (!target) return refused(true, 'VersionUnknown', `"${text}" is not a full version such as v1.36.3`)
  let current: string | undefined
  const unoffered: string[] = []
  for (const node of selected) {
    const { name } = node.metadata
    const facts = view.stateOf(name)?.status?.agent?.facts
    const versions = [facts?.kubelet ?? node.status?.nodeInfo?.kubeletVersion, facts?.apiServer]
    for (const version of versions) {
      const parsed = version === undefined ? undefined : parseVersion(version)
      if (version === undefined || !parsed) continue
      if (compareVersions(version, target.text) > 0) {
        return refused(true, 'Downgrade', `${name} runs ${version}, which is newer than ${target.text}`)
      }
      if (minorsBetween(parsed, target) > 1) {
        return refused(
          true,
          'VersionSkipsMinor',
          `${name} runs ${version}: go to v${parsed.major}.${parsed.minor + 1} first, then to ${target.text}`,
        )
      }
      if (current === undefined || compareVersions(version, current) < 0) current = version
    }
    const atTarget = versions.every((version) => version === undefined || version === target.text)
    // A host whose index knows nothing of that minor version proves it when it stages, from that minor's own repository.
    // What a bundle holds, each host proves when it stages.
    const onOffer = view.spec.airGapped ? [] : (facts?.versionsOnOffer ?? [])
    const offered = onOffer.filter((version) => isOfMinor(version, target))
    if (!atTarget && offered.length > 0 && !offered.includes(target.text)) unoffered.push(name)
  }
  if (unoffered.length > 0) {
    const known = view.stateOf(unoffered[0] ?? '')?.status?.agent?.facts.versionsOnOffer ?? []
    return refused(
      true,
      'VersionUnknown',
      `${listed(unoffered)} cannot install ${target.text}; on offer: ${listed(known) || 'nothing'}`,
    )
  }
  const controlPlane = view.nodes.filter((node) => roleOf(node) === 'ControlPlane')
  const untouched = controlPlane.filter((node) => !selected.includes(node))
  // API servers this update upgrades are at the target before the first worker starts.
  const ceiling =
    controlPlane.length > 0 && untouched.length === 0
      ? target.text
      : oldestApiServer(untouched, view.stateOf, view.serverVersion)
  if (selected.some((node) => roleOf(node) === 'Worker') && compareVersions(target.text, ceiling) > 0) {
    return refused(
      true,
      'KubeletWouldBeNewer',
      `the oldest API server runs ${ceiling}; a kubelet must not be newer (${target.text}): upgrade the control plane first`,
    )
  }
  return { current: current ?? target.text, target: target.text }
}

function isOfMinor(version: string, { major, minor }: { readonly major: number; readonly minor: number }): boolean {
  const parsed = parseVersion(version)
  return parsed?.major === major && parsed.minor === minor
}

function refused(lasting: boolean, code: Reason['code'], message: string): Extract<Plan, { verdict: 'refused' }> {
  return { verdict: 'refused', lasting, reason: { code, message } }
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ')
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown
}
