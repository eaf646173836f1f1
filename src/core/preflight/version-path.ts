// Where the versions may go: up, one minor version at a time, and no kubelet above its API server.

import { oldestApiServer } from '../kubernetes/oldest-api-server.ts'
import { roleOf } from '../node/node-facts.ts'
import { takesKubeletsAlone } from '../update/drivers-for.ts'
import { compareVersions, parseVersion, type Version } from '../version.ts'
import { type Check, type CheckView, type Finding, factsOf, kubeletOf, passed } from './check.ts'

export const versionPath: Check = {
  name: 'VersionPath',
  judge: (view) => {
    const { kubernetes } = view.spec
    const target = kubernetes && parseVersion(kubernetes.version)
    if (!target) return undefined
    return (
      downgrade(view, target) ??
      faultOf(view) ??
      aboveApiServer(view, target, takesKubeletsAlone(kubernetes)) ??
      passed(`every node can go to ${target.text}`)
    )
  },
}

function downgrade(view: CheckView, target: Version): Finding | undefined {
  for (const node of view.selected) {
    for (const version of [kubeletOf(view, node), factsOf(view, node)?.apiServer]) {
      if (version === undefined || !parseVersion(version) || compareVersions(version, target.text) <= 0) continue
      return refused('Downgrade', `${node.metadata.name} runs ${version}, which is newer than ${target.text}`, true)
    }
  }
  return undefined
}

function faultOf({ pathFault }: CheckView): Finding | undefined {
  if (!pathFault) return undefined
  const { code, message, lasting } = pathFault
  return { result: 'Failed', code, lasting, message }
}

function aboveApiServer(
  { nodes, selected, stateOf, serverVersion }: CheckView,
  target: Version,
  kubeletsAlone: boolean,
): Finding | undefined {
  const chosen = new Set(selected)
  const controlPlane = nodes.filter((node) => roleOf(node) === 'ControlPlane')
  const untouched = controlPlane.filter((node) => kubeletsAlone || !chosen.has(node))
  // API servers this update upgrades are at the target before the first worker starts.
  const ceiling =
    controlPlane.length > 0 && untouched.length === 0 ? target.text : oldestApiServer(untouched, stateOf, serverVersion)
  const isBound = kubeletsAlone || selected.some((node) => roleOf(node) === 'Worker')
  if (!isBound || compareVersions(target.text, ceiling) <= 0) return undefined
  return refused(
    'KubeletWouldBeNewer',
    `the oldest API server runs ${ceiling}; a kubelet must not be newer (${target.text}): upgrade the control plane first`,
  )
}

function refused(code: NonNullable<Finding['code']>, message: string, lasting = false): Finding {
  return { result: 'Failed', code, message, lasting }
}
