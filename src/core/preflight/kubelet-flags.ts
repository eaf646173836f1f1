import { removedKubeletFlags } from '../kubernetes/removed-kubelet-flags.ts'
import { nameList } from '../name-list.ts'
import { parseVersion } from '../version.ts'
import { type Check, factsOf, failed, passed } from './check.ts'

/** Flags in a person's files that the target's kubelet does not know: with one of them it does not start. */
export const kubeletFlags: Check = {
  name: 'KubeletFlags',
  judge: (view) => {
    const target = view.spec.kubernetes && parseVersion(view.spec.kubernetes.version)
    if (!target) return undefined
    const gone = new Set(
      removedKubeletFlags.filter(({ minor }) => target.major > 1 || minor <= target.minor).map(({ name }) => name),
    )
    const byFlag = new Map<string, string[]>()
    for (const node of view.selected) {
      for (const flag of factsOf(view, node)?.kubeletFlags ?? []) {
        if (gone.has(flag)) byFlag.set(flag, [...(byFlag.get(flag) ?? []), node.metadata.name])
      }
    }
    if (byFlag.size === 0) return passed(`no host gives its kubelet a flag that ${target.text} does not know`)
    const found = [...byFlag].map(([flag, names]) => `--${flag} (${nameList(names)})`)
    return failed(
      `${target.text} does not know the kubelet’s flags ${found.join(', ')}; take them out of /etc/default/kubelet, /etc/sysconfig/kubelet or the unit’s drop-ins`,
    )
  },
}
