import { nameList } from '../name-list.ts'
import { parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, factsOf, kubeletOf, passed } from './check.ts'

/** Whether the repositories each host knows have the version, as far as their index speaks of that minor version. */
export const packageVersion: Check = {
  name: 'PackageVersion',
  judge: (view) => {
    const { kubernetes, airGapped } = view.spec
    const target = kubernetes && parseVersion(kubernetes.version)
    // What a bundle holds, each host proves when it stages.
    if (!target || airGapped) return undefined
    const without = view.selected.filter((node) => {
      const facts = factsOf(view, node)
      // A host whose index knows nothing of that minor version proves it when it stages, from that minor's own repository.
      const offered = (facts?.versionsOnOffer ?? []).filter((version) => isOfMinor(version, target))
      return offered.length > 0 && !offered.includes(target.text) && !isThere(view, node, target)
    })
    const [first] = without
    if (!first) return passed(`no host says that it cannot have ${target.text}`)
    const known = factsOf(view, first)?.versionsOnOffer ?? []
    const names = nameList(without.map(({ metadata }) => metadata.name))
    return {
      result: 'Failed',
      code: 'VersionUnknown',
      lasting: true,
      message: `${names} cannot install ${target.text}; on offer: ${nameList(known)}`,
    }
  },
}

function isThere(view: CheckView, node: CheckView['selected'][number], target: Version): boolean {
  return [kubeletOf(view, node), factsOf(view, node)?.apiServer].every(
    (version) => version === undefined || version === target.text,
  )
}

function isOfMinor(version: string, { major, minor }: Version): boolean {
  const parsed = parseVersion(version)
  return parsed?.major === major && parsed.minor === minor
}
