// Whatever CUPCAKE's own definitions took is read, and becomes something our API server takes. What its documents promise is never
// refused; anything else only for one of the causes below, in each of which CUPCAKE itself had nothing that it could carry out.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { directSpecs, scheduledSpecs, scheduleSpecs } from '../../../test/samples/cupcake-manifests.ts'
import {
  type CupcakeDirectSpec,
  type CupcakeScheduleSpec,
  cupcakeDirectSpecSchema,
  cupcakeScheduledSpecSchema,
  cupcakeScheduleSpecSchema,
} from '../../api/cupcake.ts'
import { directUpdateSpecSchema } from '../../api/direct-update.ts'
import { scheduledUpdateSpecSchema, updateScheduleSpecSchema } from '../../api/schedule.ts'
import { translateDirectUpdate } from './cupcake-direct-update.ts'
import { translateScheduledUpdate } from './cupcake-scheduled-update.ts'
import { translateUpdateSchedule } from './cupcake-update-schedule.ts'
import type { Translated } from './translation.ts'

const bundle = { url: '/srv/bundle.tar', sha256: 'a'.repeat(64) }
const metadata = { creationTimestamp: '2026-01-01T00:00:00Z' }

interface Read<T> {
  safeParse(value: unknown): { readonly success: boolean; readonly error?: unknown; readonly data?: T }
}
interface Cause<T> {
  readonly says: RegExp
  /** Judged from the manifest alone. */
  readonly isSo: (spec: T) => boolean
}

const isVersion = (text: string) =>
  /^v?\d+\.\d+\.(\d+([-+][\w.+-]+)?|\*)$/.test(text.trim()) || ['latest', 'latest-patch'].includes(text.trim())
const label = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9]([-\w.]{0,61}[a-z0-9])?$/i

const workCauses: readonly Cause<Pick<CupcakeDirectSpec, 'targetVersion' | 'nodeSelector'>>[] = [
  { says: /^spec\.targetVersion /, isSo: ({ targetVersion }) => !isVersion(targetVersion) },
  {
    says: /^spec\.nodeSelector /,
    // No node can have such a label.
    isSo: ({ nodeSelector = {} }) =>
      Object.entries(nodeSelector).some(([key, value]) => !label.test(key) || (value !== '' && !label.test(value))),
  },
]

const isZone = (timeZone: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    return false
  }
}
const isClock = (text: string) => /^(\d|[01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(text.trim())
const minuteOf = (text: string) => {
  const [hours, minutes] = text.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}
/** From 24:00 to 00:00 is none, from 00:00 to 24:00 a whole day. */
const hasNoLength = (start: string, end: string) => [0, -24 * 60].includes(minuteOf(end) - minuteOf(start))
const second = String.raw`[\d*?,/-]+`
const field = String.raw`[\w*?,/-]+`
const isSchedule = (text: string) =>
  new RegExp(`^(${second} )?${field}( ${field}){4}$|^${second}( ${field}){5} [*?]$`).test(
    text.trim().split(/\s+/).join(' '),
  ) ||
  /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i.test(text.trim()) ||
  /^@every\s+(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d))+$/i.test(text.trim())

const scheduleCauses: readonly Cause<CupcakeScheduleSpec>[] = [
  {
    says: /^spec\.updatePolicy\.targetVersionPattern /,
    isSo: ({ updatePolicy }) => !isVersion(updatePolicy.targetVersionPattern),
  },
  { says: /^spec\.schedule/, isSo: ({ schedule }) => !isSchedule(schedule) },
  {
    says: /^spec\.maintenanceWindow/,
    isSo: ({ maintenanceWindow: { start = '00:00', end = '24:00', timezone = 'UTC' } = {} }) =>
      !isClock(start) || !isClock(end) || hasNoLength(start, end) || !isZone(timezone),
  },
]

function check<T>(
  specs: (isSound: boolean) => fc.Arbitrary<object>,
  theirs: Read<T>,
  ours: Read<unknown>,
  translate: (spec: unknown) => Translated<object>,
  causes: readonly Cause<T>[],
): void {
  const refusalOf = (spec: object): string | undefined => {
    expect(theirs.safeParse(spec).success).toBe(true)
    const translated = translate(spec)
    if ('refusal' in translated) return translated.refusal
    expect(ours.safeParse(translated.spec).error).toBeUndefined()
    return undefined
  }
  const runs = { numRuns: 2000 }

  it('that is sound is carried out', () => {
    const law = (spec: object) => {
      expect(refusalOf(spec)).toBeUndefined()
    }
    fc.assert(fc.property(specs(true), law), runs)
  })

  it('that is odd is refused for a known cause only', () => {
    const met = new Set<Cause<T>>()
    const law = (spec: object) => {
      const refusal = refusalOf(spec)
      if (refusal === undefined) return
      const read = theirs.safeParse(spec).data
      const cause = causes.find(({ says, isSo }) => says.test(refusal) && read !== undefined && isSo(read))
      expect(cause, refusal).toBeDefined()
      if (cause) met.add(cause)
    }
    fc.assert(fc.property(specs(false), law), runs)
    expect(met.size).toBe(causes.length)
  })
}

describe('any DirectUpdate', () => {
  const translate = (spec: unknown) => translateDirectUpdate({ spec }, bundle)
  check(directSpecs, cupcakeDirectSpecSchema, directUpdateSpecSchema, translate, workCauses)
})

describe('any ScheduledUpdate', () => {
  const translate = (spec: unknown) => translateScheduledUpdate({ spec, metadata }, bundle)
  check(scheduledSpecs, cupcakeScheduledSpecSchema, scheduledUpdateSpecSchema, translate, workCauses)
})

describe('any UpdateSchedule', () => {
  const translate = (spec: unknown) => translateUpdateSchedule({ spec })
  check(scheduleSpecs, cupcakeScheduleSpecSchema, updateScheduleSpecSchema, translate, scheduleCauses)
})
