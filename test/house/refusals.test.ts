import { describe, expect, test } from 'vitest'
import { directUpdateSpecSchema } from '../../src/api/direct-update.ts'
import { maintenancePolicySpecSchema } from '../../src/api/maintenance-policy.ts'
import { nodeProfileSpecSchema } from '../../src/api/node-profile.ts'
import { nodeStateSpecSchema } from '../../src/api/node-state.ts'
import { scheduledUpdateSpecSchema, updateScheduleSpecSchema } from '../../src/api/schedule.ts'
import { accepted } from '../refusals/cases.ts'
import { everyRefusal } from '../refusals/every-refusal.ts'
import { acceptedProfiles } from '../refusals/profile-cases.ts'

const schemas = {
  DirectUpdate: directUpdateSpecSchema,
  MaintenancePolicy: maintenancePolicySpecSchema,
  NodeProfile: nodeProfileSpecSchema,
  NodeState: nodeStateSpecSchema,
  ScheduledUpdate: scheduledUpdateSpecSchema,
  UpdateSchedule: updateScheduleSpecSchema,
}

describe('the schemas', () => {
  test.each(everyRefusal)('refuse $what', ({ kind, spec, says }) => {
    const { success, error } = schemas[kind].safeParse(spec)
    expect(success).toBe(false)
    if (says !== undefined) expect(JSON.stringify(error?.issues)).toContain(says)
  })

  test.each(accepted)('accept $what', ({ spec }) => {
    expect(directUpdateSpecSchema.safeParse(spec).error).toBeUndefined()
  })

  test.each(acceptedProfiles)('accept a profile with $what', ({ spec }) => {
    expect(nodeProfileSpecSchema.safeParse(spec).error).toBeUndefined()
  })
})
