import { cupcakeNodeMarks } from '../../api/cupcake.ts'
import { housekeeperMark } from '../../api/housekeeper.ts'
import type { Node } from '../../api/kube.ts'
import { inProgressAnnotation } from '../../core/maintenance/node-marks.ts'
import { cordonAnnotation } from '../../core/node/node-facts.ts'
import { markAnnotations } from '../../core/node/node-marks.ts'

const kept = new Set([
  ...[cordonAnnotation, inProgressAnnotation, housekeeperMark],
  ...[...markAnnotations, ...Object.values(cupcakeNodeMarks)],
])
const pressureTypes = new Set(['DiskPressure', 'MemoryPressure'])
const resources = new Set(['cpu', 'memory', 'pods'])

/** Only what is read: with thousands of nodes the rest (images, addresses, managed fields) would be most of the memory. */
export function slimNode({ metadata, spec, status }: Node): Node {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels, annotations } = metadata
  const ours = Object.entries(annotations ?? {}).filter(([name]) => kept.has(name))
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const pressures = status?.conditions?.filter(({ type, status: holds }) => pressureTypes.has(type) && holds === 'True')
  const info = status?.nodeInfo
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(labels && { labels }),
      ...(ours.length > 0 && { annotations: Object.fromEntries(ours) }),
    },
    spec: {
      ...(spec?.unschedulable && { unschedulable: true }),
      ...(spec?.taints?.length && {
        taints: spec.taints.map(({ key, value = '', effect }) => ({ key, value, effect })),
      }),
    },
    status: {
      conditions: [
        ...(ready
          ? [
              {
                type: 'Ready',
                status: ready.status,
                ...(ready.message !== undefined && { message: ready.message }),
                ...(ready.lastHeartbeatTime !== undefined && { lastHeartbeatTime: ready.lastHeartbeatTime }),
              },
            ]
          : []),
        ...(pressures ?? []).map(({ type, status: holds }) => ({ type, status: holds })),
      ],
      ...(status?.allocatable && { allocatable: askedFor(status.allocatable) }),
      ...(info && {
        nodeInfo: {
          kubeletVersion: info.kubeletVersion,
          bootID: info.bootID,
          ...(info.containerRuntimeVersion !== undefined && { containerRuntimeVersion: info.containerRuntimeVersion }),
        },
      }),
    },
  }
}

function askedFor(allocatable: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(allocatable).filter(([name]) => resources.has(name)))
}
