// Where the versions may go: up, one minor version at a time, and no kubelet above its API server.

import { oldestApiServer } from '../kubernetes/oldest-api-server.ts'
import { roleOf } from '../node/node-facts.ts'
import { compareVersions, minorsBetween, parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, type Finding, factsOf, kubeletOf, passed } from './check.ts'

export const versionPath: Check = {
  name: 'VersionPath',
  judge: (view) => {
    const { kubernetes } = view.spec
    if (!kubernetes) return undefined
    const target = parseVersion(kubernetes.version)
    if (!target) return refused('VersionUnknown', `"${kubernetes.version}" is not a full version such as v1.36.3`)
    return tooFar(view, target) ?? aboveApiServer(view, target) ?? passed(`every node can go to ${target.text}`)
  },
}

function tooFar(view: CheckView, target: Version): Finding | undefined {
  for (const node of view.selected) {
    const { name } = node.metadata
    for (const version of [kubeletOf(view, node), factsOf(view, node)?.apiServer]) {
      const parsed = version === undefined ? undefined : parseVersion(version)
      if (version === undefined || !parsed) continue
      if (compareVersions(version, target.text) > 0) {
        return refused('Downgrade', `${name} runs ${version}, which is newer than ${target.text}`)
      }
      if (minorsBetween(parsed, target) > 1) {
        const next = `v${parsed.major}.${parsed.minor + 1}`
        return refused('VersionSkipsMinor', `${name} runs ${version}: go to ${next} first, then to ${target.text}`)
      }
    }
  }
  return undefined
}

function aboveApiServer({ nodes, selected, stateOf, serverVersion }: CheckView, target: Version): Finding | undefined {
  const chosen = new Set(selected)
  const controlPlane = nodes.filter((node) => roleOf(node) === 'ControlPlane')
  const untouched = controlPlane.filter((node) => !chosen.has(node))
  // API servers this update upgrades are at the target before the first worker starts.
  const ceiling =
    controlPlane.length > 0 && untouched.length === 0 ? target.text : oldestApiServer(untouched, stateOf, serverVersion)
  if (!selected.some((node) => roleOf(node) === 'Worker') || compareVersions(target.text, ceiling) <= 0)
    return undefined
  return refused(
    'KubeletWouldBeNewer',
    `the oldest API server runs ${ceiling}; a kubelet must not be newer (${target.text}): upgrade the control plane first`,
  )
}

function refused(code: NonNullable<Finding['code']>, message: string): Finding {
  return { result: 'Failed', code, message, lasting: true }
}
