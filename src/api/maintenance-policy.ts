// MaintenancePolicy: one object, named `default`. Its status is the ledger, the only place that grants the right to disrupt.

import { z } from 'zod'
import { backupStoresSchema, externalEtcdSchema, storeRecordsSchema } from './backup-plan.ts'
import { budgetSchema } from './budget.ts'
import { type CelRule, celRules } from './cel-rule.ts'
import { conditionSchema } from './direct-update.ts'
import { drainSettingsSchema } from './drain-settings.ts'
import { foreignLockSchema } from './foreign-lock.ts'
import { gatesSchema } from './gate.ts'
import type { KubeObject, ResourceType } from './kube.ts'
import { receiverRecordsSchema, receiversSchema } from './notification.ts'
import { reasonSchema } from './reason.ts'
import { registriesSchema } from './registry-settings.ts'
import {
  absolutePath,
  durationText,
  instantText,
  labelSelector,
  objectName,
  sha256Text,
  webAddress,
} from './scalars.ts'
import { silencesSchema } from './silence.ts'
import { freezesSchema, windowsSchema } from './window.ts'
import { maxJobs } from './work.ts'

const oneSource = 'names exactly one of configMap and url'
const namedOnce = 'has a job name twice: each job has its own'

const jobSchema = z
  .strictObject({
    name: objectName,
    priority: z.int().min(0).max(1000).optional().describe('lower numbers run first. Default 99'),
    configMap: objectName.optional().describe('in the operator’s namespace; its key "script" is the content'),
    url: webAddress.optional().describe('where each host fetches it, before it is drained'),
    sha256: sha256Text.describe('of the script; with another one the job is another, and runs again'),
    validate: z
      .strictObject({ configMap: objectName, sha256: sha256Text })
      .optional()
      .describe('run afterwards; its exit code decides'),
    nodeSelector: labelSelector.optional().describe('absent = every node'),
  })
  .refine(({ configMap, url }) => (configMap === undefined) !== (url === undefined), oneSource)
  .meta(celRules({ rule: 'has(self.configMap) != has(self.url)', message: oneSource }))

export const maintenanceSchema = z.strictObject({
  required: absolutePath
    .optional()
    .describe('the file by which a script asks for its node. Default /var/maintenance-required'),
  inProgress: absolutePath
    .optional()
    .describe('the file that says that the node is empty. Default /var/maintenance-in-progress'),
  timeout: durationText
    .optional()
    .describe('after this a person is called for; the node stays as it is, and nothing is cut short. Default 1h'),
  jobs: z
    .array(jobSchema)
    .max(maxJobs)
    .refine((jobs) => new Set(jobs.map(({ name }) => name)).size === jobs.length, namedOnce)
    .meta(celRules({ rule: 'self.all(a, self.exists_one(b, b.name == a.name))', message: namedOnce }))
    .optional()
    .describe('scripts that run once on each node, while it is empty'),
})

export const maintenancePolicySpecSchema = z.strictObject({
  paused: z.boolean().optional().describe('emergency stop: nothing new starts, anywhere'),
  budgets: z.array(budgetSchema).max(16).optional(),
  windows: windowsSchema.optional().describe('when work may start on nodes; absent = at any time'),
  freezes: freezesSchema.optional().describe('when nothing starts, whatever the windows say'),
  whenWindowCloses: z
    .enum(['FinishNode', 'Hold'])
    .optional()
    .describe(
      'FinishNode: nodes that were taken are finished. Hold: those that only drain wait for the next window as they are; work that runs is finished. Default FinishNode',
    ),
  locks: z
    .array(foreignLockSchema)
    .max(4)
    .optional()
    .describe('locks of other tools that are taken before the first node goes, and honoured while others have them'),
  drain: drainSettingsSchema.optional(),
  gates: gatesSchema
    .optional()
    .describe('before and after every node, whatever it is taken for: updates, profiles, maintenance, reboots'),
  reboots: z
    .strictObject({
      sentinels: z
        .array(absolutePath)
        .max(8)
        .optional()
        .describe('files that ask for a reboot, as /var/run/reboot-required'),
      command: z
        .array(z.string().min(1).max(1024))
        .min(1)
        .max(16)
        .optional()
        .describe('a program and its arguments, run from time to time; exit code 0 asks for a reboot'),
    })
    .optional()
    .describe('reboots a host asks for, one drain for each. Absent = off: nothing is rebooted'),
  maintenance: maintenanceSchema.optional().describe('maintenance by scripts of the hosts and by jobs. Absent = off'),
  taintWhileWaiting: z
    .boolean()
    .optional()
    .describe(
      'keep new pods off nodes that wait for their turn where others can take them (PreferNoSchedule). Default false',
    ),
  leaveLoadBalancers: z
    .boolean()
    .optional()
    .describe(
      'nodes under work carry the label node.kubernetes.io/exclude-from-external-load-balancers. Default false',
    ),
  datastore: z
    .enum(['Etcd', 'Other'])
    .optional()
    .describe(
      'Other: the cluster keeps its state in something else than etcd, as k3s on SQL does; a control-plane host on which no etcd is found then waits for none. Default Etcd',
    ),
  registries: registriesSchema
    .optional()
    .describe('how the operator asks registries what a tag of os.image names; others are asked over https, as nobody'),
  history: z
    .strictObject({
      keepOperations: z.int().min(1).max(1000).optional().describe('per node. Default 20'),
      keepFor: durationText.optional().describe('Default 720h'),
    })
    .optional()
    .describe('how long what ended is kept on the hosts; the newest always is'),
  backupStores: backupStoresSchema.optional().describe('where backups of etcd go; the first is the default'),
  etcd: externalEtcdSchema
    .optional()
    .describe('an etcd that the files of the control-plane hosts do not tell of, for backups'),
  silences: silencesSchema.optional().describe('silences in Alertmanager for nodes while they are under work'),
  notifications: receiversSchema.optional().describe('who is told what happens'),
})

/** On the policy: etcd was restored, and what the API says is of the past. Another text means another restore. */
export const restoredAnnotation = 'slipway.dev/restored'

export const grantSchema = z.strictObject({
  node: z.string().max(253),
  nodeUID: z.string().max(64),
  holder: z.string().max(320).describe('the operation that holds the node'),
  since: instantText,
})

export const turnSchema = z.strictObject({
  lane: z.string().max(320).describe('a DirectUpdate, a NodeProfile, or all maintenance together'),
  at: instantText.describe('when it was last given a node'),
})

export const maintenancePolicyStatusSchema = z.strictObject({
  observedGeneration: z.int().optional(),
  conditions: z
    .array(conditionSchema)
    .max(8)
    .optional()
    .describe(
      'Accepted: False names what cannot be carried out. ApiServersReady, NodesReady, CertificatesValid, BackupsRecent: how the cluster is',
    ),
  ledger: z
    .strictObject({
      epoch: z.int().min(0),
      grants: z.array(grantSchema).max(10_000),
      turns: z.array(turnSchema).max(1000).optional().describe('whoever was given a node longest ago is next'),
      restored: z.string().max(64).optional().describe('the last restore of etcd after which every agent has reported'),
    })
    .optional(),
  rollCall: z
    .strictObject({
      name: z.string().max(64),
      since: instantText,
      waitingFor: z.array(z.string().max(253)).max(20).describe('nodes whose agent has not reported, twenty at most'),
      left: z.int().min(0).describe('how many'),
      reason: reasonSchema,
    })
    .optional()
    .describe('etcd was restored: nothing starts before every agent has said what its host does'),
  backups: storeRecordsSchema.optional(),
  notifications: receiverRecordsSchema.optional().describe('what each receiver has been told'),
})

export type MaintenanceJob = z.infer<typeof jobSchema>
export type MaintenancePolicySpec = z.infer<typeof maintenancePolicySpecSchema>
export type Grant = z.infer<typeof grantSchema>
export type Turn = z.infer<typeof turnSchema>
export interface Ledger {
  readonly epoch: number
  readonly grants: readonly Grant[]
  readonly turns?: readonly Turn[] | undefined
  readonly restored?: string | undefined
}

export interface MaintenancePolicy extends KubeObject {
  readonly spec: z.infer<typeof maintenancePolicySpecSchema>
  readonly status?: z.infer<typeof maintenancePolicyStatusSchema>
}

export const policyName = 'default'
/** Who set spec.paused, where no person did: uninstall takes back what it set itself. Whoever sets it otherwise takes this off. */
export const stopAnnotation = 'slipway.dev/stopped-by'

export const maintenancePolicyRules: readonly CelRule[] = [
  {
    rule: `self.metadata.name == '${policyName}'`,
    message: `metadata.name must be ${policyName}: a cluster has one MaintenancePolicy`,
  },
]

export const maintenancePolicies: ResourceType<MaintenancePolicy> = {
  apiVersion: 'slipway.dev/v1alpha1',
  kind: 'MaintenancePolicy',
  plural: 'maintenancepolicies',
  namespaced: false,
}
