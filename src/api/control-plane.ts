// What a control-plane host says of its API server and of etcd, and the question that makes it look anew.

import { z } from 'zod'
import { reasonSchema } from './reason.ts'
import { instantText } from './scalars.ts'

/** Names a question and the answer to it; nobody's clock is compared with another's. */
const questionName = z.string().min(1).max(64)

/** The operator asks, the agent of that node looks and answers in its status. */
export const controlPlaneQuestionSchema = z.strictObject({ ask: questionName })

export const maxEtcdMembers = 32
export const maxEtcdAlarms = 16

const memberID = z.string().max(20)

export const etcdMemberStateSchema = z.strictObject({
  id: memberID,
  name: z.string().max(253),
  learner: z.boolean(),
  healthy: z.boolean().describe('it answers, knows a leader, and can read what the others have agreed on'),
  leader: z.boolean(),
  version: z.string().max(64).optional(),
  dbBytes: z.int().min(0).optional(),
  behindBy: z.int().min(0).optional().describe('entries it lags behind the leader, where they are many'),
  problem: z.string().max(512).optional().describe('why it is not healthy'),
})

export const etcdReportSchema = z.strictObject({
  place: z
    .enum(['Local', 'External', 'None'])
    .describe('a member runs on this host; only others do; or nothing here tells of an etcd'),
  member: memberID.optional().describe('the member of this host'),
  members: z.array(etcdMemberStateSchema).max(maxEtcdMembers),
  alarms: z.array(z.string().max(64)).max(maxEtcdAlarms),
  reason: reasonSchema.optional().describe('why its members could not be asked'),
})

export const controlPlaneReportSchema = z.strictObject({
  answers: questionName.optional().describe('the question this answers'),
  after: z.string().max(320).optional().describe('the last order that had ended when this was looked at'),
  checkedAt: instantText.describe('by the host’s clock, for people; written when something changed or was asked'),
  apiServer: z
    .strictObject({ ready: z.boolean(), problem: z.string().max(512).optional() })
    .optional()
    .describe('this host’s own, by its /readyz; absent where the host has none that we know'),
  etcd: etcdReportSchema,
})

export type EtcdMemberState = z.infer<typeof etcdMemberStateSchema>
export type EtcdReport = z.infer<typeof etcdReportSchema>
export type ControlPlaneReport = z.infer<typeof controlPlaneReportSchema>
