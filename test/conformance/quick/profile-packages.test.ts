import { testDriver } from '../driver-suite.ts'

await testDriver('profile-packages.ts')
