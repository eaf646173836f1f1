import { testDriver } from '../driver-suite.ts'

await testDriver('profile-kernel-arguments.ts')
