import type { Pod, PodSpec } from '../../api/kube.ts'

type Volume = NonNullable<PodSpec['volumes']>[number]

const mirror = 'kubernetes.io/config.mirror'

/** Only what a drain reads: labels for budgets and rules, owner, data volumes, readiness, what keeps it. */
export function slimPod({ metadata, spec, status }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, creationTimestamp, labels, ownerReferences } = metadata
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = metadata
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
      ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
      ...(finalizers && { finalizers }),
      ...(labels && { labels }),
      ...(ownerReferences && { ownerReferences }),
      ...(mirrored !== undefined && { annotations: { [mirror]: mirrored } }),
    },
    spec: {
      containers: [],
      ...(spec.nodeName !== undefined && { nodeName: spec.nodeName }),
      ...(spec.nodeSelector && { nodeSelector: spec.nodeSelector }),
      ...(spec.tolerations && { tolerations: spec.tolerations }),
      volumes: (spec.volumes ?? []).flatMap(slimVolume),
    },
    status: {
      ...(status?.phase !== undefined && { phase: status.phase }),
      ...(ready && { conditions: [{ type: 'Ready', status: ready.status }] }),
    },
  }
}

function slimVolume({ name, emptyDir, persistentVolumeClaim, ephemeral }: Volume): readonly Volume[] {
  if (emptyDir !== undefined) return [{ name, emptyDir: {} }]
  if (persistentVolumeClaim) return [{ name, persistentVolumeClaim }]
  return ephemeral === undefined ? [] : [{ name, ephemeral: {} }]
}
