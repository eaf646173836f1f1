// The Plan of system-upgrade-controller, as far as it can be carried over. Loose: what is not read here is remarked on.

import { z } from 'zod'
import type { KubeObject, ResourceType } from './kube.ts'

const containerSchema = z.looseObject({
  image: z.string(),
  command: z.array(z.string()).nullish(),
  args: z.array(z.string()).nullish(),
  envs: z.array(z.unknown()).nullish(),
  envFrom: z.array(z.unknown()).nullish(),
  volumes: z.array(z.unknown()).nullish(),
})

const selectorSchema = z.looseObject({
  matchLabels: z.record(z.string(), z.string()).nullish(),
  matchExpressions: z
    .array(
      z.looseObject({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
})

const drainSchema = z.looseObject({
  timeout: z.union([z.string(), z.number()]).nullish().describe('a duration, or nanoseconds'),
  gracePeriod: z.number().nullish(),
  deleteLocalData: z.boolean().nullish(),
  deleteEmptydirData: z.boolean().nullish(),
  ignoreDaemonSets: z.boolean().nullish(),
  force: z.boolean().nullish(),
  disableEviction: z.boolean().nullish(),
  skipWaitForDeleteTimeout: z.number().nullish(),
  podSelector: selectorSchema.nullish(),
})

export const upgradePlanSchema = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
  spec: z.looseObject({
    concurrency: z.number().nullish(),
    jobActiveDeadlineSecs: z.number().nullish(),
    nodeSelector: selectorSchema.nullish(),
    channel: z.string().nullish(),
    version: z.string().nullish(),
    secrets: z.array(z.looseObject({ name: z.string(), path: z.string() })).nullish(),
    window: z
      .looseObject({
        days: z.array(z.string()).nullish(),
        startTime: z.string().nullish(),
        endTime: z.string().nullish(),
        timeZone: z.string().nullish(),
      })
      .nullish(),
    prepare: containerSchema.nullish(),
    upgrade: containerSchema,
    cordon: z.boolean().nullish(),
    drain: drainSchema.nullish(),
    postCompleteDelay: z.string().nullish(),
  }),
  status: z.looseObject({ latestVersion: z.string().nullish() }).nullish(),
})

export type UpgradePlan = z.infer<typeof upgradePlanSchema>
export type PlanSelector = z.infer<typeof selectorSchema>
export type PlanContainer = z.infer<typeof containerSchema>
export type PlanDrain = z.infer<typeof drainSchema>

export const upgradePlans: ResourceType<KubeObject> = {
  apiVersion: 'upgrade.cattle.io/v1',
  kind: 'Plan',
  plural: 'plans',
  namespaced: true,
}
