import { directUpdates } from '../api/direct-update.ts'
import type { ResourceType } from '../api/kube.ts'
import { maintenancePolicies } from '../api/maintenance-policy.ts'
import { nodeProfiles } from '../api/node-profile.ts'
import { nodeStates } from '../api/node-state.ts'
import { scheduledUpdates, updateSchedules } from '../api/schedule.ts'

/** Every kind of Slipway's own: what makes others first. */
export const ourKinds: readonly ResourceType[] = [
  updateSchedules,
  scheduledUpdates,
  directUpdates,
  nodeProfiles,
  nodeStates,
  maintenancePolicies,
]
