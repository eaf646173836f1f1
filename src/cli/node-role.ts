import type { Node } from '../api/kube.ts'

const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

export function isControlPlane(node: Node): boolean {
  return node.metadata.labels?.[controlPlaneLabel] !== undefined
}

export function isReady(node: Node): boolean {
  return (
    node.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false
  )
}
