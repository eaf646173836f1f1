import { testDriver } from '../driver-suite.ts'

await testDriver('profile-units.ts')
