// From what an update says of Kubernetes to what it comes to on this cluster, decided once, before anything begins.

import type { DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import type { AgentStatus, NodeState } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { VersionPath } from '../../api/version-path.ts'
import { oldestApiServer } from '../kubernetes/oldest-api-server.ts'
import { roleOf } from '../node/node-facts.ts'
import { componentsOf, takesKubeletsAlone } from '../update/drivers-for.ts'
import { compareVersions, parseVersion, type Version } from '../version.ts'
import { findPath, type Path } from './find-path.ts'
import { findTarget } from './find-target.ts'
import { type Offers, offerOfHosts } from './offers.ts'
import { isPattern, parseWish } from './wish.ts'

export interface ResolveView {
  readonly spec: DirectUpdateSpec
  readonly nodes: readonly Node[]
  readonly selected: readonly Node[]
  readonly stateOf: (node: string) => NodeState | undefined
  readonly serverVersion: string
  /** Besides the hosts' own; absent: nobody else was asked. */
  readonly offers?: Offers | undefined
}

export type ResolvedPath = VersionPath & { readonly steps: string[]; readonly step: number; readonly workers: number[] }

export type Resolution =
  | {
      readonly resolved: true
      readonly path: ResolvedPath
      readonly fault?: Path['fault']
      /** Every node is there already, or further: nothing is on offer that would change one. */
      readonly idle: boolean
    }
  | { readonly resolved: false; readonly reason: Reason; readonly lasting: boolean }

/** Whether others than the hosts are worth asking: of a version that is named, and near, nobody need know. */
export function needsOffers({ kubernetes, airGapped }: DirectUpdateSpec): boolean {
  return kubernetes !== undefined && !airGapped
}

/** Undefined where the update is not about Kubernetes. */
export function resolveVersions(view: ResolveView): Resolution | undefined {
  const { spec, nodes, selected } = view
  const { kubernetes } = spec
  if (!kubernetes) return undefined
  const { version: text } = kubernetes
  const wish = parseWish(text)
  if (!wish) {
    const message = `"${text}" is not a full version such as v1.36.3, nor 1.36.*, latest-patch or latest`
    return { resolved: false, lasting: true, reason: { code: 'VersionUnknown', message } }
  }
  const offers = offersOf(view)
  const controlPlane = nodes.filter((node) => roleOf(node) === 'ControlPlane')
  const chosen = new Set(selected)
  const goes = controlPlane.filter((node) => chosen.has(node))
  const stays = controlPlane.filter((node) => !chosen.has(node))
  const servers = versionsOf(goes.map((node) => serverOf(view, node)))
  const everyServer = versionsOf(controlPlane.map((node) => serverOf(view, node)))
  const newestServer = everyServer.at(-1) ?? parseVersion(view.serverVersion)
  const workers = selected.filter((node) => roleOf(node) === 'Worker')
  const kubeletsAlone = takesKubeletsAlone(kubernetes)
  const isBound = kubeletsAlone || (workers.length > 0 && !(goes.length > 0 && stays.length === 0))
  const bounding = kubeletsAlone ? controlPlane : stays
  const ceiling = isBound ? oldestApiServer(bounding, view.stateOf, view.serverVersion) : undefined
  const oneStepBecause = whyOneStep(spec)
  const found = findTarget({
    ...{ text, wish, offers, ceiling },
    newestServer: newestServer ?? { text: 'v0.0.0', major: 0, minor: 0, patch: 0 },
    minorsAtMost: goes.length > 0 && (stays.length > 0 || oneStepBecause !== undefined) ? 1 : Number.POSITIVE_INFINITY,
  })
  if ('reason' in found) return { resolved: false, lasting: false, reason: found.reason }
  const { target, source } = found
  const takesServers = componentsOf(kubernetes).includes('kubeadm')
  const { steps, workerSteps, fault } = findPath({
    ...{ target, offers, oneStepBecause },
    servers: takesServers ? servers : [],
    leftOut: stays.map(({ metadata }) => metadata.name),
    kubelets: versionsOf(workers.map((node) => kubeletOf(view, node))),
    workers: kubernetes.workers ?? 'Once',
  })
  const running = selected.flatMap((node) => [kubeletOf(view, node), factsOf(view, node)?.apiServer])
  const current = versionsOf(running)[0]?.text ?? target.text
  return {
    resolved: true,
    path: {
      ...{ current, target: target.text, steps: [...steps], step: 0, workers: [...workerSteps] },
      ...(source && { source }),
    },
    ...(fault && { fault }),
    idle: isPattern(text) && isPlain(spec) && running.every((one) => one === undefined || isThere(one, target)),
  }
}

/** Where it names a bundle, only what lies in it counts. */
function offersOf({ spec, selected, stateOf, offers }: ResolveView): Offers {
  const { lists = [], silent = [], failing = [] } = offers ?? {}
  if (spec.airGapped) {
    const bundle = lists.filter(({ source }) => source === 'Bundle')
    return { lists: bundle, silent: bundle.length > 0 ? [] : silent, failing }
  }
  const indexes = selected.map(({ metadata }) => stateOf(metadata.name)?.status?.agent?.facts.versionsOnOffer ?? [])
  return { lists: [offerOfHosts(indexes), ...lists], silent, failing }
}

function whyOneStep({ os, kubernetes }: DirectUpdateSpec): string | undefined {
  return kubernetes && os?.image !== undefined ? 'an OS image has one version of Kubernetes' : undefined
}

/** Whether the versions that the cluster shows tell all there is to do. */
function isPlain({ kubernetes, os, profile, script, binary, reboot }: DirectUpdateSpec): boolean {
  if (os || profile !== undefined || script || binary || reboot !== undefined || !kubernetes) return false
  return !componentsOf(kubernetes).some((component) => component === 'containerd' || component === 'etcd')
}

function isThere(version: string, target: Version): boolean {
  return compareVersions(version, target.text) >= 0
}

function factsOf({ stateOf }: ResolveView, node: Node): AgentStatus['facts'] | undefined {
  return stateOf(node.metadata.name)?.status?.agent?.facts
}

function kubeletOf(view: ResolveView, node: Node): string | undefined {
  return factsOf(view, node)?.kubelet ?? node.status?.nodeInfo?.kubeletVersion
}

/** Of a control-plane node whose API server nobody knows its kubelet tells: it is never newer. */
function serverOf(view: ResolveView, node: Node): string | undefined {
  return factsOf(view, node)?.apiServer ?? kubeletOf(view, node)
}

/** Oldest first; what is no version is passed over. */
function versionsOf(texts: readonly (string | undefined)[]): readonly Version[] {
  return texts
    .flatMap((text) => (text === undefined ? [] : (parseVersion(text) ?? [])))
    .sort((a, b) => compareVersions(a.text, b.text))
}
