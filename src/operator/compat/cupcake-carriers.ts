// What each of CUPCAKE's kinds is carried out by, and in which words it is told of.

import {
  type CupcakeDirectStatus,
  type CupcakeDirectUpdate,
  type CupcakeScheduledStatus,
  type CupcakeScheduledUpdate,
  type CupcakeUpdateSchedule,
  cupcakeDirectUpdates,
  cupcakePaused,
  cupcakeScheduledUpdates,
  cupcakeUpdateSchedules,
  kopfFinalizer,
} from '../../api/cupcake.ts'
import { type DirectUpdate, type DirectUpdateSpec, directUpdates, lastingFields } from '../../api/direct-update.ts'
import { type ScheduledUpdate, scheduledUpdates, type UpdateSchedule, updateSchedules } from '../../api/schedule.ts'
import { selects } from '../../core/label-selector.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { OperatorPorts } from '../ports.ts'
import type { BundleMaps } from './bundle-map.ts'
import { directStatusOf } from './cupcake-direct-status.ts'
import { bundleMapOf, cupcakeDirectFields, translateDirectUpdate } from './cupcake-direct-update.ts'
import { scheduledStatusOf, translateScheduledUpdate } from './cupcake-scheduled-update.ts'
import { scheduleStatusOf, translateUpdateSchedule } from './cupcake-update-schedule.ts'
import { ForeignCarrier } from './foreign-carrier.ts'
import type { ForeignWatch } from './foreign-watch.ts'

interface CarrierParts {
  readonly ports: OperatorPorts
  readonly cluster: Cluster
  readonly events: EventRecorder
}

export function directCarrier(
  { ports, cluster, events }: CarrierParts,
  { store }: ForeignWatch<CupcakeDirectUpdate>,
  bundles: BundleMaps,
): ForeignCarrier<CupcakeDirectUpdate, DirectUpdate, DirectUpdateSpec> {
  const over = new Set<CupcakeDirectStatus['phase']>(['Succeeded', 'Failed', 'Cancelled'])
  const { apiVersion, kind } = directUpdates
  return new ForeignCarrier<CupcakeDirectUpdate, DirectUpdate, DirectUpdateSpec>({
    ...{ ports, events, theirType: cupcakeDirectUpdates, theirs: store },
    ...{ ourType: directUpdates, ours: cluster.updates, orphanFinalizers: [kopfFinalizer] },
    fields: cupcakeDirectFields,
    translate: async (theirs, signal) => {
      const map = bundleMapOf(theirs)
      return translateDirectUpdate(theirs, map === undefined ? undefined : await bundles.read(map, signal))
    },
    unsaved: (metadata, spec) => ({ apiVersion, kind, metadata, spec }),
    fixed: ({ status }) => (isRunning(status?.phase) ? lastingFields : []),
    isOver: ({ status }) => over.has(status?.phase),
    paused: ({ metadata }) => metadata.annotations?.[cupcakePaused] === 'true',
    statusOf: (theirs, ours, notes) => {
      const selected = [...cluster.nodes.values()].filter(({ metadata }) =>
        selects(ours.spec.nodeSelector, metadata.labels),
      )
      return directStatusOf({
        ...{ ours, before: theirs.status, notes, now: ports.clock.now() },
        nodes: selected.map((node) => ({ node, state: cluster.states.get(node.metadata.name) })),
      })
    },
    withoutOurs: ({ status }, why) => {
      if (why !== 'gone') return { ...status, phase: why.waits ? 'RequiresAttention' : 'Failed', message: why.refusal }
      if (over.has(status?.phase)) return undefined
      return { ...status, phase: 'Cancelled', message: 'its DirectUpdate of slipway.dev was deleted' }
    },
    told: (before, after) => turnOf(before, after, ['Failed', 'RequiresAttention']),
  })
}

export function scheduledCarrier(
  { ports, cluster, events }: CarrierParts,
  { store }: ForeignWatch<CupcakeScheduledUpdate>,
  bundles: BundleMaps,
): ForeignCarrier<CupcakeScheduledUpdate, ScheduledUpdate, ScheduledUpdate['spec']> {
  const { apiVersion, kind } = scheduledUpdates
  const isOver = (phase: CupcakeScheduledStatus['phase']) => phase !== undefined && phase !== 'Scheduled'
  return new ForeignCarrier<CupcakeScheduledUpdate, ScheduledUpdate, ScheduledUpdate['spec']>({
    ...{ ports, events, theirType: cupcakeScheduledUpdates, theirs: store },
    ...{ ourType: scheduledUpdates, ours: cluster.scheduledUpdates, orphanFinalizers: [kopfFinalizer] },
    fields: ['at', 'template'],
    translate: async (theirs, signal) => {
      const map = bundleMapOf(theirs)
      return translateScheduledUpdate(theirs, map === undefined ? undefined : await bundles.read(map, signal))
    },
    unsaved: (metadata, spec) => ({ apiVersion, kind, metadata, spec }),
    fixed: ({ status }) => (status?.update === undefined ? [] : ['at', 'template']),
    isOver: ({ status }) => isOver(status?.phase),
    statusOf: (_theirs, ours, notes) => scheduledStatusOf(ours, notes),
    withoutOurs: ({ status }, why) => {
      if (why !== 'gone') return { ...status, phase: why.waits ? 'Scheduled' : 'Failed', message: why.refusal }
      const over = status?.phase === 'Completed' || status?.phase === 'Failed' || status?.phase === 'Cancelled'
      if (over) return undefined
      return { ...status, phase: 'Cancelled', message: 'its ScheduledUpdate of slipway.dev was deleted' }
    },
    told: (before, after) => turnOf(before, after, ['Failed']),
  })
}

export function scheduleCarrier(
  { ports, cluster, events }: CarrierParts,
  { store }: ForeignWatch<CupcakeUpdateSchedule>,
): ForeignCarrier<CupcakeUpdateSchedule, UpdateSchedule, UpdateSchedule['spec']> {
  const { apiVersion, kind } = updateSchedules
  return new ForeignCarrier<CupcakeUpdateSchedule, UpdateSchedule, UpdateSchedule['spec']>({
    ...{ ports, events, theirType: cupcakeUpdateSchedules, theirs: store },
    ...{ ourType: updateSchedules, ours: cluster.updateSchedules, orphanFinalizers: [kopfFinalizer] },
    fields: ['cron', 'timeZone', 'suspended', 'template'],
    translate: async (theirs) => translateUpdateSchedule(theirs),
    unsaved: (metadata, spec) => ({ apiVersion, kind, metadata, spec }),
    fixed: () => [],
    isOver: () => false,
    statusOf: (_theirs, ours) => scheduleStatusOf(ours),
    wordless: true,
    withoutOurs: () => undefined,
    told: () => undefined,
  })
}

function isRunning(phase: NonNullable<DirectUpdate['status']>['phase']): boolean {
  return phase === 'InProgress' || phase === 'RequiresAttention' || phase === 'Paused'
}

interface Phased {
  readonly phase?: string
  readonly message?: string
}

/** A change of phase, worth an Event. */
function turnOf(before: Phased | undefined, after: Phased, warnings: readonly string[]) {
  const { phase } = after
  if (phase === undefined || phase === before?.phase) return undefined
  const type = warnings.includes(phase) ? ('Warning' as const) : ('Normal' as const)
  return { type, reason: phase, note: after.message ?? phase }
}
