import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { type Check, factsOf, failed, passed, warned } from './check.ts'

const dayMs = 86_400_000
/** Longer than an update of the control plane takes. */
const leastMs = dayMs
const soonMs = 30 * dayMs

/** Of the control plane, as its hosts report them. kubeadm renews them when it upgrades, but not what has run out already. */
export const certificates: Check = {
  name: 'Certificates',
  judge: (view) => {
    const chosen = new Set(view.selected)
    const { kubernetes } = view.spec
    const renews =
      kubernetes !== undefined &&
      kubernetes.kubeadm?.certificateRenewal !== false &&
      componentsOf(kubernetes).includes('kubeadm')
    const out: string[] = []
    const soon: string[] = []
    for (const node of view.nodes) {
      const expiry = roleOf(node) === 'ControlPlane' ? factsOf(view, node)?.certificatesExpireAt : undefined
      if (expiry === undefined) continue
      const leftMs = new Date(expiry).getTime() - view.now.getTime()
      const renewed = renews && chosen.has(node)
      if (leftMs <= 0 || (leftMs < leastMs && !renewed)) out.push(`${node.metadata.name} (${expiry})`)
      else if (leftMs < soonMs && !renewed) soon.push(`${node.metadata.name} (${expiry})`)
    }
    if (out.length > 0) {
      return failed(
        `certificates of the control plane run out: ${nameList(out)}; renew them with kubeadm certs renew all`,
      )
    }
    if (soon.length > 0) return warned(`certificates of the control plane run out within 30 days: ${nameList(soon)}`)
    return passed('no certificate of the control plane is about to run out')
  },
}
