import type { Order } from '../../api/node-state.ts'
import type { Reason } from '../../api/reason.ts'
import type { SecureRequests } from '../../ports/secure-requests.ts'
import type { Step, StepContext } from '../drivers/driver.ts'
import { peerObstacle } from './peers.ts'

export interface StepObstacle {
  /** Why a step must not start yet, by a look at the host right before it. */
  look(
    step: Step,
    order: Order,
    context: Pick<StepContext, 'host' | 'notes'>,
    signal: AbortSignal,
  ): Promise<Reason | undefined>
}

/** A control-plane host looks at the other members of etcd before each step that may take its own one away. */
export function etcdObstacle(requests: SecureRequests): StepObstacle {
  return {
    look: async (step, { role }, context, signal) => {
      if (role !== 'ControlPlane' || !(step.disruptive || step.stopsControlPlane)) return undefined
      return await peerObstacle(context, requests, signal)
    },
  }
}
