import { describe, expect, test } from 'vitest'
import { directUpdateSpecSchema } from '../../src/api/direct-update.ts'
import { maintenancePolicySpecSchema } from '../../src/api/maintenance-policy.ts'
import { nodeProfileSpecSchema } from '../../src/api/node-profile.ts'
import { nodeStateSpecSchema } from '../../src/api/node-state.ts'
import { accepted, refused } from '../refusals/cases.ts'
import { refusedGates } from '../refusals/gate-cases.ts'
import { acceptedProfiles, refusedProfiles } from '../refusals/profile-cases.ts'

const schemas = {
  DirectUpdate: directUpdateSpecSchema,
  MaintenancePolicy: maintenancePolicySpecSchema,
  NodeProfile: nodeProfileSpecSchema,
  NodeState: nodeStateSpecSchema,
}

describe('the schemas', () => {
  test.each([...refused, ...refusedProfiles, ...refusedGates])('refuse $what', ({ kind, spec, says }) => {
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
