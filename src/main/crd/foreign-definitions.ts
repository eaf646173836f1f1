// The definitions of other systems' kinds, for clusters where those systems never were, or are gone: whatever their own
// definitions took, these take as well. `make crds` writes them to deploy/foreign-crds.

import type { z } from 'zod'
import {
  cupcakeDirectSpecSchema,
  cupcakeDirectStatusSchema,
  cupcakeDirectUpdates,
  cupcakeScheduledSpecSchema,
  cupcakeScheduledStatusSchema,
  cupcakeScheduledUpdates,
  cupcakeScheduleSpecSchema,
  cupcakeScheduleStatusSchema,
  cupcakeUpdateSchedules,
} from '../../api/cupcake.ts'
import { housekeeperSpecSchema, housekeeperStatusSchema, housekeeperUpdates } from '../../api/housekeeper.ts'
import type { ResourceType } from '../../api/kube.ts'
import { age, type Column, flag, text } from './column.ts'
import { type CustomResourceDefinition, customResource } from './custom-resource.ts'
import { structuralSchema } from './structural-schema.ts'

interface ForeignDefinition {
  readonly resource: ResourceType
  readonly shortNames: readonly string[]
  readonly columns: readonly Column[]
  readonly spec: z.ZodType
  readonly status: z.ZodType
}

const phase = text('Phase', '.status.phase')
const target = text('Target', '.spec.targetVersion')

const definitions: readonly ForeignDefinition[] = [
  {
    resource: cupcakeDirectUpdates,
    shortNames: ['du'],
    columns: [phase, target, text('Progress', '.status.summary.completed'), age],
    spec: cupcakeDirectSpecSchema,
    status: cupcakeDirectStatusSchema,
  },
  {
    resource: cupcakeScheduledUpdates,
    shortNames: ['su'],
    columns: [phase, target, text('Scheduled', '.spec.scheduleAt'), age],
    spec: cupcakeScheduledSpecSchema,
    status: cupcakeScheduledStatusSchema,
  },
  {
    resource: cupcakeUpdateSchedules,
    shortNames: ['us'],
    columns: [
      text('Schedule', '.spec.schedule'),
      flag('Suspended', '.spec.suspended'),
      text('Last Schedule', '.status.lastScheduledTime'),
      age,
    ],
    spec: cupcakeScheduleSpecSchema,
    status: cupcakeScheduleStatusSchema,
  },
  {
    resource: housekeeperUpdates,
    shortNames: [],
    columns: [
      phase,
      text('Progress', '.status.progress'),
      text('Image', '.spec.osImageURL'),
      text('Version', '.spec.kubeVersion'),
      age,
    ],
    spec: housekeeperSpecSchema,
    status: housekeeperStatusSchema,
  },
]

export function foreignDefinitions(): readonly CustomResourceDefinition[] {
  return definitions.map(foreignDefinition)
}

function foreignDefinition({
  resource,
  shortNames,
  columns,
  spec,
  status,
}: ForeignDefinition): CustomResourceDefinition {
  const [group] = resource.apiVersion.split('/')
  const schema = {
    type: 'object',
    description: `${resource.kind} of ${group}, carried out by Slipway.`,
    properties: { spec: structuralSchema(spec), status: structuralSchema(status) },
  }
  const names = shortNames.length > 0 ? { shortNames } : {}
  return customResource({ resource, names, columns, schema })
}
