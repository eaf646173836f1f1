// What the agent writes on the host's disk, file by file. Each is sealed (agent/journal/sealed-file.ts) and pretty-printed, so
// that a person can read it and a damaged one is recognised. A change of these shapes needs a new `journalFormat`.

import { z } from 'zod'
import {
  agentOrderSchema,
  agentStatusSchema,
  doneJobSchema,
  maxDoneJobs,
  maxSteps,
  nodeStateSpecSchema,
  orderSchema,
} from './node-state.ts'
import { reasonSchema } from './reason.ts'
import { instantText } from './scalars.ts'

export const journalFormat = 2
/** What this agent can take over; src/agent/journal/take-over.ts says what changed since. */
export const oldestJournalFormat = 1

/** `agent.json`: what must outlive every order. */
export const agentRecordSchema = z.strictObject({
  epoch: z.int().min(0).describe('the highest ledger epoch of an accepted order'),
  nodeUID: z.string().max(64).describe('the Node this machine was at the last accepted order; empty before'),
})

/** `host-key`: X25519, base64; the private half never leaves the host. */
export const hostKeySchema = z.strictObject({ publicKey: z.string().max(64), privateKey: z.string().max(64) })

/** `orders/<order>/order.json`: the whole order as it was accepted; nothing of it is looked up again. */
export const acceptedOrderSchema = z.strictObject({
  acceptedAt: instantText.describe('by the host’s wall clock; what of the time-out is used, `notes/time` says'),
  steps: z.array(z.string().max(64)).max(maxSteps),
  undo: z
    .array(z.string().max(64))
    .max(maxSteps)
    .optional()
    .describe('the steps that take it back, in their order; run only when one of the others failed'),
  order: orderSchema,
})

/** `released`: the order was let run; its time-out counts from here, not from when it began to stage. */
export const releasedSchema = z.strictObject({ at: instantText })

/** `failure`: a step failed for good; what was done is being undone. */
export const failureSchema = z.strictObject({
  index: z.int().min(0),
  finishedAt: instantText,
  reason: reasonSchema,
  logTail: z.string().max(4096).optional(),
})

/** `warnings`: what a person should know although the work went on. */
export const warningsSchema = z.strictObject({ warnings: z.array(z.string().max(512)).max(16) })

const processIdentity = z.strictObject({
  pid: z.int(),
  startTime: z.string(),
  bootId: z.string(),
  unit: z.string().optional(),
})

/** `step-NN-name.inprogress`: one start of a step, written before the first line of it runs. */
export const stepStartSchema = z.strictObject({
  step: z.string().max(64),
  starts: z.int().min(1).describe('how often it was started, this start included; names its log and its result'),
  failures: z.int().min(0).describe('how many earlier starts failed'),
  cutOff: z.int().min(0).describe('how many earlier starts in the same boot left neither process nor result'),
  startedAt: instantText,
  process: processIdentity.describe('pid 0 = the agent did it itself'),
})

/** `notes/time`: how far an order's time has gone; written when it is let run, at each start of a program and after each boot. */
export const orderTimeMarkSchema = z.strictObject({
  bootId: z.string(),
  uptimeMs: z.int().min(0).describe('when this was written, by the machine’s own count; compared within one boot only'),
  at: instantText.describe('the same by the wall clock, which is all there is across a boot'),
  usedMs: z.int().min(0).describe('of the order’s time-out, by then'),
  begun: z
    .strictObject({ step: z.string().max(64), starts: z.int().min(1) })
    .optional()
    .describe('the program that was started then'),
})

/** `notes/reboot-sentinels`: how the host may ask for a reboot in this order, as it was when the order was staged. */
export const rebootSentinelsSchema = z.strictObject({
  settings: nodeStateSpecSchema.shape.sentinels.unwrap().pick({ reboot: true, rebootCommand: true }),
  before: agentStatusSchema.shape.sentinels
    .unwrap()
    .pick({ rebootRequired: true, rebootAskedIn: true, rebootFiles: true })
    .extend({ rebootWrittenAt: instantText.optional().describe('in notes of earlier agents; not read any more') })
    .describe('what had been seen of it'),
})

/** `notes/<work>`: long work that is no step; without `process` its end was told. */
export const longWorkSchema = z.strictObject({
  starts: z.int().min(1),
  process: processIdentity.optional(),
})

/** `notes/long-work`: all such work that was begun, so that none of it outlives its order. */
export const longWorksSchema = z.strictObject({ names: z.array(z.string()) })

/** `step-NN-name.done`: written after the effect was seen. */
export const stepDoneSchema = z.strictObject({
  step: z.string().max(64),
  starts: z.int().min(0).describe('0 = its effect was there already, nothing was run'),
  startedAt: instantText.optional(),
  finishedAt: instantText,
  logTail: z.string().max(4096).optional(),
})

/** `jobs.json`: the maintenance jobs this host has done, the latest last; none of them is run again. */
export const jobRecordSchema = z.strictObject({ jobs: z.array(doneJobSchema).max(maxDoneJobs) })

/** `kubeadm-upgrade.json`: the upgrade of this host's control plane that was begun and has not ended well; absent = there is none. */
export const begunUpgradeSchema = z.strictObject({
  nodeUID: z
    .string()
    .max(64)
    .describe('the Node it was begun on; a host that is another one by now has nothing to end'),
  version: z.string().max(64),
  mode: z
    .enum(['apply', 'node'])
    .describe('what kubeadm was told; an apply is repeated as one, whatever the cluster’s record says'),
  backups: z.array(z.string().max(255)).describe('kubeadm’s backups of manifests that were there before'),
})

/** `maintenance-failure.json`: what a maintenance script said went wrong; there until its request is. */
export const maintenanceFailureSchema = z.strictObject({ at: instantText, message: z.string().max(2048) })

/** `completed`, `failed`, `withdrawn` or `refused`: the agent's last word, reported again as often as it is asked for. */
export const orderEndSchema = z.strictObject({ report: agentOrderSchema })

export type Failure = z.infer<typeof failureSchema>
export type Released = z.infer<typeof releasedSchema>
export type AgentRecord = z.infer<typeof agentRecordSchema>
export type AcceptedOrder = z.infer<typeof acceptedOrderSchema>
export type OrderTimeMark = z.infer<typeof orderTimeMarkSchema>
export type StepStart = z.infer<typeof stepStartSchema>
export type StepDone = z.infer<typeof stepDoneSchema>
export type BegunUpgrade = z.infer<typeof begunUpgradeSchema>
export type OrderEnd = z.infer<typeof orderEndSchema>
