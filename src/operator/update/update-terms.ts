import type { DirectUpdate, DirectUpdateSpec } from '../../api/direct-update.ts'
import type { Node } from '../../api/kube.ts'
import { selects } from '../../core/label-selector.ts'
import { roleOf } from '../../core/node/node-facts.ts'
import { type Operation, runOf } from '../../core/update/operation.ts'
import { isLastStep } from '../../core/update/path-step.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { NodeAsk } from '../profile/node-ask.ts'
import { hostObstacle } from './host-obstacle.ts'
import { type Terms, updateHours } from './terms.ts'
import { expired } from './update-status.ts'

/** On what terms a DirectUpdate takes its nodes now. `profileWork`: what rolling a profile out asks of one node. */
export function updateTerms(
  update: DirectUpdate,
  operation: Operation,
  cluster: Pick<Cluster, 'nodes' | 'states' | 'policy'>,
  profileWork: (node: string, profile: string) => NodeAsk,
  now: Date,
): Terms {
  const { metadata, spec, status } = update
  const { work, step } = operation
  const run = runOf(operation)
  const { nodeSelector, strategy, approvals, desiredState: desired, profile } = spec
  const terms: Terms = {
    ...{ nodeSelector, strategy, approvals, desired, generation: metadata.generation },
    wave: status?.operationID === run ? status.wave : undefined,
    expired: expired(update, now),
    ...updateHours(update, operation),
    obstacle: (node) => hostObstacle(cluster, spec, operation, node),
    ...(step?.takesWorkers === false && { isMember: (node: Node) => isOfStep(spec, node) }),
  }
  if (profile === undefined || !isLastStep(step)) return terms
  return {
    ...terms,
    // A node that the profile does not select has nothing to be drained for.
    isDone: ({ metadata }) => {
      const asked = profileWork(metadata.name, profile)
      return asked.ask === 'known' && Object.keys({ ...work, ...asked.work }).length === 0
    },
    obstacle: (node) => {
      const asked = profileWork(node, profile)
      if (asked.ask === 'known') return hostObstacle(cluster, spec, operation, node)
      return { ...asked.reason, message: `${node}: ${asked.reason.message}` }
    },
    workFor: (node) => {
      const asked = profileWork(node, profile)
      if (asked.ask === 'unknown') return undefined
      const { reboot, ...rest } = asked.work
      return { ...work, ...rest, ...(reboot !== undefined && work.reboot === undefined && { reboot }) }
    },
  }
}

/** In a step without workers only the control plane moves. */
function isOfStep({ nodeSelector }: DirectUpdateSpec, node: Node): boolean {
  return roleOf(node) === 'ControlPlane' && selects(nodeSelector, node.metadata.labels)
}
