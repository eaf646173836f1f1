// Gates: what must hold before a node is taken, before it counts as done, and before the next wave starts. Unknown counts
// as not holding.

import { z } from 'zod'
import { celRules } from './cel-rule.ts'
import { keyReference } from './key-reference.ts'
import { reasonSchema } from './reason.ts'
import { durationText, instantText, labelSelector, objectName, shapedText, webAddress } from './scalars.ts'

export const gateTypes = ['NodeReady', 'PodsReady', 'Prometheus', 'Alertmanager', 'Http', 'Job', 'Cel'] as const
export const gatePoints = ['BeforeNode', 'AfterNode', 'AfterWave', 'Soak'] as const
/** The API server prices every rule by how often it may run: more would not fit. */
export const maxGates = 8

export type GateType = (typeof gateTypes)[number]
export type GatePoint = (typeof gatePoints)[number]

const labelName = shapedText(63, '[a-z0-9]([-a-z0-9]*[a-z0-9])?', 'must be a short name such as ceph-healthy')

const objectSchema = z.strictObject({
  apiVersion: shapedText(
    253,
    '([a-z0-9.-]+/)?v[a-z0-9]+',
    'must be a group and version such as ceph.rook.io/v1, or v1',
  ),
  resource: shapedText(
    63,
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
    'must be the plural name as kubectl api-resources prints it, such as cephclusters',
  ),
  namespace: objectName.optional().describe('absent = all namespaces, or a kind without'),
  name: objectName.optional().describe('one object; without it all that the selector selects'),
  selector: labelSelector.optional(),
})

/** Which fields each type needs besides `type`. */
const needed: Readonly<Record<GateType, readonly string[]>> = {
  NodeReady: [],
  PodsReady: [],
  Prometheus: ['url', 'query'],
  Alertmanager: ['url'],
  Http: ['url'],
  Job: ['cronJob'],
  Cel: ['expression'],
}

/** Which further fields it takes; those of none are refused: a gate that does not read a field must not seem to. */
const taken: Readonly<Record<GateType, readonly string[]>> = {
  NodeReady: ['selector'],
  PodsReady: ['selector', 'namespace', 'onNode', 'atLeast'],
  Prometheus: ['max', 'min', 'equals', 'whenEmpty', 'bearerToken', 'ca'],
  Alertmanager: ['matchers', 'bearerToken', 'ca'],
  Http: ['expectStatus', 'expectBody', 'bearerToken', 'ca'],
  Job: ['onNode'],
  Cel: ['object'],
}

const special = [...new Set(gateTypes.flatMap((type) => [...needed[type], ...taken[type]]))]
const missing = (type: GateType) => `a gate of type ${type} needs ${needed[type].join(' and ')}`
const foreign = (type: GateType) =>
  `a gate of type ${type} takes ${[...needed[type], ...taken[type]].join(', ')} besides name, type, when, timeout and every`
const bounds = 'a gate of type Prometheus needs max, min or equals'
const wantsTypes = gateTypes.filter((type) => needed[type].length > 0)

export const gateSchema = z
  .strictObject({
    name: labelName.optional().describe('for people. Default: the type'),
    type: z.enum(gateTypes),
    when: z
      .enum(gatePoints)
      .optional()
      .describe(
        'BeforeNode: before a node is taken. AfterNode: while it is still cordoned. AfterWave: before the next wave and before the end. Soak: during the whole soak of a wave. Default BeforeNode, of a Job AfterNode',
      ),
    timeout: durationText
      .optional()
      .describe('how long it may not hold, or not be known, before it counts as failed. Default 5m'),
    every: durationText.optional().describe('how often what cannot be watched is looked at. Default 10s'),
    selector: labelSelector.optional().describe('NodeReady: of nodes; PodsReady: of pods. Absent = all'),
    namespace: objectName.optional().describe('of the pods. Absent = all namespaces'),
    onNode: z.boolean().optional().describe('PodsReady: only the pods of that node; Job: it runs on that node'),
    atLeast: z
      .int()
      .min(0)
      .max(100_000)
      .optional()
      .describe('so many pods must be there, and all that are must be Ready. Default 1'),
    url: webAddress.optional().describe('of the server; Prometheus and Alertmanager without /api'),
    query: z.string().min(1).max(4096).optional().describe('PromQL; every value it gives must be within the bounds'),
    max: z.number().optional(),
    min: z.number().optional(),
    equals: z.number().optional(),
    whenEmpty: z.enum(['Fail', 'Pass']).optional().describe('a query that gives no value at all. Default Fail'),
    matchers: z
      .array(z.string().min(1).max(512))
      .max(16)
      .optional()
      .describe('which firing alerts count, such as severity="critical". Absent = all'),
    expectStatus: z.array(z.int().min(100).max(599)).min(1).max(8).optional().describe('Default any from 200 to 299'),
    expectBody: z.string().min(1).max(1024).optional().describe('the answer must contain this'),
    bearerToken: keyReference.optional().describe('a key of a Secret in the operator’s namespace'),
    ca: keyReference
      .optional()
      .describe('a key of a ConfigMap in the operator’s namespace: the certificate authority, PEM'),
    cronJob: objectName
      .optional()
      .describe('a CronJob in the operator’s namespace (suspended, say); its template is run as a Job of its own'),
    object: objectSchema.optional().describe('what the expression reads, besides the node and the wave'),
    expression: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe('CEL over object, objects, node and wave that must be true; a field that is missing is not known'),
  })
  .superRefine((gate, context) => {
    const has = (field: string) => (gate as Readonly<Record<string, unknown>>)[field] !== undefined
    const say = (message: string) => context.addIssue({ code: 'custom', message })
    if (!needed[gate.type].every(has)) say(missing(gate.type))
    const allowed = new Set([...needed[gate.type], ...taken[gate.type]])
    if (special.some((field) => has(field) && !allowed.has(field))) say(foreign(gate.type))
    if (gate.type === 'Prometheus' && !['max', 'min', 'equals'].some(has)) say(bounds)
  })
  .meta(
    celRules(
      ...wantsTypes.map((type) => ({
        rule: `self.type != '${type}' || (${needed[type].map((field) => `has(self.${field})`).join(' && ')})`,
        message: missing(type),
      })),
      ...gateTypes.map((type) => ({
        rule: `self.type != '${type}' || !(${special
          .filter((field) => !needed[type].includes(field) && !taken[type].includes(field))
          .map((field) => `has(self.${field})`)
          .join(' || ')})`,
        message: foreign(type),
      })),
      {
        rule: "self.type != 'Prometheus' || has(self.max) || has(self.min) || has(self.equals)",
        message: bounds,
      },
    ),
  )

export const gatesSchema = z.array(gateSchema).max(maxGates)

/** Where a gate stands: only those that do not hold, so that a restart does not start their time anew. */
export const gateStatusSchema = z.strictObject({
  name: z.string().max(80),
  when: z.enum(gatePoints),
  node: z.string().max(253).optional(),
  wave: z.int().min(0).optional(),
  state: z.enum(['Waiting', 'Failed']),
  since: instantText,
  reason: reasonSchema,
})

export const gateStatusesSchema = z.array(gateStatusSchema).max(2 * maxGates)

export type GateSpec = z.infer<typeof gateSchema>
export type GateStatus = z.infer<typeof gateStatusSchema>
