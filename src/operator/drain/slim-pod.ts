import type { Pod } from '../../api/kube.ts'

const mirror = 'kubernetes.io/config.mirror'

/** Only what a drain reads: labels for budgets, owner, data volumes, readiness. */
export function slimPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels, ownerReferences } =
    metadata
  const mirrored = metadata.annotations?.[mirror]
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...(namespace !== undefined && { namespace }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(labels && { labels }),
      ...(ownerReferences && { ownerReferences }),
      ...(mirrored !== undefined && { annotations: { [mirror]: mirrored } }),
    },
    spec: {
      containers: [],
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      ...(spec.nodeSelector && { nodeSelector: spec.nodeSelector }),
      ...(spec.tolerations && { tolerations: spec.tolerations }),
      volumes: (spec.volumes ?? [])
        .filter(({ emptyDir }) => emptyDir !== undefined)
        .map(({ name: volume }) => ({ name: volume, emptyDir: {} })),
    },
    status: {
      ...(status?.phase !== undefined && { phase: status.phase }),
      ...(ready && { conditions: [{ type: 'Ready', status: ready.status }] }),
    },
  }
}
