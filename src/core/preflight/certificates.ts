import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { componentsOf } from '../update/drivers-for.ts'
import { sameVersion } from '../version.ts'
import { type Check, factsOf, failed, passed, unknown, warned } from './check.ts'

const dayMs = 86_400_000
/** Longer than an update of the control plane takes. */
const leastMs = dayMs
const soonMs = 30 * dayMs

interface Kind {
  readonly whose: string
  readonly next: string
  readonly out: string[]
  readonly soon: string[]
}

/**
 * Of the control plane, as its hosts report them. kubeadm renews them when it upgrades, but not what has run out already, no
 * authority, and nothing whose authority's key is not on the host.
 */
export const certificates: Check = {
  name: 'Certificates',
  judge: (view) => {
    const chosen = new Set(view.selected)
    const { kubernetes } = view.spec
    const runsKubeadm = kubernetes !== undefined && componentsOf(kubernetes).includes('kubeadm')
    const renews = runsKubeadm && kubernetes.kubeadm?.certificateRenewal !== false
    const own = kind('certificates of the control plane', 'renew them with kubeadm certs renew all')
    const unrenewed = kind(
      'certificates of the control plane that kubeadm cannot renew',
      'have them made anew where the key of their authority lies',
    )
    const authorities = kind(
      'certificate authorities of the control plane',
      'kubeadm renews none, so rotate them by hand: https://kubernetes.io/docs/tasks/tls/manual-rotation-of-ca-certificates/',
    )
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
      // kubeadm is not run for an API server that is at the target.
      const renewed = renews && chosen.has(node) && !sameVersion(facts?.apiServer ?? '', kubernetes.version)
      const { authoritiesExpireAt, unrenewedExpireAt } = facts ?? {}
      const sort = ({ out, soon }: Kind, at: string | undefined, isRenewed: boolean) => {
        const leftMs = at === undefined ? Number.POSITIVE_INFINITY : new Date(at).getTime() - view.now.getTime()
        if (leftMs <= 0 || (leftMs < leastMs && !isRenewed)) out.push(`${node.metadata.name} (${at})`)
        else if (leftMs < soonMs && !isRenewed) soon.push(`${node.metadata.name} (${at})`)
      }
      // The first of all may be one of the others, which have sentences of their own.
      if (expiry !== authoritiesExpireAt && expiry !== unrenewedExpireAt) sort(own, expiry, renewed)
      sort(unrenewed, unrenewedExpireAt, false)
      sort(authorities, authoritiesExpireAt, false)
    }
    const kinds = [own, unrenewed, authorities]
    const out = kinds.filter((each) => each.out.length > 0)
    if (out.length > 0) {
      return failed(
        out.map(({ whose, next, out: names }) => `${whose} run out: ${nameList(names)}; ${next}`).join('. '),
      )
    }
    // The control plane may have no agents at all; what touches nothing of it is not kept by that.
    const touches = runsKubeadm || view.selected.some((node) => roleOf(node) === 'ControlPlane')
    if (silent.length > 0 && touches) {
      return unknown(
        `${nameList(silent)} does not say when its certificates run out; where they lie elsewhere, look at them and skip Certificates`,
      )
    }
    const soon = kinds.filter((each) => each.soon.length > 0)
    if (soon.length > 0) return warned(soon.map(withinAMonth).join('. '))
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

function kind(whose: string, next: string): Kind {
  return { whose, next, out: [], soon: [] }
}

function withinAMonth({ whose, next, soon }: Kind): string {
  return `${whose} run out within 30 days: ${nameList(soon)}; ${next}`
}
