import { backupAbility } from '../../api/backup-plan.ts'
import type { BackupHost } from '../../core/backup/host-choice.ts'
import { cordonOwner, isReady } from '../../core/node/node-facts.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { isForeign } from '../node/act.ts'

/** The control-plane nodes as those who could be asked for a backup. `holderOf`: who has a slot for the node. */
export function backupHosts(cluster: Cluster, holderOf: (node: string) => string | undefined): readonly BackupHost[] {
  return [...cluster.controlPlane].sort().flatMap((name): readonly BackupHost[] => {
    const node = cluster.nodes.get(name)
    if (!node) return []
    const found = cluster.states.get(name)
    const state = found && !isForeign(found, node) ? found : undefined
    const agent = state?.status?.agent
    return [
      {
        name,
        isReady: isReady(node) && state !== undefined,
        isTaken: holderOf(name) !== undefined || cordonOwner(node) !== undefined,
        agent: agent && {
          canBackUp: agent.drivers.includes(backupAbility),
          publicKey: agent.publicKey,
          etcd: agent.controlPlane?.etcd,
        },
        asked: state?.spec.backup?.request,
        answer: agent?.backup,
      },
    ]
  })
}
