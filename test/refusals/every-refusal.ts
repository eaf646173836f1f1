// What must be refused, wherever it is looked at: by our schemas and by the API server.

import { refusedBackups } from './backup-cases.ts'
import { type RefusalCase, refused } from './cases.ts'
import { refusedGates } from './gate-cases.ts'
import { refusedProfiles } from './profile-cases.ts'
import { refusedRegistries } from './registry-cases.ts'
import { refusedTelling } from './telling-cases.ts'
import { refusedTimes } from './time-cases.ts'

export const everyRefusal: readonly RefusalCase[] = [
  ...refused,
  ...refusedProfiles,
  ...refusedGates,
  ...refusedTimes,
  ...refusedTelling,
  ...refusedBackups,
  ...refusedRegistries,
]
