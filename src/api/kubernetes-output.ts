// What kubectl, kubeadm and crictl print on a host, as far as it is read; anything else in it is ignored.

import { z } from 'zod'

/** GET of kube-system/kubeadm-config. */
export const kubeadmConfigMapSchema = z.object({ data: z.object({ ClusterConfiguration: z.string() }) })

export const clusterConfigurationSchema = z.object({ kubernetesVersion: z.string() })

export const imageRepositorySchema = z.object({ imageRepository: z.string().min(1).optional() })

/** A manifest below /etc/kubernetes/manifests. */
export const staticPodSchema = z.object({
  spec: z.object({
    containers: z
      .array(
        z.object({ image: z.string(), command: z.array(z.string()).optional(), args: z.array(z.string()).optional() }),
      )
      .min(1),
  }),
})

export const podListSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ labels: z.record(z.string(), z.string()).optional() }),
      spec: z.object({ containers: z.array(z.object({ image: z.string() })) }),
      status: z.object({
        containerStatuses: z.array(z.object({ ready: z.boolean() })).optional(),
      }),
    }),
  ),
})

export const nodeListSchema = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      spec: z.object({
        unschedulable: z.boolean().optional(),
        taints: z.array(z.object({ key: z.string(), effect: z.string() })).optional(),
      }),
      status: z.object({ conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional() }),
    }),
  ),
})

/** `kubectl get --raw /version`. */
export const serverVersionSchema = z.object({ gitVersion: z.string() })

/** `kubeadm config images list -o json`. */
export const imageListSchema = z.object({ images: z.array(z.string()) })

/** `crictl info`: what the runtime says of itself. */
export const crictlInfoSchema = z.object({
  status: z.object({
    conditions: z.array(
      z.object({
        type: z.string(),
        status: z.boolean(),
        reason: z.string().default(''),
        message: z.string().default(''),
      }),
    ),
  }),
})

/** `crictl images -o json`. */
export const crictlImagesSchema = z.object({
  images: z.array(z.object({ repoTags: z.array(z.string()).nullish(), repoDigests: z.array(z.string()).nullish() })),
})

/** `kubeadm certs check-expiration -o json`. */
export const certificateExpirationSchema = z.object({
  certificates: z.array(
    z.object({
      name: z.string(),
      expirationDate: z.string().nullish(),
      residualTime: z.number().describe('in seconds'),
      missing: z.boolean().optional(),
    }),
  ),
})

export type StaticPod = z.infer<typeof staticPodSchema>
export type PodList = z.infer<typeof podListSchema>
export type NodeList = z.infer<typeof nodeListSchema>
export type CertificateExpiration = z.infer<typeof certificateExpirationSchema>
