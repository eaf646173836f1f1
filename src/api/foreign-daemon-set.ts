// As much of another tool's DaemonSet as tells how that tool was set up: its flags, its environment and what it mounts.

import { z } from 'zod'

const words = z.array(z.string()).nullish()

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string().optional(),
  command: words,
  args: words,
  env: z
    .array(z.looseObject({ name: z.string(), value: z.string().optional(), valueFrom: z.unknown().optional() }))
    .nullish(),
  envFrom: z.array(z.unknown()).nullish(),
  volumeMounts: z
    .array(z.looseObject({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() }))
    .nullish(),
})

export const foreignDaemonSetSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.array(containerSchema),
        nodeSelector: z.record(z.string(), z.string()).nullish(),
        affinity: z.looseObject({ nodeAffinity: z.unknown().optional() }).nullish(),
        volumes: z
          .array(z.looseObject({ name: z.string(), hostPath: z.looseObject({ path: z.string() }).nullish() }))
          .nullish(),
      }),
    }),
  }),
})

export type ForeignDaemonSet = z.infer<typeof foreignDaemonSetSchema>
export type ForeignContainer = z.infer<typeof containerSchema>
