import { nameList } from '../name-list.ts'
import { roleOf } from '../node/node-facts.ts'
import { type Check, factsOf, passed, warned } from './check.ts'

/**
 * With several API servers, a control-plane node's kubelet that talks to a load balancer may meet an API server older than
 * itself while they are upgraded one by one (kubernetes/enhancements#4471).
 */
export const controlPlaneEndpoint: Check = {
  name: 'ControlPlaneEndpoint',
  judge: (view) => {
    const controlPlane = view.nodes.filter((node) => roleOf(node) === 'ControlPlane')
    if (!view.spec.kubernetes || controlPlane.length < 2) return undefined
    const chosen = new Set(view.selected)
    const shared = controlPlane.flatMap((node) => {
      const server = chosen.has(node) ? factsOf(view, node)?.kubeletServer : undefined
      return server && !server.own ? [`${node.metadata.name} (${server.url})`] : []
    })
    if (shared.length === 0) return passed('no kubelet of the control plane is known to talk to another API server')
    return warned(
      `the kubelets of ${nameList(shared)} do not talk to their own API server, and may meet an older one meanwhile; set server in /etc/kubernetes/kubelet.conf to the node’s own address`,
    )
  },
}
