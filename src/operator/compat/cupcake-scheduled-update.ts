// CUPCAKE's ScheduledUpdate as one of ours, and ours in the words of its status.

import {
  type CupcakeScheduledStatus,
  type CupcakeScheduledUpdate,
  cupcakeScheduledSpecSchema,
} from '../../api/cupcake.ts'
import { type ScheduledUpdate, scheduledUpdateSpecSchema } from '../../api/schedule.ts'
import { type Bundle, translateWork, workFields } from './cupcake-work.ts'
import { checked, readSpec, type Translated } from './translation.ts'

const fields = {
  at: 'spec.scheduleAt',
  ...Object.fromEntries(Object.entries(workFields).map(([ours, theirs]) => [`template.spec.${ours}`, theirs])),
}

/**
 * CUPCAKE knows no limit. Ours only keeps one that was left over from long ago from changing a cluster the moment somebody is
 * there to carry it out.
 */
const startBy = '168h'

export function translateScheduledUpdate(
  {
    spec,
    metadata,
  }: Pick<CupcakeScheduledUpdate, 'spec'> & { readonly metadata: { readonly creationTimestamp: string } },
  bundle: Bundle | undefined,
): Translated<ScheduledUpdate['spec']> {
  const read = readSpec(cupcakeScheduledSpecSchema, spec)
  if ('refusal' in read) return read
  if (bundle && 'problem' in bundle) return { refusal: bundle.problem, waits: true }
  const { targetVersion, scheduleAt, ...work } = read.value
  const { spec: template, notes } = translateWork({ ...work, version: targetVersion }, bundle)
  const { creationTimestamp: created } = metadata
  const written = instantOf(scheduleAt)
  const isPast = Date.parse(written) < Date.parse(created)
  const now = isPast ? ['scheduleAt had passed when this was made, so it starts at once'] : []
  const ours = { at: isPast ? created : written, startBy, template: { spec: template } }
  return checked(scheduledUpdateSpecSchema, ours, [...notes, ...now], fields)
}

/** A date-time may have small letters, and more digits than a clock. */
function instantOf(text: string): string {
  return text.toUpperCase().replace(/(\.\d{9})\d+/, '$1')
}

export function scheduledStatusOf(
  { status = {} }: Pick<ScheduledUpdate, 'status'>,
  notes: readonly string[],
): CupcakeScheduledStatus {
  const accepted = status.conditions?.find(({ type }) => type === 'Accepted')
  const refused = accepted?.status === 'False' ? accepted.message : undefined
  const message = [refused ?? messageOf(status), ...notes].filter((text) => text !== '').join('; ')
  return {
    phase: refused !== undefined || status.phase === 'Missed' ? 'Failed' : (status.phase ?? 'Scheduled'),
    ...(status.at !== undefined && { scheduledFor: status.at }),
    ...(status.executedAt !== undefined && { executedAt: status.executedAt }),
    ...(status.update !== undefined && { directUpdateName: status.update }),
    message,
  }
}

function messageOf({ phase, update, at }: NonNullable<ScheduledUpdate['status']>): string {
  switch (phase) {
    case 'Missed':
      return 'nobody could start it in time; set spec.scheduleAt anew'
    case 'Executing':
    case 'Completed':
    case 'Failed':
    case 'Cancelled':
      return `DirectUpdate ${update} of slipway.dev says how it goes`
    case 'Scheduled':
      return `waits for ${at}`
    case undefined:
      return ''
  }
}
