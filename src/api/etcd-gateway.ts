// What etcd's JSON gateway answers, as far as it is read. Numbers of 64 bits come as text; what is zero or empty is left out.

import { z } from 'zod'

const count = z.string().regex(/^\d+$/)

/** POST /v3/cluster/member/list; a member that never started has neither name nor client addresses. */
export const gatewayMembersSchema = z.object({
  members: z.array(
    z.object({
      ID: count,
      name: z.string().default(''),
      clientURLs: z.array(z.string()).default([]),
      peerURLs: z.array(z.string()).optional(),
      isLearner: z.boolean().default(false),
    }),
  ),
})

/** POST /v3/maintenance/status */
export const gatewayStatusSchema = z.object({
  header: z.object({ member_id: count, cluster_id: count.default('0'), revision: count.default('0') }),
  version: z.string(),
  dbSize: count.default('0'),
  leader: count.default('0').describe('0 = it knows none'),
  raftIndex: count.default('0'),
  raftAppliedIndex: count.default('0'),
})

/** POST /v3/maintenance/alarm */
export const gatewayAlarmsSchema = z.object({
  alarms: z.array(z.object({ memberID: count.default('0'), alarm: z.string() })).default([]),
})

/** POST /v3/kv/range and /v3/maintenance/transfer-leadership: that it answers is all, the latter with nothing. */
export const gatewayDoneSchema = z.object({})

/** POST /v3/kv/range, with the values. */
export const gatewayRangeSchema = z.object({
  kvs: z.array(z.object({ value: z.string().default(''), mod_revision: count })).default([]),
})

/** POST /v3/kv/txn */
export const gatewayTransactionSchema = z.object({ succeeded: z.boolean().default(false) })

/** One line of POST /v3/maintenance/snapshot; an error may come in the middle of it. */
export const gatewaySnapshotSchema = z.union([
  z.object({ result: z.object({ blob: z.string().default('') }) }),
  z.object({ error: z.object({ message: z.string() }) }),
])

/** With a status other than 200. */
export const gatewayFailureSchema = z.object({ message: z.string() })

export type GatewayAlarm = z.infer<typeof gatewayAlarmsSchema>['alarms'][number]
export type GatewayMember = z.infer<typeof gatewayMembersSchema>['members'][number]
export type GatewayStatus = z.infer<typeof gatewayStatusSchema>

/** `etcdutl snapshot status FILE --write-out=json`; older ones do not tell the version. */
export const snapshotStatusSchema = z.object({ revision: z.int(), version: z.string().default('') })
