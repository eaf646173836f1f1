// The CustomResourceDefinitions, as `make crds` writes them to deploy/crds and `slipway install` prints them.

import type { z } from 'zod'
import type { CelRule } from '../../api/cel-rule.ts'
import {
  directUpdateRules,
  directUpdateSpecSchema,
  directUpdateStatusSchema,
  directUpdates,
} from '../../api/direct-update.ts'
import type { ResourceType } from '../../api/kube.ts'
import {
  maintenancePolicies,
  maintenancePolicyRules,
  maintenancePolicySpecSchema,
  maintenancePolicyStatusSchema,
} from '../../api/maintenance-policy.ts'
import {
  nodeProfileRules,
  nodeProfileSpecSchema,
  nodeProfileStatusSchema,
  nodeProfiles,
} from '../../api/node-profile.ts'
import { nodeStateSpecSchema, nodeStateStatusSchema, nodeStates } from '../../api/node-state.ts'
import {
  scheduledUpdateRules,
  scheduledUpdateSpecSchema,
  scheduledUpdateStatusSchema,
  scheduledUpdates,
  updateScheduleSpecSchema,
  updateScheduleStatusSchema,
  updateSchedules,
} from '../../api/schedule.ts'
import { age, type Column, count, date, flag, text, wide } from './column.ts'
import { type CustomResourceDefinition, customResource } from './custom-resource.ts'
import { structuralSchema } from './structural-schema.ts'

interface Definition {
  readonly resource: ResourceType
  readonly shortName: string
  readonly description: string
  readonly columns: readonly Column[]
  readonly rules: readonly CelRule[]
  readonly spec: z.ZodType
  readonly status: z.ZodType
}

const definitions: readonly Definition[] = [
  {
    resource: directUpdates,
    shortName: 'sdu',
    description: 'Runs one update now on the nodes it selects.',
    columns: [
      text('Phase', '.status.phase'),
      text('Progress', '.status.progress'),
      text('Target', '.spec.kubernetes.version'),
      wide(text('Script', '.spec.script.configMap')),
      age,
    ],
    rules: directUpdateRules,
    spec: directUpdateSpecSchema,
    status: directUpdateStatusSchema,
  },
  {
    resource: scheduledUpdates,
    shortName: 'ssu',
    description: 'Makes one DirectUpdate at a given time, and follows it to its end.',
    columns: [text('Phase', '.status.phase'), text('At', '.spec.at'), text('Update', '.status.update'), age],
    rules: scheduledUpdateRules,
    spec: scheduledUpdateSpecSchema,
    status: scheduledUpdateStatusSchema,
  },
  {
    resource: updateSchedules,
    shortName: 'sus',
    description: 'Makes a DirectUpdate again and again, at the times of a cron expression.',
    columns: [
      text('Cron', '.spec.cron'),
      text('Zone', '.spec.timeZone'),
      flag('Suspended', '.spec.suspended'),
      count('Active', '.status.active'),
      date('Last', '.status.lastScheduled'),
      text('Next', '.status.nextScheduled'),
      age,
    ],
    rules: [],
    spec: updateScheduleSpecSchema,
    status: updateScheduleStatusSchema,
  },
  {
    resource: nodeStates,
    shortName: 'nst',
    description: 'What is to be done on one node, and what became of it. Written by Slipway only, named as the node.',
    columns: [
      text('Phase', '.status.rollout.phase'),
      text('Update', '.status.rollout.update'),
      text('Kubelet', '.status.agent.facts.kubelet'),
      wide(text('Order', '.status.agent.order.state')),
      wide(text('Reason', '.status.rollout.reason.message')),
      age,
    ],
    rules: [],
    spec: nodeStateSpecSchema,
    status: nodeStateStatusSchema,
  },
  {
    resource: nodeProfiles,
    shortName: 'snp',
    description: 'What every host of a kind should have, kept true; removing it takes back what it added.',
    columns: [
      text('Phase', '.status.phase'),
      count('Nodes', '.status.nodes.total'),
      count('Applied', '.status.nodes.applied'),
      count('Drifted', '.status.nodes.drifted'),
      count('Failed', '.status.nodes.failed'),
      wide(count('Priority', '.spec.priority')),
      age,
    ],
    rules: nodeProfileRules,
    spec: nodeProfileSpecSchema,
    status: nodeProfileStatusSchema,
  },
  {
    resource: maintenancePolicies,
    shortName: 'smp',
    description: 'How much of the cluster may be away at once, and the ledger of what is. One object, named default.',
    columns: [flag('Paused', '.spec.paused'), count('Epoch', '.status.ledger.epoch'), age],
    rules: maintenancePolicyRules,
    spec: maintenancePolicySpecSchema,
    status: maintenancePolicyStatusSchema,
  },
]

export function resourceDefinitions(): readonly CustomResourceDefinition[] {
  return definitions.map(resourceDefinition)
}

function resourceDefinition(definition: Definition): CustomResourceDefinition {
  const { resource, shortName, columns } = definition
  const names = { shortNames: [shortName], categories: ['slipway'] }
  return customResource({ resource, names, columns, schema: objectSchema(definition) })
}

function objectSchema({ description, rules, spec, status }: Definition): object {
  return {
    type: 'object',
    description,
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec),
      status: structuralSchema(status),
    },
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  }
}
