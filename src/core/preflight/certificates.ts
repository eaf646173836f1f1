import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { sameVersion } from '../version.ts'
import { type Check, factsOf, failed, passed, unknown, warned } from './check.ts'

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
    const runsKubeadm = kubernetes !== undefined && componentsOf(kubernetes).includes('kubeadm')
    const renews = runsKubeadm && kubernetes.kubeadm?.certificateRenewal !== false
    const out: string[] = []
    const soon: string[] = []
    const silent: string[] = []
    const elsewhere: string[] = []
    for (const node of view.nodes) {
      if (roleOf(node) !== 'ControlPlane') continue
      const facts = factsOf(view, node)
      const expiry = facts?.certificatesExpireAt
      if (expiry === undefined) {
        // An API server is reported where kubeadm's manifest lies: there the certificates are at hand, too.
        if (facts && facts.apiServer === undefined) elsewhere.push(node.metadata.name)
        else silent.push(node.metadata.name)
        continue
      }
      const leftMs = new Date(expiry).getTime() - view.now.getTime()
      // kubeadm is not run for an API server that is at the target.
      const renewed = renews && chosen.has(node) && !sameVersion(facts?.apiServer ?? '', kubernetes.version)
      if (leftMs <= 0 || (leftMs < leastMs && !renewed)) out.push(`${node.metadata.name} (${expiry})`)
      else if (leftMs < soonMs && !renewed) soon.push(`${node.metadata.name} (${expiry})`)
    }
    if (out.length > 0) {
      return failed(
        `certificates of the control plane run out: ${nameList(out)}; renew them with kubeadm certs renew all`,
      )
    }
    // The control plane may have no agents at all; what touches nothing of it is not kept by that.
    const touches = runsKubeadm || view.selected.some((node) => roleOf(node) === 'ControlPlane')
    if (silent.length > 0 && touches) {
      return unknown(
        `${nameList(silent)} does not say when its certificates run out; where they lie elsewhere, look at them and skip Certificates`,
      )
    }
    if (soon.length > 0) return warned(`certificates of the control plane run out within 30 days: ${nameList(soon)}`)
    if (silent.length > 0) {
      return warned(
        `${nameList(silent)} does not say when its certificates run out; this update touches nothing there, so look at them yourself`,
      )
    }
    if (elsewhere.length > 0) {
      return warned(
        `${nameList(elsewhere)} does not say when certificates run out: it is none of kubeadm’s, and they lie elsewhere`,
      )
    }
    return passed('no certificate of the control plane is about to run out')
  },
}
