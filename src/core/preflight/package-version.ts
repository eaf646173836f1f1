import type { Node } from '../../api/kube.ts'
import { nameList } from '../name-list.ts'
import { compareVersions, parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, factsOf, kubeletOf, namesOf, passed, warned } from './check.ts'

/** Whether the repositories each host knows have the version, as far as their index speaks of that minor version. */
export const packageVersion: Check = {
  name: 'PackageVersion',
  judge: (view) => {
    const { kubernetes, airGapped } = view.spec
    const target = kubernetes && parseVersion(kubernetes.version)
    // What a bundle holds, each host proves when it stages.
    if (!target || airGapped) return undefined
    const lacking = Map.groupBy(view.selected, (node) => lackOf(view, node, target))
    const without = lacking.get('passed over') ?? []
    const [first] = without
    if (first) {
      const known = factsOf(view, first)?.versionsOnOffer ?? []
      const message = `${nameList(namesOf(without))} cannot install ${target.text}; on offer: ${nameList(known)}`
      return { result: 'Failed', code: 'VersionUnknown', message }
    }
    const behind = nameList(namesOf(lacking.get('newer than all') ?? []))
    if (behind === '') return passed(`no host says that it cannot have ${target.text}`)
    const minor = `v${target.major}.${target.minor}`
    return warned(
      `the package index of ${behind} knows no ${target.text}, and nothing of ${minor} that is newer: whether it is there is seen when they stage`,
    )
  },
}

/**
 * What an index that lacks the version says of it. It may be older than a version that came out since: staging fetches it anew. A host
 * whose index knows nothing of that minor version proves it when it stages, from that minor's own repository.
 */
function lackOf(view: CheckView, node: Node, target: Version): 'passed over' | 'newer than all' | 'none' {
  const offered = (factsOf(view, node)?.versionsOnOffer ?? []).filter((version) => isOfMinor(version, target))
  if (offered.length === 0 || offered.includes(target.text) || isThere(view, node, target)) return 'none'
  return offered.some((version) => compareVersions(version, target.text) > 0) ? 'passed over' : 'newer than all'
}

function isThere(view: CheckView, node: Node, target: Version): boolean {
  return [kubeletOf(view, node), factsOf(view, node)?.apiServer].every(
    (version) => version === undefined || version === target.text,
  )
}

function isOfMinor(version: string, { major, minor }: Version): boolean {
  const parsed = parseVersion(version)
  return parsed?.major === major && parsed.minor === minor
}
