// https://kubernetes.io/releases/version-skew-policy/: API servers within one minor version; kubelets never newer than the
// oldest of them, and at most three minor versions older (kubelets before v1.25: two).

import type { Node } from '../../api/kube.ts'
import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { compareVersions, minorsBetween, parseVersion, type Version } from '../version.ts'
import { lagAllowed } from '../versions/find-path.ts'
import {
  type Check,
  type CheckView,
  type Finding,
  factsOf,
  failed,
  kubeletOf,
  namesOf,
  passed,
  unknown,
} from './check.ts'

export const versionSkew: Check = {
  name: 'VersionSkew',
  judge: (view) => {
    const target = view.spec.kubernetes && parseVersion(view.spec.kubernetes.version)
    if (!target) return undefined
    const servers = apiServers(view)
    const [oldest] = servers
    const newest = servers.at(-1)
    if (!oldest || !newest) return unknown('no API server names its version')
    if (minorsBetween(oldest, newest) > 1) {
      return failed(
        `API servers run ${oldest.text} and ${newest.text}: more than one minor version apart; upgrade the older ones first`,
      )
    }
    return (
      newerKubelets(view, oldest) ??
      serversLeft(view, target) ??
      leftBehind(view, newest, target) ??
      silentServers(view) ??
      passed(`API servers run ${oldest.text}`)
    )
  },
}

function apiServers(view: CheckView): readonly Version[] {
  const told = view.nodes.flatMap((node) => factsOf(view, node)?.apiServer ?? [])
  return (told.length > 0 ? told : [view.serverVersion])
    .flatMap((version) => parseVersion(version) ?? [])
    .sort((a, b) => compareVersions(a.text, b.text))
}

/** Beside one whose agent tells of its API server the word of the server that answered says nothing of the others. */
function silentServers(view: CheckView): Finding | undefined {
  const isTold = (node: Node) => factsOf(view, node)?.apiServer !== undefined
  if (!view.nodes.some(isTold)) return undefined
  const silent = view.nodes.filter((node) => roleOf(node) === 'ControlPlane' && !isTold(node))
  if (silent.length === 0) return undefined
  const names = nameList(namesOf(silent))
  return unknown(
    `what the API servers of ${names} run is not told; let their agents report, or skip VersionSkew where these have none`,
  )
}

function newerKubelets(view: CheckView, oldest: Version): Finding | undefined {
  // A control-plane node's kubelet talks to its own API server, and rule 3 is held against that one.
  const newer = view.nodes.filter((node) => {
    const version = parseVersion(kubeletOf(view, node) ?? '')
    return roleOf(node) === 'Worker' && version !== undefined && minorsBetween(oldest, version) > 0
  })
  if (newer.length === 0) return undefined
  const names = nameList(newer.map(({ metadata }) => metadata.name))
  return failed(
    `the kubelets of ${names} are newer than the API server (${oldest.text}); upgrade the control plane first`,
  )
}

/** API servers that would be more than one minor version behind those that go. */
function serversLeft(view: CheckView, target: Version): Finding | undefined {
  const chosen = new Set(view.selected)
  if (!view.selected.some((node) => roleOf(node) === 'ControlPlane')) return undefined
  const behind = view.nodes.filter((node) => {
    // Of an API server that nobody reports its kubelet tells: it is never newer.
    const kubelet = roleOf(node) === 'ControlPlane' ? kubeletOf(view, node) : undefined
    const version = parseVersion(factsOf(view, node)?.apiServer ?? kubelet ?? '')
    return !chosen.has(node) && version !== undefined && minorsBetween(version, target) > 1
  })
  if (behind.length === 0) return undefined
  const names = nameList(behind.map(({ metadata }) => metadata.name))
  return failed(
    `the API servers of ${names} would be more than one minor version behind ${target.text}; let them go along`,
  )
}

/** Kubelets that would be too old for the API servers once this update is done. */
function leftBehind(view: CheckView, newest: Version, target: Version): Finding | undefined {
  const chosen = new Set(view.selected)
  const upgrades = view.selected.some((node) => roleOf(node) === 'ControlPlane')
  const server = upgrades && compareVersions(target.text, newest.text) > 0 ? target : newest
  const behind = view.nodes.filter((node) => {
    const version = parseVersion(kubeletOf(view, node) ?? '')
    return !chosen.has(node) && version !== undefined && minorsBetween(version, server) > lagAllowed(version.minor)
  })
  if (behind.length === 0) return undefined
  const names = nameList(behind.map(({ metadata }) => metadata.name))
  return failed(
    `the kubelets of ${names} would be too old for the API server (${server.text}): at most three minor versions; upgrade them first`,
  )
}
