// The Update of Housekeeper (housekeeper.io/v1alpha1), as its users wrote it. Nothing is refused here that its own definition
// took: what cannot be carried out is told on the object.

import { z } from 'zod'
import type { KubeObject, ResourceType } from './kube.ts'

export const housekeeperSpecSchema = z.object({
  osImageURL: z
    .string()
    .optional()
    .describe('the image that the operating system of each node comes from: REPOSITORY/NAME[:TAG@DIGEST]'),
  kubeVersion: z
    .string()
    .optional()
    .describe('the version Kubernetes is brought to; empty where only the operating system is'),
  evictPodForce: z.boolean().optional().describe('also delete pods that nothing would make again. Default false'),
  maxUnavailable: z.int().optional().describe('how many workers at once. Default 1'),
})

/** Housekeeper's own definition has no fields here and drops what is written; ours, which takes its place, keeps it. */
export const housekeeperStatusSchema = z.object({
  observedGeneration: z.int().optional(),
  phase: z.string().optional().describe('of the DirectUpdate that carries it out, or Waiting, Refused or Gone'),
  update: z.string().optional().describe('the DirectUpdate (slipway.dev) that carries it out'),
  progress: z.string().optional().describe('nodes that are done, of all: 4/12'),
  message: z.string().optional().describe('what it waits for, or why it cannot be carried out'),
})

export type HousekeeperSpec = z.infer<typeof housekeeperSpecSchema>
export type HousekeeperStatus = z.infer<typeof housekeeperStatusSchema>

export interface HousekeeperUpdate extends KubeObject {
  /** What others' definitions let through, so it is read by the schema above. */
  readonly spec?: unknown
  readonly status?: HousekeeperStatus
}

export const housekeeperUpdates: ResourceType<HousekeeperUpdate> = {
  apiVersion: 'housekeeper.io/v1alpha1',
  kind: 'Update',
  plural: 'updates',
  namespaced: true,
}

/** On nodes, without a value: while they are worked on, and from then until every node is done. */
export const housekeeperLabels = {
  upgrading: 'upgrade.housekeeper.io/upgrading',
  completed: 'upgrade.housekeeper.io/upgradeCompleted',
} as const

/** On nodes: that these labels are ours to take off, and for which DirectUpdate they are there. */
export const housekeeperMark = 'slipway.dev/housekeeper'

/** Below it the programs of Housekeeper look for what a host has had. */
export const stampFolder = '/var/nkd'

/** On ours: the uid of the Update it is for. An owner reference cannot lead from a cluster's object into a namespace. */
export const housekeeperOwnerLabel = 'slipway.dev/housekeeper-update'

/** On theirs, since its status keeps nothing. */
export const housekeeperResult = {
  update: 'slipway.dev/update',
  phase: 'slipway.dev/phase',
  progress: 'slipway.dev/progress',
  message: 'slipway.dev/message',
  /** What of it was carried out: with another mark it is another wish. */
  carried: 'slipway.dev/carried',
} as const
