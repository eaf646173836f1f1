// Gates on pods that may fail though no rehearsal saw it: some of the pods are not well, and when they will be is left to chance.

import type { GateSpec } from '../../api/gate.ts'
import type { Pod } from '../../api/kube.ts'
import { podName } from '../drain/workload-of.ts'
import { gatesOf } from '../gates/gate.ts'
import { selects } from '../label-selector.ts'
import type { Blocker } from './blocker.ts'

export interface GateDoubt {
  readonly blocker: Blocker
  readonly pod: Pod
}

/** One for each gate that looks at a pod which is in doubt. */
export function gateDoubts(
  gates: readonly GateSpec[],
  pods: readonly Pod[],
  isDoubtful: (pod: Pod) => boolean,
): readonly GateDoubt[] {
  return gatesOf(gates).flatMap(({ name, when, spec }): readonly GateDoubt[] => {
    if (spec.type !== 'PodsReady') return []
    const { namespace, selector } = spec
    const pod = pods.find(
      (one) =>
        (namespace === undefined || one.metadata.namespace === namespace) &&
        selects(selector, one.metadata.labels) &&
        !isLeaving(one) &&
        isDoubtful(one),
    )
    if (!pod) return []
    const message = `gate ${name} may fail: ${podName(pod)} is not Ready, or may not be soon after it had to go`
    // What is asked after a node fails that node; any other stops the update.
    const key = when === 'AfterNode' ? `GateFailed gate ${name}` : 'GateFailed'
    return [{ blocker: { key, code: 'GateFailed', message, lasting: false }, pod }]
  })
}

export function isPodReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
}

/** No gate looks at it. */
function isLeaving({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'
}
