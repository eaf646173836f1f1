// What the console keeps of each object: with thousands of nodes the rest would be most of the memory.

import { holdAnnotation } from '../api/hold.ts'
import type { KubeObject, Node } from '../api/kube.ts'
import type { NodeState } from '../api/node-state.ts'
import { cordonAnnotation } from '../core/node/node-facts.ts'

const keptAnnotations = [cordonAnnotation, holdAnnotation]

export function slimNode({ metadata, spec, status }: Node): Node {
  const { annotations = {} } = metadata
  const ours = keptAnnotations.flatMap((name) => (annotations[name] === undefined ? [] : [[name, annotations[name]]]))
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const info = status?.nodeInfo
  return {
    metadata: { ...slimMetadata(metadata), ...(ours.length > 0 && { annotations: Object.fromEntries(ours) }) },
    spec: spec?.unschedulable ? { unschedulable: true } : {},
    status: {
      conditions: ready ? [{ type: 'Ready', status: ready.status }] : [],
      ...(info && { nodeInfo: { kubeletVersion: info.kubeletVersion, bootID: info.bootID } }),
    },
  }
}

export function slimState({ metadata, spec, status }: NodeState): NodeState {
  const { order } = spec
  const agent = status?.agent
  return {
    metadata: slimMetadata(metadata),
    spec: order ? { order: { ...order, work: {} } } : {},
    ...(status && {
      status: {
        ...(status.rollout && { rollout: status.rollout }),
        ...(status.completed && { completed: status.completed }),
        ...(status.failed && { failed: status.failed }),
        ...(agent && { agent: slimAgent(agent) }),
      },
    }),
  }
}

type Agent = NonNullable<NonNullable<NodeState['status']>['agent']>

function slimAgent({ version, bootID, epoch, facts, order, backup }: Agent): Agent {
  const { apiServer, osImage } = facts
  return {
    ...{ version, bootID, epoch, drivers: [] },
    facts: {
      ...{ os: '', kernel: '', architecture: '', versionsOnOffer: [] },
      ...(apiServer !== undefined && { apiServer }),
      ...(osImage && { osImage }),
    },
    ...(order && { order: { ...order, steps: order.steps.map(({ logTail: _logTail, ...step }) => step) } }),
    ...(backup && { backup }),
  }
}

/** Of whatever else is watched: all but the record of who wrote which field. */
export function withoutManagers<T extends KubeObject>(object: T): T {
  const { managedFields: _managedFields, ...metadata } = object.metadata as KubeObject['metadata'] & {
    readonly managedFields?: unknown
  }
  return { ...object, metadata }
}

function slimMetadata({
  name,
  uid,
  resourceVersion,
  creationTimestamp,
  deletionTimestamp,
  labels,
}: KubeObject['metadata']) {
  return {
    ...{ name, uid, resourceVersion, creationTimestamp },
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(labels && { labels }),
  }
}
